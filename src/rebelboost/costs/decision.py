"""Decisions: from scores, probabilities and costs to classes.

`RULES` names the ways to decide. To add one, write its function here and give it a line there:
estimators, model files and the command take their choices from this table.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Labels, Scores
from rebelboost.costs.matrix import is_uniform
from rebelboost.costs.posterior import Decoder


def expected_costs(posterior: Floats, costs: Floats) -> Floats:
    """(N, K): what each decision is expected to cost, Σ_y P_y c_yk; costs (K, K), or (N, K, K) by sample."""
    if costs.ndim == 3:
        return np.einsum("ny,nyk->nk", posterior, costs)
    return posterior @ costs


def least_risk(scores: Scores, posterior: Floats, costs: Floats) -> Labels:
    """argmin_k Σ_y P_y c_yk; decisions that cost the same are told apart by their scores."""
    risks = expected_costs(posterior, costs)
    least = risks.min(axis=1, keepdims=True)
    tied = risks <= least + 1e-12 * np.abs(least)
    return np.argmax(np.where(tied, scores, -np.inf), axis=1).astype(np.int32)


# ---- rules


class Rule(NamedTuple):
    """A way to decide."""

    decide: Callable[[Scores, Decoder | None, Floats], Labels]
    """Scores, their decoder (None where they have no posterior) and costs → codes of classes."""
    by_cost: bool
    """Whether decisions depend on the costs."""


def highest_score(scores: Scores, decoder: Decoder | None, costs: Floats) -> Labels:
    """Decide for the class with the highest score, as in the papers."""
    del decoder, costs
    return np.argmax(scores, axis=1).astype(np.int32)


def least_expected_cost(scores: Scores, decoder: Decoder | None, costs: Floats) -> Labels:
    """Decide for the class with the least expected cost.

    The class with the highest score, where scores have no posterior. It is the same one where all
    mistakes cost the same and did so in training; the posterior is then not computed.
    """
    if decoder is None or (is_uniform(decoder.costs) and is_uniform(costs)):
        return highest_score(scores, decoder, costs)
    return least_risk(scores, decoder.posterior(scores), costs)


RULES: dict[str, Rule] = {
    "min_risk": Rule(least_expected_cost, by_cost=True),
    "argmax": Rule(highest_score, by_cost=False),
}
"""What the parameter `decision` may be."""


class DecisionRule(NamedTuple):
    """A rule by its name, and when to abstain."""

    name: str = "min_risk"
    reject_cost: float | None = None
    """Abstain where every decision is expected to cost more; None: never."""
    reject_label: Any = None
    """What is returned then."""

    @property
    def by_cost(self) -> bool:
        """Whether decisions depend on the costs."""
        return RULES[self.name].by_cost

    def decide(self, scores: Scores, decoder: Decoder | None, costs: Floats) -> Labels:
        """(N,) codes of the classes decided for; abstentions are not among them."""
        return RULES[self.name].decide(scores, decoder, costs)


def with_abstentions(
    decided: NDArray[Any], abstained: NDArray[np.bool_], label: Any
) -> NDArray[Any]:
    """Put the label of abstentions among decisions: as one type where they have one, else as objects."""
    same_kind = np.asarray(label).dtype.kind == decided.dtype.kind
    wide = np.result_type(decided, np.asarray(label)) if same_kind else np.dtype(object)
    decided = decided.astype(wide)
    decided[abstained] = label
    return decided
