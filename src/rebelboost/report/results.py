"""The sentence at the top of the report, and the section on accuracy and cost."""

import math
from typing import Any

import numpy as np

from rebelboost.base.markup import (
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
from rebelboost.base.names import printed
from rebelboost.base.text import amount, percent
from rebelboost.evaluation.intervals import Estimate
from rebelboost.evaluation.result import Evaluation
from rebelboost.report.charts import ruler
from rebelboost.report.subject import Subject

PER_CASES = 1000
"""Costs are given for this number of decisions."""
MOST_CASES = 1_000_000
"""Largest number of cases that accuracy is given for."""
LOG_LOSS = "Log-loss: mean of −ln(probability of the true class). Lower is better; 0 is perfect."


def lead(subject: Subject) -> Html:
    """Return the main result in one or two sentences."""
    found = subject.decisions
    if found is None:
        return paragraph(
            "The accuracy on new cases is unknown: no samples were held out from training, and no "
            "test table was given.",
            class_="lead",
        )
    return join_html(
        [paragraph(_sentence(found), class_="lead"), _two_classes(subject, found) or ""]
    )


def _two_classes(subject: Subject, found: Evaluation) -> Html | None:
    """Say how many of each of two classes are missed, and from which probability one is decided."""
    counts = found.confusion.counts
    if found.positive is None or counts.shape != (2, 2) or len(subject.classes) != 2:
        return None
    yes = found.confusion.classes.index(found.positive)
    no = 1 - yes
    totals = counts.sum(axis=1)
    names = [quoted(each) for each in subject.classes]
    parts: list[Any] = []
    for k in (yes, no):
        missed, total = amount(float(counts[k, 1 - k])), amount(float(totals[k]))
        parts += [f"Of {total} cases of ", names[k], f", {missed} were decided wrongly. "]
    costs = np.asarray(subject.clf.costs_, dtype=np.float64)
    if found.has_costs and costs[[yes, no], [no, yes]].sum() > 0 and _has_one_price(found):
        limit = float(costs[no, yes] / (costs[yes, no] + costs[no, yes]))
        parts += ["Because of the costs, ", names[yes], " is decided from a probability of "]
        parts.append(f"{percent(limit)}.")
    return paragraph(*parts)


def _has_one_price(found: Evaluation) -> bool:
    """Whether it is known that a mistake costs the same in every row."""
    return found.judged is not None and found.judged.costs is None


def _sentence(found: Evaluation) -> Html:
    if math.isnan(found.accuracy.value):
        return join_html(["On new cases like these, the model always abstains."])
    if found.has_costs:
        return join_html([*_saved(found), " ", *_correct(found), "."])
    cases = _cases(found)
    return join_html(
        [
            *_correct(found),
            ". Always deciding ",
            quoted(printed(found.commonest)),
            f" would be correct in {_count(found.commonest_share, cases)}.",
        ]
    )


def _saved(found: Evaluation) -> list[Any]:
    """Say what decisions cost, and what that saves."""
    parts: list[Any] = [
        f"{PER_CASES:,} decisions on new cases like these cost about ",
        tag("strong", _cost(found, found.cost.value)),
        f" (95\u00a0% interval: {_range(found, '–')}). ",
        *_less(found, found.constant_cost),
        "always deciding ",
        quoted(printed(found.confusion.constant)),
        f", the best constant decision ({_cost(found, found.constant_cost)})",
    ]
    if found.probable_cost is None:
        parts.append(".")
    else:
        ignoring = _less(found, found.probable_cost)
        parts += [", and ", *ignoring[1:], "ignoring the costs and deciding for the most probable "]
        parts.append(f"class ({_cost(found, found.probable_cost)}).")
    if found.cost.low <= found.constant_cost <= found.cost.high:
        parts.append(" The difference to the constant decision may be chance.")
    return parts


def _less(found: Evaluation, other: float) -> list[Any]:
    """Return "This saves 12 compared with ", or the opposite."""
    saved = other - found.cost.value
    amount = tag("strong", _cost(found, abs(saved)))
    if saved >= 0:
        return ["This saves ", amount, " compared with "]
    return ["This is ", amount, " more than "]


def _cases(found: Evaluation) -> int:
    """Number of cases to speak of: more if nearly all are decided correctly."""
    cases = 100
    while cases < MOST_CASES and found.accuracy.low > 1 - 1 / cases:
        cases *= 10
    return cases


def _correct(found: Evaluation) -> list[Any]:
    """Say how many decisions are correct."""
    cases = _cases(found)
    abstained = found.n_rejected / found.confusion.n_decisions
    parts: list[Any] = [f"Of {cases:,} new cases like these, "]
    if abstained > 0:
        parts.append(
            f"the model will abstain on about {_count(abstained, cases)}. Of {cases:,} that it "
            "decides, "
        )
    return [
        *parts,
        "about ",
        tag("strong", _count(found.accuracy.value, cases)),
        " will be decided correctly (95\u00a0% interval: ",
        f"{_count(found.accuracy.low, cases)}–{_count(found.accuracy.high, cases)})",
    ]


def _count(share: float, cases: int) -> str:
    return f"{round(cases * share):,}"


def _digits(cost: Estimate) -> int:
    """Digits after the decimal point: two significant digits of the interval's width."""
    width = PER_CASES * (cost.high - cost.low)
    return max(0, 1 - math.floor(math.log10(width))) if width > 0 else 2


def _cost(found: Evaluation, value: float) -> str:
    """Return what so many cases cost, given the mean cost of one."""
    return f"{PER_CASES * value:,.{_digits(found.cost)}f}"


def _range(found: Evaluation, between: str) -> str:
    return f"{_cost(found, found.cost.low)}{between}{_cost(found, found.cost.high)}"


def results(subject: Subject) -> Html | None:
    """Return the section on accuracy and cost, with intervals and baselines."""
    found = subject.decisions
    if found is None:
        return None
    rows: list[list[Any]] = _cost_rows(found) if found.has_costs else []
    rows += [
        [
            "accuracy (correct decisions)" + (", without abstentions" if found.n_rejected else ""),
            percent(found.accuracy.value),
            f"{percent(found.accuracy.low)} – {percent(found.accuracy.high)}",
            ruler(_or_none(found.accuracy), [(found.commonest_share, "most common class")]),
        ],
        [_always(found.commonest), percent(found.commonest_share), "", ""],
        *_two_class_rows(found),
    ]
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


def _two_class_rows(found: Evaluation) -> list[list[Any]]:
    """What is asked of tests for two classes."""
    rows: list[list[Any]] = []
    if found.positive is None:
        return rows
    yes = found.positive
    (no,) = (each for each in found.confusion.classes if each != yes)
    if found.auc is not None:
        label = tag(
            "span", "AUC (area under the ROC curve), ", quoted(printed(yes)), " is positive"
        )
        rows.append([label, f"{found.auc:.3f}", "", ""])
    also = {
        "sensitivity": ("recall of ", yes),
        "specificity": ("recall of ", no),
        "positive predictive value": ("precision of ", yes),
        "negative predictive value": ("precision of ", no),
    }
    for title, each in found.two_class.items():
        other, of_class = also[title]
        label = tag("span", f"{title} ({other}", quoted(printed(of_class)), ")")
        interval = f"{percent(each.low)} – {percent(each.high)}"
        rows.append([label, percent(each.value), interval, ruler(_or_none(each), [])])
    return rows


def _scales(found: Evaluation) -> str:
    scales = "Scales: accuracy from 0 to 100 %"
    if found.has_costs:
        scales += f", cost from 0 to {_cost(found, _largest(found))}"
    return f"{scales}. Dot: estimate; thick line: 95 % interval; vertical mark: constant decision."


def _largest(found: Evaluation) -> float:
    others = (found.constant_cost, found.commonest_cost, found.probable_cost or 0.0)
    return max(found.cost.high, *others) or 1.0


def _or_none(estimate: Estimate) -> Estimate:
    return Estimate(0.5, 0.0, 1.0) if math.isnan(estimate.value) else estimate


def _cost_rows(found: Evaluation) -> list[list[Any]]:
    largest = _largest(found)
    constant = found.confusion.constant
    marks = [(found.constant_cost / largest, "best constant decision")]
    rows = [
        [
            f"cost of {PER_CASES:,} decisions",
            _cost(found, found.cost.value),
            _range(found, " – "),
            ruler(_scaled(found.cost, largest), marks),
        ],
        [
            _always(constant, "best constant decision"),
            _cost(found, found.constant_cost),
            "",
            "",
        ],
    ]
    if found.probable_cost is not None:
        ignoring = _quiet("most probable class (ignores the costs)")
        rows.append([ignoring, _cost(found, found.probable_cost), "", ""])
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
