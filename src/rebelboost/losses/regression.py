"""Regression: its losses (least squares, Huber and absolute), and its first prediction."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import (
    BySample,
    Floats,
    Outputs,
    Regions,
    Scores,
)
from rebelboost.base.fixed_point import fine_scales, fixed_weights
from rebelboost.losses.convex import ConvexLoss, parabola_outputs


@dataclass(frozen=True)
class LeastSquares(ConvexLoss):
    """(H − y)²: L₂Boost."""

    target: BySample
    weight: BySample

    reach: ClassVar[float] = math.inf

    is_parabola: ClassVar[bool] = True

    @property
    def shape(self) -> tuple[int, int]:
        """(N, 1)."""
        return len(self.target), 1

    def values(self, scores: Scores) -> Floats:
        """The loss of each sample."""
        return (self.weight * (scores[:, 0] - self.target) ** 2)[:, np.newaxis]

    def derivatives(self, scores: Scores) -> tuple[Floats, Floats]:
        """2(H − y) and 2."""
        slope = 2 * self.weight * (scores[:, 0] - self.target)
        return slope[:, np.newaxis], (2 * self.weight)[:, np.newaxis]

    def take_step(
        self, scores: Scores, regions: Regions, outputs: Outputs, slope: Floats
    ) -> tuple[float, float]:
        """Add outputs to the scores, and renew the slope. Returns Σ w(H − y)² and Σ w|H − y|."""
        return kernels.active.take_number_step(
            scores, regions, outputs, self.target, self.weight, slope
        )

    def leaf_outputs(self, slopes: Any, where: Any, ridge: Floats) -> Outputs:
        """The mean residual of each leaf."""
        return parabola_outputs(slopes, where, ridge)


@dataclass(frozen=True)
class Huber(ConvexLoss):
    """(H − y)² up to a distance of `delta`, then linear: 2δ|H − y| − δ²."""

    target: BySample
    weight: BySample
    delta: float

    @property
    def reach(self) -> float:
        """4δ."""
        return 4 * self.delta

    @property
    def shape(self) -> tuple[int, int]:
        """(N, 1)."""
        return len(self.target), 1

    def values(self, scores: Scores) -> Floats:
        """The loss of each sample."""
        distance = np.abs(scores[:, 0] - self.target)
        near = np.minimum(distance, self.delta)
        return (self.weight * near * (2 * distance - near))[:, np.newaxis]

    def derivatives(self, scores: Scores) -> tuple[Floats, Floats]:
        """2(H − y), clipped to ±2δ; and 2, an upper bound of the curvature, which is 0 beyond δ."""
        slope = 2 * self.weight * np.clip(scores[:, 0] - self.target, -self.delta, self.delta)
        return slope[:, np.newaxis], (2 * self.weight)[:, np.newaxis]


@dataclass(frozen=True)
class LeastAbsolute(ConvexLoss):
    """|H − y|."""

    target: BySample
    weight: BySample

    reach: ClassVar[float] = math.inf

    @property
    def shape(self) -> tuple[int, int]:
        """(N, 1)."""
        return len(self.target), 1

    def values(self, scores: Scores) -> Floats:
        """The loss of each sample."""
        return (self.weight * np.abs(scores[:, 0] - self.target))[:, np.newaxis]

    def derivatives(self, scores: Scores) -> tuple[Floats, Floats]:
        """±1; and 1 instead of a curvature, so that trees are grown on the mean of the signs."""
        slope = self.weight * np.sign(scores[:, 0] - self.target)
        return slope[:, np.newaxis], self.weight[:, np.newaxis]

    def leaf_outputs(self, slopes: Any, where: Any, ridge: Floats) -> Outputs:
        """The median residual of each leaf, times W/(W + ridge)."""
        _, mass = slopes.region_derivatives(where, np.zeros(ridge.shape))
        flat = mass + ridge
        share = np.divide(mass, flat, out=np.zeros(ridge.shape), where=flat > 0)
        return share * self.medians(slopes, where, len(ridge))[:, np.newaxis]

    def medians(self, slopes: Any, where: Any, n_regions: int) -> Floats:
        """(L,) the median residual of each leaf."""
        residual = self.target - slopes.scores[:, 0]
        return medians_by_region(residual, self.weight, where, n_regions)


def medians_by_region(
    values: BySample, weight: BySample, regions: Regions, n_regions: int
) -> Floats:
    """The lower weighted median of each region's values; 0 for an empty region."""
    order = np.lexsort((weight, values, regions))
    # Fixed point, so that the order of equal values does not affect rounding.
    scale = fine_scales(np.array([weight.max(initial=0.0) * len(weight)]))
    below = np.cumsum(np.rint(weight[order] * scale).astype(np.int64))
    ends = np.searchsorted(regions[order], np.arange(n_regions), side="right")
    starts = np.append(0, ends[:-1])
    before = np.append(0, below)[starts]
    half = before + (np.append(0, below)[ends] - before + 1) // 2
    at = np.minimum(np.searchsorted(below, half), np.maximum(ends - 1, 0))
    # −0 becomes 0: which of the two comes first among equals depends on the order.
    return np.where(ends > starts, values[order][at] + 0.0, 0.0)


