"""The main results in a few words: sentences for a report, and labelled lines for the command."""

import math
from typing import TYPE_CHECKING

from rebelboost.base.findings import Quoted, Sentence, Strong
from rebelboost.base.names import printed
from rebelboost.base.text import amount, counted, number, percent
from rebelboost.evaluation.intervals import Estimate

if TYPE_CHECKING:
    from rebelboost.evaluation.regression import RegressionEvaluation
    from rebelboost.evaluation.result import Evaluation

PER_CASES = 1000
"""Costs are given for this number of decisions."""
MOST_CASES = 1_000_000
"""Largest number of cases that accuracy is given for."""
Line = tuple[str, str]
"""A label and its text."""


# ---- sentences on decisions


def lead_on_decisions(found: "Evaluation") -> list[Sentence]:
    """What to expect of decisions on new cases."""
    if math.isnan(found.accuracy.value):
        parts = ["On new cases like these, the model always abstains."]
    elif found.has_costs:
        parts = [*_saved(found), " ", *_correct(found), "."]
    else:
        share = _count(found.commonest_share, _cases(found))
        always = Quoted(printed(found.commonest))
        parts = [*_correct(found), ". Always deciding ", always, f" would be correct in {share}."]
    return [Sentence(parts, "lead"), *_two_classes(found)]


def _two_classes(found: "Evaluation") -> list[Sentence]:
    """Say how many of each of two classes are missed, and from which probability one is decided."""
    counts, costs = found.confusion.counts, found.confusion.costs
    if found.positive is None or counts.shape != (2, 2):
        return []
    yes = found.confusion.classes.index(found.positive)
    no = 1 - yes
    names = [Quoted(printed(each)) for each in found.confusion.classes]
    parts: list[str] = []
    for k in (yes, no):
        missed, total = amount(float(counts[k, 1 - k])), amount(float(counts[k].sum()))
        parts += [f"Of {total} cases of ", names[k], f", {missed} were decided wrongly. "]
    # It is known only of evaluations of this run whether a mistake costs the same in every row.
    one_price = found.judged is not None and found.judged.costs is None
    if found.has_costs and costs[[yes, no], [no, yes]].sum() > 0 and one_price:
        limit = float(costs[no, yes] / (costs[yes, no] + costs[no, yes]))
        parts += ["Because of the costs, ", names[yes], " is decided from a probability of "]
        parts.append(f"{percent(limit)}.")
    return [Sentence(parts)]


def _saved(found: "Evaluation") -> list[str]:
    """Say what decisions cost, and what that saves."""
    low, high = (cost_of_many(found, end) for end in found.cost[1:])
    parts = [
        f"{PER_CASES:,} decisions on new cases like these cost about ",
        Strong(cost_of_many(found, found.cost.value)),
        f" (95 % interval: {low}–{high}). ",
        *_less(found, found.constant_cost),
        "always deciding ",
        Quoted(printed(found.confusion.constant)),
        f", the best constant decision ({cost_of_many(found, found.constant_cost)})",
    ]
    if found.probable_cost is None:
        parts.append(".")
    else:
        ignoring = _less(found, found.probable_cost)
        parts += [", and ", *ignoring[1:], "ignoring the costs and deciding for the most probable "]
        parts.append(f"class ({cost_of_many(found, found.probable_cost)}).")
    if found.cost.low <= found.constant_cost <= found.cost.high:
        parts.append(" The difference to the constant decision may be chance.")
    return parts


def _less(found: "Evaluation", other: float) -> list[str]:
    """Return "This saves 12 compared with ", or the opposite."""
    saved = other - found.cost.value
    size = Strong(cost_of_many(found, abs(saved)))
    return (
        ["This saves ", size, " compared with "]
        if saved >= 0
        else ["This is ", size, " more than "]
    )


def _cases(found: "Evaluation") -> int:
    """Number of cases to speak of: more if nearly all are decided correctly."""
    cases = 100
    while cases < MOST_CASES and found.accuracy.low > 1 - 1 / cases:
        cases *= 10
    return cases


