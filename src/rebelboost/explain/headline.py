"""What was decided of each sample, in a sentence: by probabilities, or by what decisions would cost."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Floats, Labels, Scores
from rebelboost.base.names import printed
from rebelboost.base.text import number, probability
from rebelboost.costs.decision import expected_costs
from rebelboost.explain.explanation import Verdict

MOST_CLASSES, LIKELY = 3, 0.005
"""Classes whose probabilities are told beside costs: so many, and those that round to 1 % or more."""


class Deciding(NamedTuple):
    """How an estimator decides."""

    classes: NDArray[Any]
    costs: Floats
    by_cost: bool
    """Whether expected costs decide; else scores do."""
    reject_cost: float | None = None


def verdicts(
    deciding: Deciding,
    decisions: NDArray[Any],
    codes: Labels,
    scores: Scores,
    posterior: Floats | None,
) -> list[Verdict]:
    """Of each sample. `decisions` are what `predict` returns, `codes` the classes decided for."""
    risks = None if posterior is None else expected_costs(posterior, deciding.costs)
    return [
        _verdict(
            deciding,
            decisions[n],
            int(codes[n]),
            scores[n],
            None if posterior is None else posterior[n],
            None if risks is None else risks[n],
        )
        for n in range(len(scores))
    ]


def _verdict(
    deciding: Deciding,
    decision: Any,
    decided: int,
    scores: ByClass,
    posterior: ByClass | None,
    risks: ByClass | None,
) -> Verdict:
    by_cost = -risks if deciding.by_cost and risks is not None else scores
    text = _headline(deciding, decided, _next_best(decided, by_cost), posterior, risks)
    rejected = deciding.reject_cost is not None and risks is not None
    if rejected and risks is not None and risks.min() > deciding.reject_cost:
        text = (
            f"Not decided, hence {printed(decision)!r}: the cheapest decision, "
            f"{_name(deciding, decided)}, is expected to cost {number(risks[decided])}, more than "
            f"reject_cost={deciding.reject_cost:g}"
        )
    if posterior is not None and risks is not None and int(posterior.argmax()) != decided:
        text += "\n" + _why_not_the_likeliest(deciding, decided, posterior, risks)
    elif deciding.by_cost and posterior is not None:
        text += "\n" + _probabilities(deciding, posterior)
    return Verdict(decision, text, scores, posterior, risks, decided, _next_best(decided, scores))


def _next_best(decided: int, merits: ByClass) -> int | None:
    if len(merits) == 1:
        return None
    return int(np.argmax(np.where(np.arange(len(merits)) == decided, -np.inf, merits)))


def _headline(
    deciding: Deciding,
    decided: int,
    rival: int | None,
    posterior: ByClass | None,
    risks: ByClass | None,
) -> str:
    name = _name(deciding, decided)
    if rival is None:
        return f"Decided: {name}, the only class that there is"
    other = _name(deciding, rival)
    if deciding.by_cost and risks is not None:
        return (
            f"Decided: {name} (expected cost {number(risks[decided])}; "
            f"next best: {other}, {number(risks[rival])})"
        )
    if posterior is not None:
        return (
            f"Decided: {name} (probability {probability(posterior[decided])}; "
            f"next best: {other}, {probability(posterior[rival])})"
        )
    return f"Decided: {name} (the highest score; next best: {other})"


def _why_not_the_likeliest(
    deciding: Deciding, decided: int, posterior: ByClass, risks: ByClass
) -> str:
    likeliest = int(posterior.argmax())
    name = _name(deciding, likeliest)
    if not deciding.by_cost:
        return (
            f"{name} is the likeliest class ({probability(posterior[likeliest])}), but the decision is by "
            f'the highest score alone: decision="argmax"'
        )
    dearest = int(np.argmax(posterior * deciding.costs[:, likeliest]))
    return (
        f"Not the likeliest class, {name} ({probability(posterior[likeliest])}, against "
        f"{probability(posterior[decided])} for {_name(deciding, decided)}): deciding for {name} is "
        f"expected to cost {number(risks[likeliest])}, since taking {_name(deciding, dearest)} "
        f"({probability(posterior[dearest])}) for {name} costs {deciding.costs[dearest, likeliest]:g}"
    )


def _probabilities(deciding: Deciding, posterior: ByClass) -> str:
    order = np.argsort(-posterior, kind="stable")[:MOST_CLASSES]
    likely = [k for k in order.tolist() if posterior[k] >= LIKELY or k == order[0]]
    said = ", ".join(f"{_name(deciding, k)} ({probability(posterior[k])})" for k in likely)
    return f"Probabilities: {said}"


def _name(deciding: Deciding, code: int) -> str:
    return printed(deciding.classes[code])
