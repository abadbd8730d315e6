"""Predicted numbers beside the true ones, and the section on some predictions and their reasons."""

from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Ints
from rebelboost.base.markup import Html, name, note, section, tag
from rebelboost.base.text import number
from rebelboost.explain.documents import decision_card
from rebelboost.report.charts import Chart, across, upward
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


def predictions_of(subject: Subject) -> Predicted:
    """Predict the rows; those of the training table, if possible, by fits that did not see them."""
    fits = getattr(subject.clf, "cross_fit_", None)
    scores, rows = getattr(fits, "left_out", None), getattr(fits, "rows", None)
    true = np.asarray(subject.y, dtype=np.float64)
    if subject.is_of_training and scores is not None and rows is not None:
        return Predicted(rows, true[rows], np.ravel(scores), is_left_out=True)
    return Predicted(np.arange(len(true)), true, subject.clf.predict(subject.X), is_left_out=False)


def scatter(subject: Subject) -> Html | None:
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


def predictions(subject: Subject) -> Html | None:
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
