"""Expected costs of decisions, and what decisions of least expected cost turn out to cost."""

import numpy as np

from rebelboost.base.arrays import Floats, Labels, Scores
from rebelboost.costs.matrix import class_costs
from rebelboost.costs.posterior import Decoder
from rebelboost.data.samples import Problem


def decision_cost(scores: Scores, decoder: Decoder, deciding: Problem) -> float:
    """Mean cost of the least-risk decisions."""
    decided = least_risk(scores, decoder.posterior(scores), class_costs(deciding))
    return deciding.judge().judge(decided)[1]


def expected_costs(posterior: Floats, costs: Floats) -> Floats:
    """(N, K): what each decision is expected to cost, Σ_y P_y c_yk."""
    return posterior @ costs


def least_risk(scores: Scores, posterior: Floats, costs: Floats) -> Labels:
    """argmin_k Σ_y P_y c_yk; decisions that cost the same are told apart by their scores."""
    risks = expected_costs(posterior, costs)
    least = risks.min(axis=1, keepdims=True)
    tied = risks <= least + 1e-12 * np.abs(least)
    return np.argmax(np.where(tied, scores, -np.inf), axis=1).astype(np.int32)
