"""Write a report on a model as one self-contained HTML file.

Sections without data are omitted, such as calibration if the model has no probabilities.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from rebelboost.base.markup import Html, style_of_cards, tag
from rebelboost.base.writing import write_text_whole
from rebelboost.evaluation.regression import RegressionEvaluation
from rebelboost.evaluation.result import Evaluation
from rebelboost.exceptions import EvaluationError
from rebelboost.report.data import data, facts
from rebelboost.report.effects import effects
from rebelboost.report.live import live
from rebelboost.report.mistakes import mistakes
from rebelboost.report.predictions import predictions
from rebelboost.report.probabilities import probabilities
from rebelboost.report.ranking import by_group, ranking
from rebelboost.report.reasons import decisions, learned
from rebelboost.report.reproduce import reproduction
from rebelboost.report.results import lead, results
from rebelboost.report.subject import Subject
from rebelboost.report.training import choice, training

Sections = tuple[Callable[[Subject], Html | None], ...]
OF_CLASSES: Sections = (
    results,
    mistakes,
    by_group,
    ranking,
    probabilities,
    effects,
    learned,
    decisions,
    data,
    choice,
    training,
    reproduction,
)
OF_REGRESSION: Sections = (
    results,
    effects,
    learned,
    predictions,
    data,
    choice,
    training,
    reproduction,
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Content security policy: the browser loads nothing from the network, and runs no script but the model's."""
FIRST = 1
"""Number of sections before the one with the model."""


def write_report(  # noqa: PLR0913  (options of the report)
    clf: Any,
    X: Any,
    y: ArrayLike,
    path: str | Path,
    *,
    evaluation: Evaluation | RegressionEvaluation | None,
    title: str = "Model report",
    data_summary: Mapping[str, Any] | None = None,
    command: str | None = None,
    row_names: Sequence[Any] | None = None,
    rows: bool = True,
    names: bool = True,
    static: bool = False,
    date: dt.date | None = None,
) -> Path:
    """Write a report on a fitted model as one self-contained HTML file.

    Parameters
    ----------
    clf : RebelClassifier or RebelRegressor
        Fitted model.
    X, y : table of shape (N, d), labels or numbers of shape (N,)
        Samples of the `evaluation`: the test samples for `rebelboost.evaluation.evaluate`; the
        training samples for `left_out`, for figures from a file (`Evaluation.from_dict`) and for
        None. The report explains some decisions on these samples.
    path : str or Path
        File to write. An existing file is replaced.
    evaluation : Evaluation, RegressionEvaluation or None
        Result of `rebelboost.evaluation.evaluate` or `left_out`. If None, the report says that the
        accuracy on new cases is unknown.
    title : str
        Title of the page.
    data_summary : mapping, optional
        Information on the data file, with any of the keys "source", "form", "target", "ignored"
        (column → reason), "notes" and "n_unlabelled".
    command : str, optional
        Command that trained the model.
    row_names : sequence of N, optional
        Names of the rows of `X`. Default: the index of a pandas table, or row numbers from 0.
    rows : bool, default=True
        Whether rows are shown: explained decisions, and influential and similar training rows with
        their values. Without them, the report has figures of all rows together only.
    names : bool, default=True
        Whether rows are called by their names. Otherwise they are called by their numbers.
    static : bool, default=False
        Whether the model itself is left out. Otherwise readers can type a case, move prices, and see the
        decision with its reasons. The page then runs one script, which loads and sends nothing.
    date : date, optional
        Date in the footer. Default: today.
    """
    page = render(
        Subject(
            clf if names or not is_classifier(clf) else clf.with_row_labels({}),
            X,
            _labels(clf, X, y),
            evaluation,
            dict(data_summary or {}),
            command,
            row_names if names else range(len(X)),
            rows,
        ),
        title,
        date or dt.datetime.now(tz=dt.UTC).date(),
        static=static,
    )
    path = Path(path)
    write_text_whole(path, page)
    return path


def _labels(clf: Any, X: Any, y: ArrayLike) -> np.ndarray[Any, Any]:
    check_is_fitted(clf)
    if not is_classifier(clf) and not is_regressor(clf):
        raise EvaluationError(
            f"{type(clf).__name__} is neither a classifier nor a regressor: give a fitted "
            "RebelClassifier or RebelRegressor"
        )
    labels: np.ndarray[Any, Any] = column_or_1d(y)
    if len(X) != len(labels):
        raise EvaluationError(f"X has {len(X)} samples, but y has {len(labels)} labels")
    return labels


def render(subject: Subject, title: str, date: dt.date, *, static: bool = True) -> str:
    """Return the HTML of the page."""
    sections = OF_REGRESSION if subject.predicts_numbers else OF_CLASSES
    made = [each for make in sections if (each := make(subject)) is not None]
    model = None if static else live(subject)
    if model is not None:
        made.insert(FIRST, model.section)
    body = tag(
        "main",
        tag(
            "header",
            tag("h1", title),
            facts(subject),
            lead(subject),
            tag("nav", *map(_link, made), aria_label="contents"),
        ),
        *made,
        tag(
            "footer",
            f"Written by rebelboost on {date:%-d %B %Y}. This file loads nothing from the network.",
        ),
    )
    own = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    style = Html(f"{style_of_cards()}{own}{model.style if model else ''}")
    script = tag("script", Html(model.script), type="module") if model and model.script else None
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag(
            "meta",
            http_equiv="Content-Security-Policy",
            content=POLICY + (model.policy if model else ""),
        ),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", style),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body, script), lang='en')}\n"


def _link(made: Html) -> Html:
    """Return a link to a section, with its heading as text."""
    anchor = made.split('id="', 1)[1].split('"', 1)[0]
    heading = made.split("<h2>", 1)[1].split("</h2>", 1)[0]
    return tag("a", Html(heading), href=f"#{anchor}")
