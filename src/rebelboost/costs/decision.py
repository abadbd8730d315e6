"""Decisions: from scores, probabilities and costs to classes.

`RULES` lists the decision rules. To add one, write its function here and add it to that table.
Estimators, model files and the command line read their choices from it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Labels, Scores
from rebelboost.base.triangular import ordered_product
from rebelboost.costs.matrix import is_uniform
from rebelboost.costs.posterior import Decoder


def expected_costs(posterior: Floats, costs: Floats) -> Floats:
    """(N, K): what each decision is expected to cost, Σ_y P_y c_yk; costs (K, K), or (N, K, K) by sample."""
    if costs.ndim == 3:
        return (posterior[:, :, np.newaxis] * costs).sum(axis=1)
    return ordered_product(posterior, costs)


def costs_of_decisions(posterior: Floats, costs: Floats, decided: Labels) -> Floats:
    """(N,) expected cost of each decision; where `decided` is K, which stands for abstaining, of the best."""
    risks = expected_costs(posterior, costs)
    n_classes = risks.shape[1]
    own = risks[np.arange(len(risks)), np.minimum(decided, n_classes - 1)]
    return np.where(decided == n_classes, risks.min(axis=1), own)


def least_risk(scores: Scores, posterior: Floats, costs: Floats) -> Labels:
    """argmin_k Σ_y P_y c_yk; ties go to the class with the highest score."""
    return cheapest(expected_costs(posterior, costs), scores)


def cheapest(risks: Floats, scores: Scores) -> Labels:
    """argmin_k of expected costs (N, K); ties go to the class with the highest score."""
    least = risks.min(axis=1, keepdims=True)
    tied = risks <= least + 1e-12 * np.abs(least)
    return np.argmax(np.where(tied, scores, -np.inf), axis=1).astype(np.int32)


# ---- rules


class Rule(NamedTuple):
    """A decision rule."""

    decide: Callable[[Scores, Decoder, Floats], Labels]
    """(scores, their decoder, costs) → class codes."""
    by_cost: bool
    """Whether decisions depend on the costs."""


def highest_score(scores: Scores, decoder: Decoder, costs: Floats) -> Labels:
    """Choose the class with the highest score, as in the papers."""
    del decoder, costs
    return np.argmax(scores, axis=1).astype(np.int32)


def least_expected_cost(scores: Scores, decoder: Decoder, costs: Floats) -> Labels:
    """Choose the class with the lowest expected cost.

    With uniform costs, in training and now, that is the class with the highest score, and no posterior
    is computed, unless the classes are otherwise frequent now.
    """
    if decoder.is_uniform and decoder.shift is None and is_uniform(costs):
        return highest_score(scores, decoder, costs)
    return least_risk(scores, decoder.posterior(scores), costs)


RULES: dict[str, Rule] = {
    "min_risk": Rule(least_expected_cost, by_cost=True),
    "argmax": Rule(highest_score, by_cost=False),
}
"""Allowed values of the parameter `decision`."""


class DecisionRule(NamedTuple):
    """A rule, given by its name, and when to abstain."""

    name: str = "min_risk"
    reject_cost: float | None = None
    """Abstain if every decision has a higher expected cost; None: never."""
    reject_label: Any = None
    """Label returned when abstaining."""
    price: float | None = None
    """What an abstention is charged with; None: `reject_cost`."""

    @property
    def charge(self) -> float | None:
        """What an abstention is charged with; None: the model never abstains."""
        return self.reject_cost if self.price is None else self.price

    @property
    def by_cost(self) -> bool:
        """Whether decisions depend on the costs."""
        return RULES[self.name].by_cost

    def decide(self, scores: Scores, decoder: Decoder, costs: Floats) -> Labels:
        """(N,) class codes. Abstentions are not considered."""
        return RULES[self.name].decide(scores, decoder, costs)


FREE = 0.0
"""Abstentions whose price is unknown are not charged."""


def level_of_budget(least: BySample, budget: float) -> float:
    """The expected cost above which at most this share of the rows lies; `least` is that of the best decision.

    Rows with equal costs are decided alike, so fewer may lie above it.
    """
    n_allowed = int(np.floor(budget * len(least)))
    return float(np.sort(least)[len(least) - n_allowed - 1]) if n_allowed < len(least) else 0.0


def budgeted(rule: DecisionRule, level: float) -> DecisionRule:
    """The rule, abstaining on fewer rows: where it does, and the least expected cost is above the level.

    Its own `reject_cost`, if it has one, stays the price of an abstention.
    """
    price = rule.reject_cost
    return rule._replace(
        reject_cost=level if price is None else max(level, price),
        reject_label="abstain" if rule.reject_label is None else rule.reject_label,
        price=FREE if price is None else price,
    )


def with_abstentions(
    decided: NDArray[Any], abstained: NDArray[np.bool_], label: Any
) -> NDArray[Any]:
    """Insert the label of abstentions; the array becomes one of objects if the types differ."""
    same_kind = np.asarray(label).dtype.kind == decided.dtype.kind
    wide = np.result_type(decided, np.asarray(label)) if same_kind else np.dtype(object)
    decided = decided.astype(wide)
    decided[abstained] = label
    return decided
