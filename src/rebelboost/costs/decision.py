"""The decision of least risk: what each decision is expected to cost, and which costs least."""

import numpy as np

from rebelboost.base.arrays import Floats, Labels, Scores


def expected_costs(posterior: Floats, costs: Floats) -> Floats:
    """(N, K): what each decision is expected to cost, Σ_y P_y c_yk."""
    return posterior @ costs


def least_risk(scores: Scores, posterior: Floats, costs: Floats) -> Labels:
    """argmin_k Σ_y P_y c_yk; decisions that cost the same are told apart by their scores."""
    risks = expected_costs(posterior, costs)
    least = risks.min(axis=1, keepdims=True)
    tied = risks <= least + 1e-12 * np.abs(least)
    return np.argmax(np.where(tied, scores, -np.inf), axis=1).astype(np.int32)
