"""Weak learners: procedures that propose a hypothesis for given weights."""

from rebelboost.learners.base import Candidate, Focus, WeakLearner
from rebelboost.learners.binary import Binary, Wrapped
from rebelboost.learners.hypotheses import GrownTree, Hypothesis, Responding
from rebelboost.learners.tree import Stump, Tree

__all__ = [
    "Binary",
    "Candidate",
    "Focus",
    "GrownTree",
    "Hypothesis",
    "Responding",
    "Stump",
    "Tree",
    "WeakLearner",
    "Wrapped",
]
