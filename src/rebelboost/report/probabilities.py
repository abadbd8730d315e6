"""Whether probabilities hold: promised beside kept."""

import math

from rebelboost.base.text import percent, whole_percent
from rebelboost.evaluation.calibration import Calibration
from rebelboost.report.charts import Chart, across, upward
from rebelboost.report.markup import Html, more, paragraph, section, table
from rebelboost.report.subject import Subject


def probabilities(subject: Subject) -> Html | None:
    """Promised beside kept."""
    found = subject.evaluation
    if found is None or found.calibration is None:
        return None
    bins = found.calibration.bins
    lowest = min(min(each.confidence, each.right.low) for each in bins)
    least = 0.1 * math.floor(10 * lowest)
    chart = Chart(
        across(least, 1),
        upward(least, 1),
        "Dots on the line: probabilities that hold. Below it: too sure. Above it: too modest.",
        "Share of right decisions by probability",
    )
    chart.stroke((least, least), (1, 1), "plain")
    for each in bins:
        chart.stroke(
            (each.confidence, each.right.low), (each.confidence, each.right.high), "whisker"
        )
        hint = f"{each.n:,} samples: promised {percent(each.confidence)}, kept {percent(each.right.value)}"
        chart.point(each.confidence, each.right.value, "one", hint=hint)
    drawn = chart.draw(
        "probability of the likeliest class",
        "share in which it was right",
        whole_percent,
    )
    rows = [
        [
            f"{percent(each.low)} – {percent(each.high)}",
            f"{each.n:,}",
            percent(each.confidence),
            percent(each.right.value),
            f"{percent(each.right.low)} – {percent(each.right.high)}",
        ]
        for each in bins
    ]
    head = ["probability", "samples", "promised", "kept", "95 % interval"]
    return section(
        "Whether its probabilities hold",
        paragraph(_honesty(subject, found.calibration)),
        drawn,
        more("In numbers", table(head, rows)),
        lead=f"When the model says 80 %, is it right in 80 of 100 cases? On average it is "
        f"{percent(found.calibration.error)} off (expected calibration error).",
    )


def _honesty(subject: Subject, found: Calibration) -> str:
    n = sum(each.n for each in found.bins)
    surplus = sum(each.n * (each.confidence - each.right.value) for each in found.bins) / n
    outside = [b for b in found.bins if not b.right.low <= b.confidence <= b.right.high]
    if sum(each.n for each in outside) < 0.25 * n:
        return "What is off is hardly more than chance would make it."
    if abs(surplus) < 0.5 * found.error:
        return "In some places it is too sure, in others too modest."
    told = "On the whole it is " + ("too sure of itself." if surplus > 0 else "too modest.")
    if surplus > 0 and subject.clf.cross_fit_ is None:
        told += " Fitted with cross_fit=5, its probabilities would be taken from left-out samples."
    return told
