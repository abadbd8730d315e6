"""Samples with numbers to predict: what `training` needs to know of them."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Labels, Values
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import Judge, State
from rebelboost.losses.numbers import medians_by_region, number_loss
from rebelboost.losses.smooth import SmoothRisk

HUBER_SHARE = 0.9
"""Of the weight that starts within huber_delta="auto"."""


@dataclass(frozen=True)
class RegressionProblem:
    """Samples with their targets, less the baseline, and weights."""

    X: Values
    target: BySample
    loss: str = "squared"
    delta: float = 1.0
    """For the Huber loss."""
    weight: BySample | None = None

    @property
    def labels(self) -> Labels:
        """All of one class, where samples are drawn by class."""
        return np.zeros(len(self.target), dtype=np.int32)

    @property
    def identity(self) -> Floats:
        """What tells samples apart: equal values may have unequal targets."""
        return np.column_stack([self.X, self.target]).astype(np.float64)

    def state(self, settings: Settings) -> State:
        """Scores of 0, and their slopes."""
        weight = np.ones(len(self.target)) if self.weight is None else self.weight
        loss = number_loss(self.loss, self.target, weight, self.delta)
        risk = SmoothRisk(loss, math.fsum(weight), n_threads=settings.n_threads)
        judge = Judge(self.labels, np.zeros((1, 1)), weight)
        return RegressionState(risk, judge, target=self.target)

    def rows(self, chosen: NDArray[np.bool_]) -> "RegressionProblem":
        """Keep the chosen samples only."""
        return replace(
            self,
            X=self.X[chosen],
            target=self.target[chosen],
            weight=None if self.weight is None else self.weight[chosen],
        )


@dataclass
class RegressionState(State):
    """Scores (N, 1), which are judged by how far they are from the target."""

    target: BySample = field(kw_only=True)

    def judged(self) -> tuple[float, float]:
        """Root mean squared error, and mean absolute error."""
        distance = np.abs(self.scores[:, 0] - self.target)
        weight = self.judge.weight
        return (
            math.sqrt(np.average(distance**2, weights=weight)),
            float(np.average(distance, weights=weight)),
        )


def baseline(loss: str, y: BySample, weight: BySample | None) -> float:
    """What is predicted before the first round: the median for the absolute loss, else the mean."""
    weight = np.ones(len(y)) if weight is None else weight
    if loss != "squared":
        return _median(y, weight)
    # In units of the largest, lest the sum overflow.
    unit = math.ldexp(1.0, int(np.frexp(np.abs(y).max(initial=0.0))[1]))
    return unit * (math.fsum(weight * (y / unit)) / math.fsum(weight))


def huber_delta(residual: BySample, weight: BySample | None) -> float:
    """The distance within which HUBER_SHARE of the weight is."""
    distance = np.sort(np.abs(residual))
    if weight is None:
        weight = np.ones(len(residual))
    below = np.cumsum(weight[np.argsort(np.abs(residual), kind="stable")])
    at = np.searchsorted(below, HUBER_SHARE * below[-1])
    return float(distance[min(int(at), len(distance) - 1)]) or 1.0


def _median(y: BySample, weight: Floats) -> float:
    return float(medians_by_region(y, weight, np.zeros(len(y), dtype=np.uint16), 1)[0])
