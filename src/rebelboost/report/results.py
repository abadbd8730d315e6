"""How good the decisions are: the sentence at the top, and the figures."""

import math
from typing import Any

from rebelboost.base.names import printed
from rebelboost.base.text import percent
from rebelboost.evaluation.intervals import Estimate
from rebelboost.evaluation.result import Evaluation
from rebelboost.report.charts import ruler
from rebelboost.report.markup import (
    Html,
    escape,
    join_html,
    name,
    note,
    paragraph,
    quoted,
    section,
    table,
    tag,
)
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
        return join_html([f"Of {cases} new cases like these, the model will abstain from all."])
    parts += [
        "about " if decided == 1 else "decide about ",
        tag("strong", f"{_count(found.accuracy.value, cases)}"),
        " will be decided rightly" if decided == 1 else f" of every {cases} others rightly",
        f" ({_count(found.accuracy.low, cases)}–{_count(found.accuracy.high, cases)})",
    ]
    if found.has_costs:
        against = (
            f" on average ({_range(found, '–')}), against {_cost(found, found.constant_cost)} for "
        )
        parts += [
            "; a decision costs ",
            tag("strong", _cost(found, found.cost.value)),
            against,
            "the cheapest constant decision, always ",
            quoted(printed(found.confusion.constant)),
        ]
    else:
        parts += [
            "; always deciding for ",
            quoted(printed(found.commonest)),
            f" would be right in {_count(found.commonest_share, cases)}",
        ]
    return join_html([*parts, "."])


def _count(share: float, cases: int) -> str:
    return str(round(cases * share))


def _digits(cost: Estimate) -> int:
    """After the point: as many as the interval lets one know, two of its width."""
    width = cost.high - cost.low
    return max(0, 1 - math.floor(math.log10(width))) if width > 0 else 2


def _cost(found: Evaluation, value: float) -> str:
    return f"{value:,.{_digits(found.cost)}f}"


def _range(found: Evaluation, between: str) -> str:
    return f"{_cost(found, found.cost.low)}{between}{_cost(found, found.cost.high)}"


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
        table(["", "", "95 % interval", ""], rows, class_="results"),
        note(_scales(found), class_="note wide"),
        _note_on_costs(found),
        paragraph(tag("strong", "Where these figures come from. "), _source(found)),
        paragraph(found.about_unknown()) if found.unknown else None,
    )


def _scales(found: Evaluation) -> str:
    told = "Lines run from 0 to 100 %"
    if found.has_costs:
        told += f" and from a cost of 0 to {_cost(found, _dearest(found))}"
    return f"{told}; the upright stroke is what one has without a model."


def _dearest(found: Evaluation) -> float:
    return max(found.constant_cost, found.cost.high, found.commonest_cost) or 1.0


def _or_none(estimate: Estimate) -> Estimate:
    return Estimate(0.5, 0.0, 1.0) if math.isnan(estimate.value) else estimate


def _cost_rows(found: Evaluation) -> list[list[Any]]:
    largest = _dearest(found)
    constant = found.confusion.constant
    marks = [(found.constant_cost / largest, "the cheapest constant decision")]
    rows = [
        [
            "mean cost of a decision",
            _cost(found, found.cost.value),
            _range(found, " – "),
            ruler(_scaled(found.cost, largest), marks),
        ],
        [_always(constant, "the cheapest"), _cost(found, found.constant_cost), "", ""],
    ]
    if found.commonest != constant:
        rows.append([_always(found.commonest), _cost(found, found.commonest_cost), "", ""])
    return rows


def _scaled(cost: Estimate, largest: float) -> Estimate:
    return Estimate(*(part / largest for part in cost))


def _always(decision: Any, why: str = "the commonest") -> Html:
    return tag("span", "always ", quoted(printed(decision)), f", {why}", class_="quiet than")


def _quiet(text: str) -> Html:
    return tag("span", text, class_="quiet than")


def _note_on_costs(found: Evaluation) -> Html | None:
    if not found.has_costs or not found.accuracy.value < found.commonest_share:
        return None
    return note(
        "Always deciding for the commonest class would be right more often, and cost more: the model "
        "keeps the cost low, not the number of mistakes."
    )


def _source(found: Evaluation) -> Html:
    if not found.is_left_out:
        return join_html(
            [
                f"{found.n:,} samples: ",
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
