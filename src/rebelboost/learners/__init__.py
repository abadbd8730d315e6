"""Weak learners: stumps, trees, similarities, smooth functions, and wrapped scikit-learn classifiers."""

from typing import Any

from rebelboost.learners.base import (
    Candidate,
    Focus,
    Prepared,
    Traits,
    WeakLearner,
    solved_response,
)
from rebelboost.learners.binary import Binary
from rebelboost.learners.kernel import KernelSimilarity
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.smooth import SmoothSimilarity
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree

LEARNERS: dict[str, Any] = {
    "tree": Tree,
    "stump": Stump,
    "similarity": Similarity,
    "smooth": SmoothSimilarity,
    "kernel": KernelSimilarity,
}
"""Learners that estimators know by name. Model files store them, by the names of their classes."""

__all__ = [
    "LEARNERS",
    "Binary",
    "Candidate",
    "Focus",
    "KernelSimilarity",
    "Prepared",
    "Similarity",
    "SmoothSimilarity",
    "Stump",
    "Traits",
    "Tree",
    "WeakLearner",
    "solved_response",
]
