"""The section on calibration: stated probabilities and observed frequencies."""

import math

from rebelboost.base.markup import Html, join_html, more, paragraph, quoted, section, table
from rebelboost.base.names import printed
from rebelboost.base.text import percent, whole_percent
from rebelboost.evaluation.calibration import Calibration
from rebelboost.report.charts import Chart, across, upward
from rebelboost.report.subject import Subject


def probabilities(subject: Subject) -> Html | None:
    """Return the section on calibration."""
    found = subject.decisions
    if found is None or found.calibration is None:
        return None
    kept = found.calibration
    points = percent(kept.error).removesuffix(" %")
    told = (
        f"Here, probabilities and frequencies differ by {points} percentage points on average (expected "
        "calibration error)."
    )
    return section(
        "Are the probabilities reliable?",
        paragraph(_assessment(subject, kept)),
        _chart(kept),
        more("Table", _table(kept)),
        lead=join_html([*_meaning(kept), " ", told]),
    )


def _meaning(kept: Calibration) -> list[str | Html]:
    meaning = "Probabilities are reliable (calibrated) if they match observed frequencies: "
    if kept.of_class is None:
        rest = "a class with a probability of 80 % should be the true class in 80 of 100 cases."
        return [meaning, rest]
    return [
        meaning,
        "of 100 cases with a probability of 80 % for ",
        quoted(printed(kept.of_class)),
        ", 80 should be ",
        quoted(printed(kept.of_class)),
        ".",
    ]


def _chart(kept: Calibration) -> Html:
    least = 0.0
    if kept.of_class is None:
        lowest = min(min(each.confidence, each.right.low) for each in kept.bins)
        least = 0.1 * math.floor(10 * lowest)
    told = (
        "Each dot is a group of cases; its vertical line is the 95 % interval. On the diagonal, the "
        "probabilities are reliable. "
    )
    told += (
        "Below it, the model is overconfident; above it, underconfident."
        if kept.of_class is None
        else "Below it, the probability is too high; above it, too low."
    )
    if kept.histogram:
        told += " Grey bars: number of cases by probability."
    chart = Chart(
        across(least, 1), upward(least, 1), told, "Observed frequency by stated probability"
    )
    edges = [i / len(kept.histogram) for i in range(len(kept.histogram) + 1)]
    chart.bars(edges, kept.histogram, [f"{n:,} cases" for n in kept.histogram])
    chart.stroke((least, least), (1, 1), "plain")
    for each in kept.bins:
        at = each.confidence
        chart.stroke((at, each.right.low), (at, each.right.high), "whisker")
        happened = percent(each.right.value)
        hint = f"{each.n:,} cases: {percent(at)} stated, {happened} observed"
        chart.point(at, each.right.value, "one", hint=hint)
    if kept.of_class is None:
        return chart.draw("probability of the most probable class", "share correct", whole_percent)
    name = printed(kept.of_class)
    return chart.draw(
        f"stated probability of “{_short(name)}”", f"share of “{_short(name)}”", whole_percent
    )


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


def _table(kept: Calibration) -> Html:
    rows = [
        [
            f"{percent(each.low)} – {percent(each.high)}",
            f"{each.n:,}",
            percent(each.confidence),
            percent(each.right.value),
            f"{percent(each.right.low)} – {percent(each.right.high)}",
        ]
        for each in kept.bins
    ]
    observed = "share correct" if kept.of_class is None else "observed share"
    return table(["probability", "cases", "mean probability", observed, "95 % interval"], rows)


def _assessment(subject: Subject, kept: Calibration) -> str:
    n = sum(each.n for each in kept.bins)
    surplus = sum(each.n * (each.confidence - each.right.value) for each in kept.bins) / n
    outside = [b for b in kept.bins if not b.right.low <= b.confidence <= b.right.high]
    if sum(each.n for each in outside) < 0.25 * n:
        return "The differences are within the range expected by chance."
    if kept.of_class is not None:
        return _of_two(kept, surplus)
    if abs(surplus) < 0.5 * kept.error:
        return "The model is overconfident in some ranges and underconfident in others."
    text = f"Overall, the model is {'overconfident' if surplus > 0 else 'underconfident'}."
    return text + (_remedy(subject) if surplus > 0 else "")


def _of_two(kept: Calibration, surplus: float) -> str:
    """Assess the probability of one of two classes."""
    if abs(surplus) < 0.5 * kept.error:
        return "The probabilities are too high in some ranges and too low in others."
    return f"Overall, the probabilities of this class are too {'high' if surplus > 0 else 'low'}."


def _remedy(subject: Subject) -> str:
    if subject.clf.cross_fit_ is not None:
        return ""
    return " With cross_fit=5, probabilities would be calibrated on held-out samples."
