"""Losses on spread rows: the initial state of training, with scores of 0."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.costs.judge import Judge
from rebelboost.distributed.quantities import ClassLoss, NumberLoss
from rebelboost.distributed.rows import Weigh
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.slopes import SpreadAbsolute, SpreadSmoothLoss, Whereabouts
from rebelboost.distributed.steps import Weighting
from rebelboost.distributed.weights import (
    SpreadLoss,
    SpreadState,
    least_mean_loss,
    spread_loss,
)
from rebelboost.losses.classes import FAMILY
from rebelboost.losses.numbers import number_loss

UNJUDGED = Judge(np.empty(0, dtype=np.int32), np.zeros((1, 1)))
"""Of a regression: the parts know the targets."""


class SpreadPoints(NamedTuple):
    """Stands for samples that are points, with the parts."""

    n_classes: int
    n_points: int
    total_weight: float
    largest_cost: float | None
    """If samples were merged, so that each point has costs of its own; else None."""


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
        del n_threads
        if isinstance(samples, SpreadPoints):
            return self._of_points(samples).state_of(
                samples.n_points, samples.total_weight, judge=judge
            )
        ones = np.ones(self.weighting.n_classes)
        weigh = Weigh(self.weighting.n_classes, self.weighting.units.weight, ones)
        _, weight, _ = self.spread.ask(weigh)
        total = float(weight.sum() * self.weighting.units.weight)
        return self.state_of(self.n_rows, total, judge=judge)

    def _of_points(self, points: SpreadPoints) -> "SpreadObjective":
        """The same for points, which may have costs of their own."""
        if points.largest_cost is None:
            return self
        shift = int(np.frexp(points.largest_cost)[1]) - 1
        return replace(self, weighting=replace(self.weighting, costs=None, shift=shift))

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
            spread, ClassLoss(self.loss, weighting), n_rows, total, unit, 1.0, weighting, held
        )
        no_samples = FAMILY[self.loss](np.empty((weighting.n_planes, 0, weighting.n_classes)))
        floor = least_mean_loss(spread, self.loss, weighting, total, held=held)
        return SpreadSmoothLoss(no_samples, total, floor, of=of)

    def judge(self, samples: Any, place: Any = None) -> Judge:
        """Evaluates decisions by the costs; the parts know the labels."""
        del samples, place
        return Judge(np.empty(0, dtype=np.int32), self.costs)


@dataclass(frozen=True)
class WeightSums:
    """Sums of the weights of some rows."""

    n_rows: int
    exact: float
    """The sum, rounded once."""
    counted: float
    """The sum of multiples of the unit."""
    unit: float
    scale: float
    """Scale of the weights in fixed point."""


@dataclass(frozen=True)
class SpreadNumberObjective:
    """A loss for regression on spread rows."""

    spread: SpreadRows
    part_loss: NumberLoss
    weights: WeightSums

    @property
    def loss(self) -> str:
        """Name of the loss."""
        return self.part_loss.name

    def state(self, samples: Any, judge: Judge, n_threads: int = 1) -> SpreadState:
        """Scores of 0, and their slopes."""
        del samples, judge, n_threads
        return self.state_of(self.weights, held=False)

    def state_of(self, sums: WeightSums, *, held: bool) -> SpreadState:
        """Scores of 0 of the rows that are trained on, or of those held out."""
        none = np.empty(0)
        if self.loss == "absolute":
            no_samples: Any = SpreadAbsolute(none, none)
        else:
            no_samples = number_loss(self.loss, none, none, self.part_loss.delta)
        of = Whereabouts(
            self.spread,
            self.part_loss,
            sums.n_rows,
            sums.counted,
            sums.unit,
            sums.scale,
            held=held,
        )
        return SpreadState(SpreadSmoothLoss(no_samples, sums.exact, of=of), UNJUDGED)

    def judge(self, samples: Any, place: Any = None) -> Judge:
        """Nothing: the parts know the targets."""
        del samples, place
        return UNJUDGED
