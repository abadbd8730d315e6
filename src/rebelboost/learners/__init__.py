"""Weak learners: stumps, trees, similarities, smooth functions, and wrapped scikit-learn classifiers."""

from rebelboost.learners.base import Candidate, Focus, Prepared, WeakLearner, solved_response
from rebelboost.learners.binary import Binary
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.smooth import SmoothSimilarity
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree

__all__ = [
    "Binary",
    "Candidate",
    "Focus",
    "Prepared",
    "Similarity",
    "SmoothSimilarity",
    "Stump",
    "Tree",
    "WeakLearner",
    "solved_response",
]
