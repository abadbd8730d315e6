"""What training minimises: from samples to their loss, with scores of 0 to begin with."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rebelboost.base.arrays import Ints, Planes
from rebelboost.boosting.state import NumberState, State
from rebelboost.costs.judge import Judge
from rebelboost.data.samples import NumberSamples, Samples
from rebelboost.losses.exponential import SUBCOSTS, ExponentialLoss
from rebelboost.losses.smooth import SmoothLoss

LOSSES = ("exponential", "logistic", "squared")
"""For classes."""


class Objective(Protocol):
    """A loss, by name, and how samples get one."""

    @property
    def loss(self) -> str:
        """Its name."""

    def state(self, samples: Any, judge: Judge, n_threads: int = 1) -> State:
        """Scores of 0, and the weights that the loss gives the samples."""

    def judge(self, samples: Any, place: Ints | None = None) -> Judge:
        """Judges decisions on the samples; `place`: see `Judge.place`."""


@dataclass(frozen=True)
class ClassObjective:
    """The loss of classes whose mistakes have costs."""

    loss: str = "exponential"
    """One of `LOSSES`."""
    subcosts: str = "thesis"
    """How costs become weights, one of `SUBCOSTS`."""

    def state(self, samples: Samples, judge: Judge, n_threads: int = 1) -> State:
        """Scores of 0, and their weights."""
        # In units in which squares neither over- nor underflow; the mean loss is in the user's.
        unit = int(np.frexp(samples.costs.max(initial=0.0))[1]) - 1
        costs = np.ldexp(samples.costs, -unit)
        rows = costs if samples.by_sample else costs[samples.labels]
        planes = SUBCOSTS[self.subcosts](rows, samples.labels)
        if samples.weight is not None:
            planes *= samples.weight[:, np.newaxis]
        total = len(samples) if samples.weight is None else math.fsum(samples.weight)
        return State(self._loss(planes, math.ldexp(total, -unit), n_threads), judge)

    def judge(self, samples: Samples, place: Ints | None = None) -> Judge:
        """By the labels and costs of the samples."""
        return Judge.of(samples, place)

    def _loss(
        self, planes: Planes, total_weight: float, n_threads: int
    ) -> ExponentialLoss | SmoothLoss:
        if self.loss == "exponential":
            return ExponentialLoss(planes, total_weight, n_threads)
        from rebelboost.losses.classes import FAMILY  # which most programs do without

        loss = FAMILY[self.loss](planes)
        return SmoothLoss(loss, total_weight, loss.floor() / total_weight, n_threads)


@dataclass(frozen=True)
class NumberObjective:
    """The loss of a regression."""

    loss: str = "squared"
    """One of `losses.numbers.NUMBER_LOSSES`."""
    delta: float = 1.0
    """For the Huber loss."""

    def state(self, samples: NumberSamples, judge: Judge, n_threads: int = 1) -> State:
        """Scores of 0, and their slopes."""
        from rebelboost.losses.numbers import number_loss

        weight = np.ones(len(samples)) if samples.weight is None else samples.weight
        loss = number_loss(self.loss, samples.target, weight, self.delta)
        smooth = SmoothLoss(loss, math.fsum(weight), n_threads=n_threads)
        return NumberState(smooth, judge, target=samples.target)

    def judge(self, samples: NumberSamples, place: Ints | None = None) -> Judge:
        """By the weights of the samples."""
        weight = np.ones(len(samples)) if samples.weight is None else samples.weight
        return Judge(samples.labels, np.zeros((1, 1)), weight, place=place)
