"""The section on calibration: stated probabilities and observed shares of correct decisions."""

import math

from rebelboost.base.text import percent, whole_percent
from rebelboost.evaluation.calibration import Calibration
from rebelboost.report.charts import Chart, across, upward
from rebelboost.report.markup import Html, more, paragraph, section, table
from rebelboost.report.subject import Subject


def probabilities(subject: Subject) -> Html | None:
    """Return the section on calibration."""
    found = subject.evaluation
    if found is None or found.calibration is None:
        return None
    bins = found.calibration.bins
    lowest = min(min(each.confidence, each.right.low) for each in bins)
    least = 0.1 * math.floor(10 * lowest)
    chart = Chart(
        across(least, 1),
        upward(least, 1),
        "Each dot is a group of samples; its vertical line is the 95 % interval. On the diagonal, the "
        "probabilities are reliable. Below it, the model is overconfident; above it, underconfident.",
        "Share of correct predictions by probability",
    )
    chart.stroke((least, least), (1, 1), "plain")
    for each in bins:
        chart.stroke(
            (each.confidence, each.right.low), (each.confidence, each.right.high), "whisker"
        )
        hint = f"{each.n:,} samples: {percent(each.confidence)} stated, {percent(each.right.value)} correct"
        chart.point(each.confidence, each.right.value, "one", hint=hint)
    drawn = chart.draw(
        "probability of the most probable class",
        "share correct",
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
    head = ["probability", "samples", "mean probability", "share correct", "95 % interval"]
    points = percent(found.calibration.error).removesuffix(" %")
    return section(
        "Are the probabilities reliable?",
        paragraph(_assessment(subject, found.calibration)),
        drawn,
        more("Table", table(head, rows)),
        lead="Probabilities are reliable (calibrated) if they match observed frequencies: a class with a "
        "probability of 80 % should be the true class in 80 of 100 cases. Here, probabilities and "
        f"frequencies differ by {points} percentage points on average (expected calibration error).",
    )


def _assessment(subject: Subject, found: Calibration) -> str:
    n = sum(each.n for each in found.bins)
    surplus = sum(each.n * (each.confidence - each.right.value) for each in found.bins) / n
    outside = [b for b in found.bins if not b.right.low <= b.confidence <= b.right.high]
    if sum(each.n for each in outside) < 0.25 * n:
        return "The differences are within the range expected by chance."
    if abs(surplus) < 0.5 * found.error:
        return "The model is overconfident in some ranges and underconfident in others."
    text = f"Overall, the model is {'overconfident' if surplus > 0 else 'underconfident'}."
    if surplus > 0 and subject.clf.cross_fit_ is None:
        text += " With cross_fit=5, probabilities would be calibrated on held-out samples."
    return text
