"""Weak learners: stumps, trees, similarities and wrapped classifiers, searched for under given weights."""

from rebelboost.learners.base import Candidate, Focus, WeakLearner
from rebelboost.learners.binary import Binary
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.similarity_search import SimilaritySearch
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree
from rebelboost.model.comparisons import Comparison, Example
from rebelboost.model.trees import GrownTree, Hypothesis, covered
from rebelboost.model.wrapped import Wrapped

__all__ = [
    "Binary",
    "Candidate",
    "Comparison",
    "Example",
    "Focus",
    "GrownTree",
    "Hypothesis",
    "Similarity",
    "SimilaritySearch",
    "Stump",
    "Tree",
    "WeakLearner",
    "Wrapped",
    "covered",
]
