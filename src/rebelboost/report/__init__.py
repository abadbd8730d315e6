"""A report on a model: one self-contained HTML file, for people who have to trust its decisions.

Sections without data are left out, such as calibration where there are no probabilities.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from rebelboost.evaluation.result import Evaluation
from rebelboost.exceptions import EvaluationError
from rebelboost.report.data import data, facts
from rebelboost.report.markup import Html, tag
from rebelboost.report.mistakes import mistakes
from rebelboost.report.probabilities import probabilities
from rebelboost.report.reasons import decisions, learned
from rebelboost.report.reproduce import reproduction
from rebelboost.report.results import lead, results
from rebelboost.report.subject import Subject
from rebelboost.report.training import choice, guarantee, training

SECTIONS: tuple[Callable[[Subject], Html | None], ...] = (
    results,
    mistakes,
    probabilities,
    learned,
    decisions,
    data,
    choice,
    training,
    guarantee,
    reproduction,
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Tells the browser to load nothing from anywhere, and to run no script."""


def write_report(  # noqa: PLR0913  (what a report may tell of)
    clf: Any,
    X: Any,
    y: ArrayLike,
    path: str | Path,
    *,
    evaluation: Evaluation | None,
    title: str = "A model and its reasons",
    data_summary: Mapping[str, Any] | None = None,
    command: str | None = None,
    row_names: Sequence[Any] | None = None,
    date: dt.date | None = None,
) -> Path:
    """Write one self-contained HTML file about a fitted classifier.

    Parameters
    ----------
    clf : RebelClassifier
    X, y : table of shape (N, d), labels of shape (N,)
        The samples that `evaluation` is of: for `rebelboost.evaluation.left_out` those of the fit,
        for `evaluate` those of the test; for stored figures (`Evaluation.from_dict`) and without any
        those of the fit. Decisions on them are explained.
    path : str or Path
        Where to write; what is there is replaced.
    evaluation : Evaluation or None
        From `rebelboost.evaluation.evaluate`. None: the report says that nothing is known of new cases.
    title : str
    data_summary : mapping, optional
        What was understood of a file; of these keys, those that there are: "source", "form",
        "target", "ignored" (column → why), "notes", "n_unlabelled".
    command : str, optional
        That made the model.
    row_names : sequence of N, optional
        What to call the rows of `X`; else their index is used (pandas), or their numbers from 0.
    date : date, optional
        Today by default.
    """
    told = render(
        Subject(
            clf, X, _labels(clf, X, y), evaluation, dict(data_summary or {}), command, row_names
        ),
        title,
        date or dt.datetime.now(tz=dt.UTC).date(),
    )
    path = Path(path)
    path.write_text(told, encoding="utf-8", newline="\n")
    return path


def _labels(clf: Any, X: Any, y: ArrayLike) -> np.ndarray[Any, Any]:
    check_is_fitted(clf)
    if not is_classifier(clf):
        raise EvaluationError(
            f"{type(clf).__name__} decides on no classes: reports are on classifiers"
        )
    labels: np.ndarray[Any, Any] = column_or_1d(y)
    if len(X) != len(labels):
        raise EvaluationError(f"X has {len(X)} samples, but y has {len(labels)} labels")
    return labels


def render(subject: Subject, title: str, date: dt.date) -> str:
    """The page as text."""
    made = [each for make in SECTIONS if (each := make(subject)) is not None]
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
    style = Html(Path(__file__).with_name("style.css").read_text(encoding="utf-8"))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", style),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n"


def _link(made: Html) -> Html:
    """To a section, by its heading."""
    anchor = made.split('id="', 1)[1].split('"', 1)[0]
    heading = made.split("<h2>", 1)[1].split("</h2>", 1)[0]
    return tag("a", Html(heading), href=f"#{anchor}")
