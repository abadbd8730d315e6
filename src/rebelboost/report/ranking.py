"""The sections on two classes (ROC, probabilities by class, lift, decision curve) and on other prices."""

import numpy as np

from rebelboost.base.findings import as_html
from rebelboost.base.markup import Html, join_html, paragraph, quoted, section, tag
from rebelboost.base.names import printed
from rebelboost.base.text import amount, number, percent, whole_percent
from rebelboost.evaluation.curves import Band, BinaryCurves, CostCurve
from rebelboost.report.charts import Axis, Chart, across, upward
from rebelboost.report.subject import Subject

WIDEST = 25.0
"""Highest value of a lift that is drawn."""


def ranking(subject: Subject) -> Html | None:
    """Return the section on how well the probability separates two classes."""
    found = subject.decisions
    curves = None if found is None else found.curves()
    if found is None or found.binary is None or curves is None:
        return None
    area, low, high = found.binary.auc
    told = (
        f" has a higher probability than one of the other class in {percent(area)} of such pairs: the area "
        f"under the ROC curve (AUC) is {area:.3f}, 95 % interval {low:.3f} to {high:.3f}. Bands are 95 % "
        "intervals of each point."
    )
    return section(
        "How well are the two classes told apart?",
        tag(
            "div",
            _roc(curves),
            _by_class(curves),
            _benefit(curves),
            _lift(curves),
            class_="figures",
        ),
        lead=join_html(["A case of ", quoted(printed(curves.positive)), told]),
    )


def _drawn(chart: Chart, band: Band, label: str | None = None) -> None:
    chart.band(band.x, band.low, band.high, "one")
    chart.line(band.x, band.value, "one", label)


def _roc(curves: BinaryCurves) -> Html:
    told = "ROC curve: share of this class that is found, by the share of the others that is called by mistake."
    chart = Chart(across(0, 1), upward(0, 1), told, "ROC curve")
    chart.stroke((0, 0), (1, 1), "plain")
    _drawn(chart, curves.roc)
    return chart.draw("false-positive rate", "sensitivity", whole_percent)


def _by_class(curves: BinaryCurves) -> Html:
    told = "Probabilities of cases of either class, as shares of the cases of the class."
    others, own = (np.array(each) / max(sum(each), 1) for each in curves.counts)
    edges = np.linspace(0, 1, len(own) + 1)
    chart = Chart(
        across(0, 1), upward(0, max(own.max(), others.max())), told, "Probabilities by class"
    )
    name = _short(printed(curves.positive))
    for shares, class_, label in ((others, "two", "the other class"), (own, "one", name)):
        chart.columns(edges, shares, class_)
        chart.name(label, class_)
    return chart.draw(f"stated probability of “{name}”", "share of the class", whole_percent)


def _benefit(curves: BinaryCurves) -> Html:
    told = (
        "Decision curve: what calling cases by the model is worth, in cases of this class found per case, less "
        "false alarms at the rate of exchange that the threshold implies. Higher is better."
    )
    band, high = curves.net_benefit, curves.prevalence
    chart = Chart(across(0, 1), upward(-0.25 * high, 1.05 * high), told, "Decision curve")
    seen = curves.treat_all >= -0.25 * high
    chart.stroke((0, 0), (1, 0), "plain")
    chart.line(band.x[seen], curves.treat_all[seen], "two dashed", "call all")
    inside = band.value >= -0.25 * high
    chart.band(band.x, band.low, band.high, "one")
    chart.line(band.x[inside], band.value[inside], "one", "model")
    chart.name("call none", "plain")
    return chart.draw("threshold", "net benefit", _three, whole_percent)


def _lift(curves: BinaryCurves) -> Html:
    told = (
        "Lift: how many times as frequent this class is among the cases with the highest probabilities, by "
        "their share of all cases."
    )
    band = curves.lift
    most = min(WIDEST, 1.05 * float(band.high.max()))
    chart = Chart(across(0, 1), upward(0, most), told, "Lift")
    chart.stroke((0, 1), (1, 1), "plain")
    _drawn(chart, band)
    return chart.draw("share of cases called", "lift", _times, whole_percent)


def _three(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _times(value: float) -> str:
    return f"{value:.3g} ×"


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


# ---- one price


def saving(subject: Subject) -> Html | None:
    """Return a chart of what decisions save, over the range of the most influential price."""
    found = subject.decisions
    curve = None if found is None else found.cost_curve()
    if curve is None:
        return None
    told = (
        f"What decisions save beside the best constant decision, by the price of deciding “"
        f"{_short(printed(curve.decided))}” for “{_short(printed(curve.true))}” (now {amount(curve.price)}). "
        "The model decides by each price. The band is the 95 % interval of each point."
    )
    band = curve.saving
    low, high = _limits(band)
    x = Axis(float(band.x[0]), float(band.x[-1]), across(0, 1).begin, across(0, 1).end, log=True)
    chart = Chart(x, upward(low, high), told, "Savings by price")
    chart.stroke((x.low, 0), (x.high, 0), "plain")
    chart.stroke((1, low), (1, high), "plain dashed")
    _drawn(chart, band)
    drawing = chart.draw("price, in multiples of the present one", "saved per decision", number)
    return join_html(
        [
            tag("h3", "If a price were different"),
            _lost(curve),
            tag("div", drawing, class_="figures"),
        ]
    )


def _limits(band: Band) -> tuple[float, float]:
    """The values, and as much of the band as leaves them legible."""
    low, high = min(0.0, float(band.value.min())), max(0.0, float(band.value.max()))
    room = (high - low) or 1.0
    return max(float(band.low.min()), low - room), min(float(band.high.max()), high + room)


def _lost(curve: CostCurve) -> Html:
    """Say at which prices the model saves something, beyond chance."""
    band = curve.saving
    saves = band.low > 0
    if not saves.any():
        told = "At none of these prices is it proven (with 95 %) that the model saves anything."
    else:
        low, high = (float(band.x[saves][end]) for end in (0, -1))
        if saves.all():
            where = "over the whole range of prices below"
        elif saves[-1]:
            where = f"from {number(low)} times the present price on"
        elif saves[0]:
            where = f"up to {number(high)} times the present price"
        else:
            where = f"from {number(low)} to {number(high)} times the present price"
        told = f"Beside a constant decision, the model saves more than chance explains {where}."
        if not saves[np.searchsorted(band.x, low) : np.searchsorted(band.x, high)].all():
            told += " Not at all prices between."
    return paragraph(told)


def by_group(subject: Subject) -> Html | None:
    """Return the section with the results by group of rows, if they were asked for."""
    found = subject.decisions
    if found is None or found.parts is None:
        return None
    return section(
        f"Results by {found.parts.column}",
        as_html(found.parts.document()),
        lead="Differences between groups may be chance; the intervals say how much.",
    )
