"""The sections of a report on predicted numbers: their errors, and some predictions explained."""

from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Ints
from rebelboost.base.markup import (
    Html,
    escape,
    join_html,
    name,
    note,
    paragraph,
    section,
    table,
    tag,
)
from rebelboost.base.text import number, percent
from rebelboost.evaluation.intervals import Estimate
from rebelboost.evaluation.numbers import NumberEvaluation
from rebelboost.explain.cards import decision_card
from rebelboost.report.charts import Chart, across, ruler, upward
from rebelboost.report.subject import Subject

N_EACH = 2
"""Number of predictions explained of each kind."""
N_TERMS = 6
"""Maximum number of rules and of comparisons listed for a prediction."""
MOST_DOTS = 600
"""Maximum number of rows in a chart; with more, evenly spaced ones are drawn."""
KINDS = ("Most accurate predictions", "Predictions most above the target", "Most below the target")


class Predicted(NamedTuple):
    """Predictions of rows whose target is known."""

    rows: Ints
    """(n,) rows in the table of the report."""
    true: BySample
    predicted: BySample
    is_left_out: bool
    """Whether the predictions are by fits that did not see the row."""


def number_lead(subject: Subject) -> Html:
    """Return the most important figure in a sentence or two."""
    found = subject.evaluation
    if not isinstance(found, NumberEvaluation):
        return paragraph(
            "The error on new cases is unknown: no samples were held out from training, and no test "
            "table was given.",
            class_="lead",
        )
    error, low, high = map(number, found.error)
    unclear = found.is_unclear
    return paragraph(
        "Predictions of new cases like these are off by ",
        tag("strong", error),
        f" on average (95\u00a0% interval: {low}–{high}). Always predicting "
        f"{number(found.constant)}, the mean, would be off by {number(found.constant_error)}.",
        " The difference may be chance." if unclear else "",
        class_="lead",
    )


def number_results(subject: Subject) -> Html | None:
    """Return the section on errors, with a baseline and a chart of the predictions."""
    found = subject.evaluation
    if not isinstance(found, NumberEvaluation):
        return None
    error, low, high = map(number, found.error)
    most = max(found.error.high, found.constant_error) or 1.0
    scaled = Estimate(*(part / most for part in found.error))
    baseline = f"always {number(found.constant)}, the mean"
    rows: list[list[Any]] = [
        [
            "mean absolute error",
            error,
            f"{low} – {high}",
            ruler(scaled, [(found.constant_error / most, baseline)]),
        ],
        [tag("span", baseline, class_="quiet than"), number(found.constant_error), "", ""],
        ["root mean squared error", number(found.squared), "", ""],
        ["R², the explained share of the variance", f"{found.explained:.3f}", "", ""],
    ]
    if found.coverage is not None:
        rows.append(["targets inside their 90 % interval", percent(found.coverage), "", ""])
    return section(
        "How good is the model?",
        table(["", "", "95 % interval", ""], rows, class_="results"),
        _scatter(subject),
        paragraph(tag("strong", "Source of these figures. "), _source(found)),
    )


def _source(found: NumberEvaluation) -> Html:
    if not found.is_left_out:
        return join_html(
            [
                f"{found.n:,} samples: ",
                name(found.source),
                ". The figures are valid only if the model was trained and selected without them.",
            ]
        )
    return escape(
        f"Cross-validation on {found.n:,} training samples: each is predicted only by fits that did not "
        "see it."
    )


def predictions_of(subject: Subject) -> Predicted:
    """Predict the rows; those of the training table, if possible, by fits that did not see them."""
    fits = getattr(subject.clf, "cross_fit_", None)
    scores, rows = getattr(fits, "left_out", None), getattr(fits, "rows", None)
    true = np.asarray(subject.y, dtype=np.float64)
    if subject.is_of_training and scores is not None and rows is not None:
        return Predicted(rows, true[rows], np.ravel(scores), is_left_out=True)
    return Predicted(np.arange(len(true)), true, subject.clf.predict(subject.X), is_left_out=False)


def _scatter(subject: Subject) -> Html | None:
    """Return a chart of predictions and targets."""
    found = predictions_of(subject)
    if subject.is_of_training and not found.is_left_out:
        return None  # of rows that the model has seen, it would look too good
    shown = np.unique(np.linspace(0, len(found.rows) - 1, MOST_DOTS).round().astype(np.int64))
    true, predicted = found.true[shown], found.predicted[shown]
    low, high = (float(edge) for edge in np.quantile([true, predicted], [0, 1]))
    chart = Chart(
        across(low, high),
        upward(low, high),
        "Predictions and true numbers of rows that the fits have not seen. On the line, they are equal.",
        "Predicted by true numbers",
    )
    chart.stroke((low, low), (high, high), "line two dashed")
    for x, y in zip(true.tolist(), predicted.tolist(), strict=True):
        chart.point(x, y, "one", 2, f"true {number(x, 4)}, predicted {number(y, 4)}")
    return tag(
        "div", chart.draw("true", "predicted", lambda value: number(value, 4)), class_="figures"
    )


def number_cases(subject: Subject) -> Html | None:
    """Return the section on some predictions and their reasons."""
    if not subject.shows_rows or len(subject.y) < len(KINDS) * N_EACH:
        return None
    found = predictions_of(subject)
    above = found.predicted - found.true
    order = np.argsort(above, kind="stable")
    accurate = np.argsort(np.abs(above), kind="stable")[:N_EACH]
    chosen = [*accurate, *order[::-1][:N_EACH], *order[:N_EACH]]
    whys = subject.clf.explain(subject.rows(found.rows[chosen]), top=N_TERMS)
    cards = [
        decision_card(why, _heading(subject, found, int(i)))
        for i, why in zip(chosen, whys, strict=True)
    ]
    parts: list[Html] = []
    for k, kind in enumerate(KINDS):
        own = cards[k * N_EACH : (k + 1) * N_EACH]
        parts += [tag("h3", kind), tag("div", *own, class_="cards")]
    return section(
        "Six predictions explained",
        note(
            "The reasons are those of the final model, which was trained on these rows. The headings give "
            "the predictions of fits that did not see them."
        )
        if found.is_left_out
        else None,
        *parts,
        lead="Bars to the right raise the prediction; bars to the left lower it. The numbers add up to the "
        "prediction.",
    )


def _heading(subject: Subject, found: Predicted, i: int) -> list[Any]:
    return [
        "Row " if subject.is_of_training else "Test row ",
        name(subject.row_name(int(found.rows[i]))),
        f": predicted {number(found.predicted[i], 4)}, true {number(found.true[i], 4)}",
    ]
