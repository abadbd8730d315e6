"""Weak learners: procedures that propose a hypothesis for given weights."""

from rebelboost.learners.base import Candidate, Focus, WeakLearner
from rebelboost.learners.hypotheses import GrownTree
from rebelboost.learners.tree import Stump, Tree

__all__ = ["Candidate", "Focus", "GrownTree", "Stump", "Tree", "WeakLearner"]
