"""The sentence at the top of the report, and the section on accuracy and cost."""

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

LOG_LOSS = "Log-loss: mean of −ln(probability of the true class). Lower is better; 0 is perfect."


def lead(subject: Subject) -> Html:
    """Return the main result in one or two sentences."""
    found = subject.evaluation
    if found is None:
        return paragraph(
            "The accuracy on new cases is unknown: no samples were held out from training, and no "
            "test table was given.",
            class_="lead",
        )
    return paragraph(_sentence(found), class_="lead")


def _sentence(found: Evaluation) -> Html:
    cases = 1000 if found.accuracy.low > 0.99 else 100
    if math.isnan(found.accuracy.value):
        return join_html(["On new cases like these, the model always abstains."])
    abstained = found.n_rejected / found.confusion.n_decisions
    parts: list[Any] = [f"Of {cases:,} new cases like these, "]
    if abstained > 0:
        parts.append(
            f"the model will abstain on about {_count(abstained, cases)}. Of {cases:,} that it "
            "decides, "
        )
    parts += [
        "about ",
        tag("strong", _count(found.accuracy.value, cases)),
        " will be decided correctly (95\u00a0% interval: ",
        f"{_count(found.accuracy.low, cases)}–{_count(found.accuracy.high, cases)}). ",
    ]
    if found.has_costs:
        parts += [
            "The mean cost per decision is ",
            tag("strong", _cost(found, found.cost.value)),
            f" ({_range(found, '–')}). Always deciding ",
            quoted(printed(found.confusion.constant)),
            f", the cheapest constant decision, would cost {_cost(found, found.constant_cost)}",
        ]
    else:
        parts += [
            "Always deciding ",
            quoted(printed(found.commonest)),
            f" would be correct in {_count(found.commonest_share, cases)}",
        ]
    return join_html([*parts, "."])


def _count(share: float, cases: int) -> str:
    return str(round(cases * share))


def _digits(cost: Estimate) -> int:
    """Digits after the decimal point: two significant digits of the interval's width."""
    width = cost.high - cost.low
    return max(0, 1 - math.floor(math.log10(width))) if width > 0 else 2


def _cost(found: Evaluation, value: float) -> str:
    return f"{value:,.{_digits(found.cost)}f}"


def _range(found: Evaluation, between: str) -> str:
    return f"{_cost(found, found.cost.low)}{between}{_cost(found, found.cost.high)}"


def results(subject: Subject) -> Html | None:
    """Return the section on accuracy and cost, with intervals and baselines."""
    found = subject.evaluation
    if found is None:
        return None
    rows: list[list[Any]] = [
        [
            "accuracy (correct decisions)" + (", without abstentions" if found.n_rejected else ""),
            percent(found.accuracy.value),
            f"{percent(found.accuracy.low)} – {percent(found.accuracy.high)}",
            ruler(_or_none(found.accuracy), [(found.commonest_share, "most common class")]),
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
                _quiet("class frequencies only"),
                f"{found.shares_log_loss:.3f}",
                "",
                "",
            ],
        ]
    return section(
        "How good is the model?",
        table(["", "", "95 % interval", ""], rows, class_="results"),
        note(_scales(found), class_="note wide"),
        note(LOG_LOSS) if found.log_loss is not None else None,
        _note_on_costs(found),
        paragraph(tag("strong", "Source of these figures. "), _source(found)),
        paragraph(found.about_unknown()) if found.unknown else None,
    )


def _scales(found: Evaluation) -> str:
    scales = "Scales: accuracy from 0 to 100 %"
    if found.has_costs:
        scales += f", cost from 0 to {_cost(found, _largest(found))}"
    return f"{scales}. Dot: estimate; thick line: 95 % interval; vertical mark: constant decision."


def _largest(found: Evaluation) -> float:
    return max(found.constant_cost, found.cost.high, found.commonest_cost) or 1.0


def _or_none(estimate: Estimate) -> Estimate:
    return Estimate(0.5, 0.0, 1.0) if math.isnan(estimate.value) else estimate


def _cost_rows(found: Evaluation) -> list[list[Any]]:
    largest = _largest(found)
    constant = found.confusion.constant
    marks = [(found.constant_cost / largest, "cheapest constant decision")]
    rows = [
        [
            "mean cost per decision",
            _cost(found, found.cost.value),
            _range(found, " – "),
            ruler(_scaled(found.cost, largest), marks),
        ],
        [
            _always(constant, "cheapest constant decision"),
            _cost(found, found.constant_cost),
            "",
            "",
        ],
    ]
    if found.commonest != constant:
        rows.append([_always(found.commonest), _cost(found, found.commonest_cost), "", ""])
    return rows


def _scaled(cost: Estimate, largest: float) -> Estimate:
    return Estimate(*(part / largest for part in cost))


def _always(decision: Any, why: str = "most common class") -> Html:
    return tag("span", "always ", quoted(printed(decision)), f" ({why})", class_="quiet than")


def _quiet(text: str) -> Html:
    return tag("span", text, class_="quiet than")


def _note_on_costs(found: Evaluation) -> Html | None:
    if not found.has_costs or not found.accuracy.value < found.commonest_share:
        return None
    return note(
        "Always deciding the most common class would be correct more often. The model minimises the "
        "cost, not the number of mistakes."
    )


def _source(found: Evaluation) -> Html:
    if not found.is_left_out:
        return join_html(
            [
                f"{found.n:,} samples: ",
                name(found.source),
                ". The figures are valid only if the model was trained and selected without them.",
            ]
        )
    return escape(
        f"Cross-validation on {found.n:,} training samples: the model is an average of several fits, each "
        "fit leaves out a different part of the samples, and each sample is decided only by fits that "
        "did not see it. Two small biases remain. The number of rounds and the scale of the "
        "probabilities were chosen on the same samples, which is slightly optimistic. Each fit saw fewer "
        "samples than the whole model, which is slightly pessimistic."
    )
