"""What a weak learner is given, and what it answers."""

from typing import NamedTuple, Protocol

import numpy as np

from rebelboost.base.arrays import NO_WORK, ByFeature, Outputs, Regions, Samples, Work
from rebelboost.data.training_set import TrainingSet
from rebelboost.losses.smooth import AnyWeights
from rebelboost.model.trees import Hypothesis


class Focus(NamedTuple):
    """The part of the training set on which a hypothesis is sought; outputs use all of it."""

    samples: Samples
    allowed: ByFeature
    """(d,): 1 for features that may be asked."""


class Candidate(NamedTuple):
    """A hypothesis with its best outputs for the weights at hand."""

    hypothesis: Hypothesis
    regions: Regions
    """(N,): the hypothesis' regions on the training set."""
    plus: Outputs
    """(L, K): Σ w⁺ of each region."""
    minus: Outputs
    outputs: Outputs
    """(L, K), or (2, K) a and b where regions differ by their response only: f·a + b."""
    work: Work = NO_WORK
    """Of the search for it."""


class WeakLearner(Protocol):
    """Holds options and no fitted state."""

    @property
    def rounds(self) -> int:
        """The number of rounds that n_rounds="auto" stands for."""

    @property
    def shrinkage(self) -> float:
        """The shrinkage that "auto" stands for."""

    def propose(
        self, data: TrainingSet, weights: AnyWeights, focus: Focus, rng: np.random.Generator
    ) -> Candidate:
        """Find a hypothesis with a low loss."""
