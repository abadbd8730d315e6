"""Losses on spread rows: the initial state of training, with scores of 0."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.costs.judge import Judge
from rebelboost.distributed.holding import HeldSize
from rebelboost.distributed.quantities import ClassLoss, NumberLoss
from rebelboost.distributed.rows import Weigh
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.slopes import SpreadSmoothLoss, Whereabouts
from rebelboost.distributed.steps import Weighting
from rebelboost.distributed.targets import WeightSums, weight_sums
from rebelboost.distributed.weights import (
    SpreadLoss,
    SpreadState,
    least_mean_loss,
    spread_loss,
)
from rebelboost.losses.classes import FAMILY
from rebelboost.losses.regression import regression_loss

UNJUDGED = Judge(np.empty(0, dtype=np.int32), np.zeros((1, 1)))
"""Of a regression: the parts know the targets."""


@dataclass(frozen=True)
class SpreadObjective:
    """A loss for classification on spread rows."""

    spread: SpreadRows
    weighting: Weighting
    costs: Floats
    n_rows: int
    loss: str = "exponential"

    def state(self, samples: Any, judge: Judge, n_threads: int = 1) -> SpreadState:
        """Scores of 0, and their weights."""
        del samples, n_threads
        ones = np.ones(self.weighting.n_classes)
        weigh = Weigh(self.weighting.n_classes, self.weighting.units.weight, ones)
        _, weight, _ = self.spread.ask(weigh)
        total = float(weight.sum() * self.weighting.units.weight)
        return self.state_of(self.n_rows, total, judge=judge)

    def held_state(self, size: HeldSize) -> SpreadState:
        """Scores of 0 of the rows that are held out."""
        return self.state_of(*size, held=True)

    def state_of(
        self, n_rows: int, total: float, *, held: bool = False, judge: Judge | None = None
    ) -> SpreadState:
        """Scores of 0 of the rows that are trained on, or of those held out."""
        total = math.ldexp(total, -self.weighting.shift)
        return SpreadState(self._loss(n_rows, total, held=held), judge or self.judge(None))

    def _loss(self, n_rows: int, total: float, *, held: bool) -> SpreadLoss | SpreadSmoothLoss:
        spread, weighting = self.spread, self.weighting
        if self.loss == "exponential":
            return spread_loss(spread, weighting, n_rows, total, held=held)
        unit = weighting.units.weight
        of = Whereabouts(
            spread, ClassLoss(self.loss, weighting), n_rows, total, unit, weighting, held
        )
        no_samples = FAMILY[self.loss](np.empty((weighting.n_planes, 0, weighting.n_classes)))
        floor = least_mean_loss(spread, self.loss, weighting, total, held=held)
        return SpreadSmoothLoss(no_samples, total, floor, of=of)

    def judge(self, samples: Any, place: Any = None) -> Judge:
        """Evaluates decisions by the costs; the parts know the labels."""
        del samples, place
        return Judge(np.empty(0, dtype=np.int32), self.costs)


@dataclass(frozen=True)
class SpreadRegressionObjective:
    """A loss for regression on spread rows."""

    spread: SpreadRows
    part_loss: NumberLoss
    weights: WeightSums
    weighted: bool
    """Whether samples have weights."""

    @property
    def loss(self) -> str:
        """Name of the loss."""
        return self.part_loss.name

    def state(self, samples: Any, judge: Judge, n_threads: int = 1) -> SpreadState:
        """Scores of 0, and their slopes."""
        del samples, judge, n_threads
        return self.state_of(self.weights, held=False)

    def held_state(self, size: HeldSize) -> SpreadState:
        """Scores of 0 of the rows that are held out."""
        del size
        sums = weight_sums(self.spread, weighted=self.weighted, held=True)
        return self.state_of(sums, held=True)

    def state_of(self, sums: WeightSums, *, held: bool) -> SpreadState:
        """Scores of 0 of the rows that are trained on, or of those held out."""
        none = np.empty(0)
        no_samples = regression_loss(self.loss, none, none)
        of = Whereabouts(
            self.spread,
            self.part_loss,
            sums.n_rows,
            sums.counted,
            sums.unit,
            held=held,
        )
        return SpreadState(SpreadSmoothLoss(no_samples, sums.exact, of=of), UNJUDGED)

    def judge(self, samples: Any, place: Any = None) -> Judge:
        """Nothing: the parts know the targets."""
        del samples, place
        return UNJUDGED