AnyRegressionLoss = str | Callable[[BySample, BySample], ConvexLoss]
"""The name of a loss, or what makes one from (N,) targets, minus the baseline, and (N,) weights."""


@dataclass(frozen=True)
class RegressionLossKind:
    """What others need to know of a loss of numbers. By default, as for a loss of a user's own."""

    make: Callable[[BySample, BySample, float], ConvexLoss]
    """Makes it from (N,) targets, minus the baseline, (N,) weights, and the threshold of the Huber loss."""
    of_means: bool = False
    """Whether means minimise it: the first prediction is one, and errors are root mean squares."""
    power: int = 2
    """Power of the distances whose mean is compared on held-out samples."""
    distances: Callable[[BySample, float], BySample] = lambda distance, _: distance
    """Those distances, from |H − y| and the threshold of the Huber loss."""
    needs_leaf_outputs: bool = False
    """Whether every leaf needs an output of its own."""
    needs_all_rows: bool = False
    """Whether all rows have to be in one place."""

    @property
    def measure(self) -> str:
        """Name of the mean error."""
        return "RMSE" if self.of_means else "MAE"


def huber_distances(distance: BySample, delta: float) -> BySample:
    """The root of the Huber loss: it grows as the distance, then as its root."""
    near = np.minimum(distance, delta)
    return np.sqrt(near * (2 * distance - near))


REGRESSION_LOSSES = {
    "squared": RegressionLossKind(
        lambda target, weight, _: LeastSquares(target, weight), of_means=True
    ),
    "absolute": RegressionLossKind(
        lambda target, weight, _: LeastAbsolute(target, weight),
        power=1,
        needs_leaf_outputs=True,
        needs_all_rows=True,
    ),
    "huber": RegressionLossKind(Huber, distances=huber_distances, needs_all_rows=True),
}
"""Losses for regression, by name."""


def regression_kind(given: AnyRegressionLoss) -> RegressionLossKind:
    """What others need to know of a loss."""
    if isinstance(given, str):
        return REGRESSION_LOSSES[given]
    return RegressionLossKind(lambda target, weight, _: given(target, weight))


def regression_loss(
    given: AnyRegressionLoss, target: BySample, weight: BySample, delta: float = 1.0
) -> ConvexLoss:
    """The loss of samples with these targets and weights."""
    return regression_kind(given).make(target, weight, delta)


# ---- the first prediction

HUBER_SHARE = 0.9
"""Share of the weight whose residuals are at most huber_delta="auto"."""


def baseline(loss: AnyRegressionLoss, y: BySample, weight: BySample | None) -> float:
    """Prediction before the first round: the mean for the squared loss, else the median."""
    if regression_kind(loss).of_means:
        return mean_of(y, weight)
    return _median(y, np.ones(len(y)) if weight is None else weight)


def mean_of(y: BySample, weight: BySample | None) -> float:
    """Σ w·y / Σ w."""
    weight = np.ones(len(y)) if weight is None else weight
    # Relative to the largest value, so that the sum does not overflow.
    unit = math.ldexp(1.0, int(np.frexp(np.abs(y).max(initial=0.0))[1]))
    return unit * (math.fsum(weight * (y / unit)) / math.fsum(weight))


def huber_delta(residual: BySample, weight: BySample | None) -> float:
    """The residual size that HUBER_SHARE of the weight does not exceed; 1 if that is 0."""
    distance = np.abs(residual)
    order = np.argsort(distance, kind="stable")
    # Fixed point, so that the order of equal distances does not affect rounding.
    counts = fixed_weights(np.ones(len(residual)) if weight is None else weight)
    assert counts is not None
    below = np.cumsum(counts[order])
    at = np.searchsorted(below, huber_rank(int(below[-1])))
    return float(distance[order][at]) or 1.0


def huber_rank(total: int) -> int:
    """The weight that residuals up to huber_delta="auto" have at least, of a total in fixed point."""
    return math.ceil(HUBER_SHARE * total)


def _median(y: BySample, weight: Floats) -> float:
    return float(medians_by_region(y, weight, np.zeros(len(y), dtype=np.uint16), 1)[0])
