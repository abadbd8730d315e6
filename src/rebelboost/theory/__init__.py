"""Proven bounds on the training error and cost, and the conditions under which they hold."""

from rebelboost.theory.bounds import (
    edges,
    error_bounds,
    largest_lead,
    loss_ratio_bound,
    margins,
    randomised_error,
    rounds_to_no_error,
    similarity_rate,
    similarity_rounds,
    simple_error_bounds,
)
from rebelboost.theory.certificate import Bound, Certificate
from rebelboost.theory.drift import Drift, DriftTest
from rebelboost.theory.guarantee import FitBound, Guarantee, SimilarityRate
from rebelboost.theory.majority import MajorityVote, majority_vote
from rebelboost.theory.weak_learnability import WeakLearnability, weak_learnability
from rebelboost.theory.zero_cost import RebelLevels, rebel_levels, zero_cost_level

__all__ = [
    "Bound",
    "Certificate",
    "Drift",
    "DriftTest",
    "FitBound",
    "Guarantee",
    "MajorityVote",
    "RebelLevels",
    "SimilarityRate",
    "WeakLearnability",
    "edges",
    "error_bounds",
    "largest_lead",
    "loss_ratio_bound",
    "majority_vote",
    "margins",
    "randomised_error",
    "rebel_levels",
    "rounds_to_no_error",
    "similarity_rate",
    "similarity_rounds",
    "simple_error_bounds",
    "weak_learnability",
    "zero_cost_level",
]
