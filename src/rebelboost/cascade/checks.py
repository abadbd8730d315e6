"""What a check compares with its thresholds, and which decision a sample leaves with.

- Two classes, costs by class: h = H₂ − H₁. Above `high` the second class is decided, below `low` the first.
- More classes, equal costs: the lead of the highest score over the second highest; the leader is decided.
- Otherwise (costs that differ, or abstaining): the expected cost of the second best decision minus that of the
  best, which is decided. Abstaining is one more decision, with its own cost. The posterior has a temperature of
  its own at each check, since scores grow with the terms.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Labels, Scores, lead_of
from rebelboost.costs.decision import expected_costs
from rebelboost.model.fitted import FittedClassifier

SIDES, LEAD, RISK = "sides", "lead", "risk"
KINDS = (SIDES, LEAD, RISK)
"""Kinds of values, as described above."""


class AtCheck(NamedTuple):
    """Values of samples at a check, and their decisions if they leave there."""

    values: BySample
    decided: Labels
    """(N,) class codes; the number of classes stands for abstaining. With `SIDES`, by the sign of h only."""


def kind_of_values(model: FittedClassifier, costs: Floats) -> str:
    """Which values the checks of a model compare, for costs (K, K) or (N, K, K)."""
    if len(model.classes) == 2 and costs.ndim == 2:
        return SIDES
    return RISK if model.weighs_costs or model.rule.reject_cost is not None else LEAD


def final_decisions(model: FittedClassifier, scores: Scores, costs: Floats) -> Labels:
    """(N,) decisions of the full model; the number of classes stands for abstaining."""
    decided = model.decide(scores, costs)
    abstained = model.abstains(scores, costs)
    return decided if abstained is None else np.where(abstained, len(model.classes), decided)


def compare_values(
    model: FittedClassifier, kind: str, scores: Scores, costs: Floats, temperature: float
) -> AtCheck:
    """Values and decisions after part of the terms; only `RISK` needs the temperature."""
    if kind != RISK:
        value = lead_of(scores)
        leader = value > 0 if kind == SIDES else scores.argmax(axis=1)
        return AtCheck(value, leader.astype(np.int32))
    early = at_temperature(model, temperature)
    risks = expected_costs(early.posterior(scores), costs)
    reject_cost = model.rule.reject_cost
    if reject_cost is not None:
        risks = np.column_stack([risks, np.full(len(risks), float(reject_cost))])
    least = np.partition(risks, 1, axis=1)
    return AtCheck(least[:, 1] - least[:, 0], final_decisions(early, scores, costs))


def at_temperature(model: FittedClassifier, temperature: float) -> FittedClassifier:
    """The same model with another temperature of its posterior."""
    return replace(model, decoder=replace(model.decoder, temperature=temperature))
