"""How good the decisions are: the sentence at the top, the figures, and whether probabilities hold."""

import math
from typing import Any

from rebelboost.cost_report import amount
from rebelboost.figures import Evaluation
from rebelboost.intervals import Estimate
from rebelboost.names import printed
from rebelboost.report.charts import Chart, across, ruler, upward
from rebelboost.report.markup import Html, escape, join, name, note, paragraph, section, table, tag
from rebelboost.report.subject import Subject


def lead(subject: Subject) -> Html:
    """The one sentence that most readers want."""
    found = subject.evaluation
    if found is None:
        return paragraph(
            "How good the model is on new cases is not known: no sample was left out, and no test "
            "table was given.",
            class_="lead",
        )
    return paragraph(_sentence(found), class_="lead")


def _sentence(found: Evaluation) -> Html:
    cases = 1000 if found.accuracy.low > 0.99 else 100
    parts: list[Any] = [f"Of {cases:,} new cases like these, "]
    decided = 1 - found.n_rejected / found.confusion.n_decisions
    if decided < 1:
        parts.append(f"the model will abstain from about {round(cases * (1 - decided))} and ")
    if math.isnan(found.accuracy.value):
        return join([f"Of {cases} new cases like these, the model will abstain from all."])
    parts += [
        "about " if decided == 1 else "decide about ",
        tag("strong", f"{_count(found.accuracy.value, cases)}"),
        " will be decided rightly" if decided == 1 else f" of every {cases} others rightly",
        f" ({_count(found.accuracy.low, cases)}–{_count(found.accuracy.high, cases)})",
    ]
    if found.has_costs:
        against = f" on average ({_range(found.cost)}), against {_cost(found.constant_cost)} for "
        parts += [
            "; a decision costs ",
            tag("strong", _cost(found.cost.value)),
            against,
            "the cheapest constant decision, always ",
            name(printed(found.confusion.constant)),
        ]
    else:
        parts += [
            "; always deciding for ",
            name(printed(found.commonest)),
            f" would be right in {_count(found.commonest_share, cases)}",
        ]
    return join([*parts, "."])


def _count(share: float, cases: int) -> str:
    return str(round(cases * share))


def _cost(value: float) -> str:
    """Three digits, which is more than intervals allow for."""
    return amount(float(f"{value:.3g}"))


def _range(estimate: Estimate) -> str:
    return f"{_cost(estimate.low)}–{_cost(estimate.high)}"


def percent(value: float) -> str:
    """One digit after the point."""
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"


def results(subject: Subject) -> Html | None:
    """Accuracy and cost with their intervals, beside what one has without a model."""
    found = subject.evaluation
    if found is None:
        return None
    rows: list[list[Any]] = [
        [
            "right decisions" + (", of those not abstained from" if found.n_rejected else ""),
            percent(found.accuracy.value),
            f"{percent(found.accuracy.low)} – {percent(found.accuracy.high)}",
            ruler(_or_none(found.accuracy), [(found.commonest_share, "the commonest class")]),
        ],
        [_always(found.commonest), percent(found.commonest_share), "", ""],
    ]
    if found.has_costs:
        rows += _cost_rows(found)
    if found.n_rejected:
        share = found.n_rejected / found.confusion.n_decisions
        rows.append(["abstained", percent(share), "", ""])
    if found.log_loss is not None and found.shares_log_loss is not None:
        rows += [
            ["log-loss of the probabilities", f"{found.log_loss:.3f}", "", ""],
            [
                _quiet("knowing the shares of the classes only"),
                f"{found.shares_log_loss:.3f}",
                "",
                "",
            ],
        ]
    return section(
        "How good it is",
        table(["", "", "95 % interval", ""], rows),
        _note_on_costs(found),
        paragraph(tag("strong", "Where these figures come from. "), _source(found)),
        paragraph(found.about_unknown()) if found.unknown else None,
    )


def _or_none(estimate: Estimate) -> Estimate:
    return Estimate(0.5, 0.0, 1.0) if math.isnan(estimate.value) else estimate


def _cost_rows(found: Evaluation) -> list[list[Any]]:
    largest = max(found.constant_cost, found.cost.high, found.commonest_cost) or 1.0
    constant = found.confusion.constant
    marks = [(found.constant_cost / largest, "the cheapest constant decision")]
    rows = [
        [
            "mean cost of a decision",
            _cost(found.cost.value),
            f"{_cost(found.cost.low)} – {_cost(found.cost.high)}",
            ruler(_scaled(found.cost, largest), marks),
        ],
        [_always(constant, "the cheapest"), _cost(found.constant_cost), "", ""],
    ]
    if found.commonest != constant:
        rows.append([_always(found.commonest), _cost(found.commonest_cost), "", ""])
    return rows


def _scaled(cost: Estimate, largest: float) -> Estimate:
    return Estimate(*(part / largest for part in cost))


def _always(decision: Any, why: str = "the commonest") -> Html:
    return tag("span", "always ", name(printed(decision)), f", {why}", class_="quiet")


def _quiet(text: str) -> Html:
    return tag("span", text, class_="quiet")


def _note_on_costs(found: Evaluation) -> Html | None:
    if not found.has_costs or not found.accuracy.value < found.commonest_share:
        return None
    return note(
        "Always deciding for the commonest class would be right more often, and cost more: the model "
        "keeps the cost low, not the number of mistakes."
    )


def _source(found: Evaluation) -> Html:
    if not found.is_left_out:
        return join(
            [
                f"{found.n:,} samples of ",
                name(found.source),
                ". They tell the truth only if none of them was used to train the model, or to choose it.",
            ]
        )
    return escape(
        f"{found.n:,} training samples, each decided by those parts of the model that had never seen "
        "it: the model was fitted several times, and every fit left out another share of the samples. "
        "The number of rounds and the scale of the probabilities were chosen on the same samples, which "
        "flatters a little; every fit saw fewer samples than the whole model rests on, which does the "
        "opposite."
    )


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
        lambda v: f"{100 * v:.0f} %",
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
        tag("div", drawn, table(head, rows), class_="figures"),
        lead=f"When the model says 80 %, is it right in 80 of 100 cases? On average it is "
        f"{percent(found.calibration.error)} off (expected calibration error).",
    )
