"""Objectives: create the initial state of training, with scores of 0, from samples and a loss."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rebelboost.base.arrays import Ints, Planes
from rebelboost.base.fixed_point import exact_total
from rebelboost.boosting.state import NumberState, State
from rebelboost.costs.judge import Judge
from rebelboost.data.samples import Samples
from rebelboost.losses.exponential import SUBCOSTS, ExponentialLoss
from rebelboost.losses.smooth import SmoothLoss

LOSSES = ("exponential", "logistic", "squared")
"""Losses for classification."""


class Objective(Protocol):
    """A loss, by name, that can be applied to samples."""

    @property
    def loss(self) -> str:
        """Name of the loss."""

    def state(self, samples: Any, judge: Judge, n_threads: int = 1) -> State:
        """Scores of 0, and the weights of the samples for this loss."""

    def judge(self, samples: Any, place: Ints | None = None) -> Judge:
        """Evaluates decisions on the samples; for `place` see `Judge.place`."""


@dataclass(frozen=True)
class ClassObjective:
    """Objective of classification with costs."""

    loss: str = "exponential"
    """One of `LOSSES`."""
    subcosts: str = "thesis"
    """How costs become weights, one of `SUBCOSTS`."""

    def state(self, samples: Samples, judge: Judge, n_threads: int = 1) -> State:
        """Scores of 0, and their weights."""
        # Scaled so that squares neither overflow nor underflow; the mean loss keeps the user's units.
        unit = int(np.frexp(samples.costs.max(initial=0.0))[1]) - 1
        costs = np.ldexp(samples.costs, -unit)
        rows = costs if samples.by_sample else costs[samples.labels]
        planes = SUBCOSTS[self.subcosts](rows, samples.labels)
        if samples.weight is not None:
            planes *= samples.weight[:, np.newaxis]
        total = len(samples) if samples.weight is None else exact_total(samples.weight)
        return State(self._loss(planes, math.ldexp(total, -unit), n_threads), judge)

    def judge(self, samples: Samples, place: Ints | None = None) -> Judge:
        """Evaluates decisions by the labels and costs of the samples."""
        return Judge.of(samples, place)

    def _loss(
        self, planes: Planes, total_weight: float, n_threads: int
    ) -> ExponentialLoss | SmoothLoss:
        if self.loss == "exponential":
            return ExponentialLoss(planes, total_weight, n_threads)
        from rebelboost.losses.classes import FAMILY  # rarely needed

        loss = FAMILY[self.loss](planes)
        return SmoothLoss(loss, total_weight, loss.floor() / total_weight, n_threads)


@dataclass(frozen=True)
class RegressionObjective:
    """Objective of regression."""

    loss: str = "squared"
    """One of `rebelboost.losses.regression.REGRESSION_LOSSES`."""
    delta: float = 1.0
    """Threshold of the Huber loss."""

    def state(self, samples: Samples, judge: Judge, n_threads: int = 1) -> State:
        """Scores of 0, and their slopes."""
        from rebelboost.losses.regression import regression_loss

        weight = np.ones(len(samples)) if samples.weight is None else samples.weight
        assert samples.target is not None
        loss = regression_loss(self.loss, samples.target, weight, self.delta)
        smooth = SmoothLoss(loss, math.fsum(weight), n_threads=n_threads)
        return NumberState(smooth, judge, target=samples.target)

    def judge(self, samples: Samples, place: Ints | None = None) -> Judge:
        """Evaluates predictions by the weights of the samples."""
        weight = np.ones(len(samples)) if samples.weight is None else samples.weight
        return Judge(samples.labels, np.zeros((1, 1)), weight, place=place)