def _correct(found: "Evaluation") -> list[str]:
    """Say how many decisions are correct."""
    cases = _cases(found)
    right, low, high = (_count(share, cases) for share in found.accuracy)
    parts: list[str] = [f"Of {cases:,} new cases like these, "]
    if found.rejected > 0:
        parts.append(
            f"the model will abstain on about {_count(found.rejected, cases)}. Of {cases:,} that it "
            "decides, "
        )
    told = f" will be decided correctly (95 % interval: {low}–{high})"
    return [*parts, "about ", Strong(right), told]


def _count(share: float, cases: int) -> str:
    return f"{round(cases * share):,}"


def cost_of_many(found: "Evaluation", value: float) -> str:
    """What so many cases cost, given the mean cost of one."""
    return f"{PER_CASES * value:,.{_digits(found.cost)}f}"


def _digits(cost: Estimate) -> int:
    """Digits after the decimal point: two significant digits of the interval's width."""
    width = PER_CASES * (cost.high - cost.low)
    return max(0, 1 - math.floor(math.log10(width))) if width > 0 else 2


# ---- sentences on predictions


def lead_on_predictions(found: "RegressionEvaluation") -> list[Sentence]:
    """What to expect of predictions of new cases."""
    error, low, high = map(number, found.error)
    always = f"Always predicting {number(found.constant)}, the mean, would be off by"
    parts = [
        "Predictions of new cases like these are off by ",
        Strong(error),
        f" on average (95 % interval: {low}–{high}). {always} {number(found.constant_error)}.",
        " The difference may be chance." if found.is_unclear else "",
    ]
    return [Sentence(parts, "lead")]


# ---- lines


def lines_on_decisions(found: "Evaluation") -> list[Line]:
    """Accuracy and cost, beside the best constant decision."""
    right, low, high = map(percent, found.accuracy)
    baseline = f"always deciding {printed(found.commonest)}: {percent(found.commonest_share)}"
    accuracy = f"{right}, 95 % interval {low} to {high} ({baseline})"
    lines = []
    if found.has_costs:
        cost, low, high = map(amount, found.cost)
        constant = printed(found.confusion.constant)
        baseline = f"always deciding {constant}: {amount(found.constant_cost)}"
        lines.append(("cost", f"{cost} per decision, 95 % interval {low} to {high} ({baseline})"))
        if found.accuracy.value < found.commonest_share:
            accuracy += "; lower, because decisions minimise cost"
    lines.append(("accuracy", accuracy))
    if rates := found.two_class:
        auc = ""
        if found.binary is not None:
            area, low_area, high_area = found.binary.auc
            auc = f"; AUC {area:.3f} ({low_area:.3f} to {high_area:.3f})"
        hits, others = percent(rates["sensitivity"].value), percent(rates["specificity"].value)
        told = f"{hits} of its rows are found, {others} of the others{auc}"
        lines.append(("positive", f"{printed(found.positive)}: {told}"))
    if found.is_unclear:
        lines.append(("caution", "not clearly better than always making the same decision"))
    return lines


def lines_on_predictions(found: "RegressionEvaluation") -> list[Line]:
    """The errors, beside those of the mean."""
    error, low, high = map(number, found.error)
    baseline = f"always {number(found.constant)}, the mean: {number(found.constant_error)}"
    lines = [
        ("error", f"{error} on average, 95 % interval {low} to {high} ({baseline})"),
        ("R²", f"{found.explained:.3f}, the explained share of the variance"),
    ]
    if found.is_unclear:
        lines.append(("caution", "not clearly better than always predicting the mean"))
    return lines


def tested_on(found: "Evaluation | RegressionEvaluation", how: str) -> Line:
    """On which rows; `how` says how they were left out in cross-validation."""
    n_rows = counted(found.n, "row")
    if found.n_groups is not None:
        n_rows += f" in {counted(found.n_groups, 'group')}"
    if not found.is_left_out:
        return "tested on", f"{n_rows}: {found.source}"
    return (
        "tested on",
        f"{n_rows} by cross-validation, {how or 'each with fits that did not see it'}",
    )
