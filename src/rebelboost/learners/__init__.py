"""Weak learners: procedures that propose a hypothesis for given weights."""

from rebelboost.learners.base import Candidate, Focus, WeakLearner
from rebelboost.learners.binary import Binary, Wrapped
from rebelboost.learners.comparison import Comparison, Example
from rebelboost.learners.hypotheses import GrownTree, Hypothesis, covered
from rebelboost.learners.likening import SimilaritySearch
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.tree import Stump, Tree

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
