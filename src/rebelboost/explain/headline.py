"""Headline of an explanation: the decision with its probability or expected cost, and why it was made."""

from dataclasses import replace
from typing import Any

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Scores
from rebelboost.base.names import printed
from rebelboost.base.text import number, probability
from rebelboost.costs.decision import expected_costs
from rebelboost.costs.prices import price_ranges
from rebelboost.explain.explanation import Priced, Verdict
from rebelboost.model.fitted import FittedClassifier

MOST_CLASSES, LIKELY = 3, 0.005
"""Maximum number, and minimum probability, of the classes whose probabilities are shown beside costs."""


def verdicts(model: FittedClassifier, scores: Scores, costs: Floats) -> list[Verdict]:
    """Of each sample; `costs` are (K, K), or (N, K, K) where samples have their own."""
    posterior = model.posterior(scores)
    risks = expected_costs(posterior, costs)
    decisions, codes = model.labels(scores, costs), model.decide(scores, costs)
    models = [model] * len(scores)
    if costs.ndim == 3:
        models = [replace(model, costs=own, columns=None, learned=None) for own in costs]
    return [
        _verdict(models[n], decisions[n], int(codes[n]), scores[n], posterior[n], risks[n])
        for n in range(len(scores))
    ]


def _verdict(
    model: FittedClassifier,
    decision: Any,
    decided: int,
    scores: ByClass,
    posterior: ByClass,
    risks: ByClass,
) -> Verdict:
    by_cost = -risks if model.weighs_costs else scores
    text = _headline(model, decided, _next_best(decided, by_cost), posterior, risks)
    if model.rule.reject_cost is not None and risks.min() > model.rule.reject_cost:
        text = (
            f"Abstained, returning {printed(decision)!r}: the cheapest decision, "
            f"{_name(model, decided)}, has an expected cost of {number(risks[decided])}, more than "
            f"{_limit(model)}"
        )
    if int(posterior.argmax()) != decided:
        text += "\n" + _why_not_the_likeliest(model, decided, posterior, risks)
    elif model.weighs_costs:
        text += "\n" + _probabilities(model, posterior)
    rival = _next_best(decided, scores)
    return Verdict(
        decision,
        text,
        scores,
        posterior,
        risks,
        decided,
        rival,
        _ranges(model, decided, posterior, risks),
    )


def _ranges(
    model: FittedClassifier, decided: int, posterior: ByClass, risks: ByClass
) -> Priced | None:
    """Over which prices the decision holds; None if it does not depend on prices."""
    if not model.rule.by_cost or len(risks) < 2:
        return None
    limit = model.rule.reject_cost
    abstained = limit is not None and risks.min() > limit
    codes = np.array([len(risks) if abstained else decided])
    found = price_ranges(posterior[np.newaxis], model.costs, codes, limit)
    low, high = (float(end) for end in found.abstaining[0])
    return Priced(model.costs, found.low[0], found.high[0], limit, (low, high))


def _next_best(decided: int, merits: ByClass) -> int | None:
    if len(merits) == 1:
        return None
    return int(np.argmax(np.where(np.arange(len(merits)) == decided, -np.inf, merits)))


def _headline(
    model: FittedClassifier,
    decided: int,
    rival: int | None,
    posterior: ByClass,
    risks: ByClass,
) -> str:
    name = _name(model, decided)
    if rival is None:
        return f"Decided: {name} (the only class)"
    other = _name(model, rival)
    if model.weighs_costs:
        return (
            f"Decided: {name} (expected cost {number(risks[decided])}; "
            f"next best: {other}, {number(risks[rival])})"
        )
    return (
        f"Decided: {name} (probability {probability(posterior[decided])}; "
        f"next best: {other}, {probability(posterior[rival])})"
    )


def _why_not_the_likeliest(
    model: FittedClassifier, decided: int, posterior: ByClass, risks: ByClass
) -> str:
    likeliest = int(posterior.argmax())
    name = _name(model, likeliest)
    if not model.weighs_costs:
        return (
            f"The most probable class is {name} ({probability(posterior[likeliest])}), but "
            f'decision="argmax" takes the class with the highest score'
        )
    dearest = int(np.argmax(posterior * model.costs[:, likeliest]))
    return (
        f"The most probable class is {name} ({probability(posterior[likeliest])}; "
        f"{_name(model, decided)}: {probability(posterior[decided])}), but deciding for it has an "
        f"expected cost of {number(risks[likeliest])}: mistaking {_name(model, dearest)} "
        f"({probability(posterior[dearest])}) for {name} costs {model.costs[dearest, likeliest]:g}"
    )


def _probabilities(model: FittedClassifier, posterior: ByClass) -> str:
    order = np.argsort(-posterior, kind="stable")[:MOST_CLASSES]
    likely = [k for k in order.tolist() if posterior[k] >= LIKELY or k == order[0]]
    said = ", ".join(f"{_name(model, k)} ({probability(posterior[k])})" for k in likely)
    return f"Probabilities: {said}"


def _limit(model: FittedClassifier) -> str:
    """From which expected cost on the model abstains."""
    level = model.rule.reject_cost
    if model.reject_level is not None and level == model.reject_level:
        return f"{number(level)}, the level of its budget of abstentions"
    return f"reject_cost={level:g}"


def _name(model: FittedClassifier, code: int) -> str:
    return printed(model.classes[code])
