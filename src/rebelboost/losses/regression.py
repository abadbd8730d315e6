"""Regression: its losses (least squares, Huber and absolute), and its first prediction."""

import math
from dataclasses import dataclass

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import (
    BySample,
    Floats,
    Labels,
    Outputs,
    Regions,
    Scores,
)
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import exact_total, fine_scales, fixed_weights
from rebelboost.costs.judge import Judge, Rates
from rebelboost.losses.classes import parabola_outputs
from rebelboost.losses.smooth import ConvexLoss, Parabolas, Slopes


@dataclass(frozen=True)
class LeastSquares:
    """(H − y)²: L₂Boost."""

    target: BySample
    weight: BySample

    reach = math.inf

    @cached_property
    def total_weight(self) -> float:
        """Sum of the sample weights."""
        return exact_total(self.weight)

    @property
    def shape(self) -> tuple[int, int]:
        """(N, 1)."""
        return len(self.target), 1

    def slopes(self, scores: Scores, n_threads: int) -> Slopes:
        """Slopes and curvatures at the scores."""
        return Residuals(self, scores, n_threads)

    def values(self, scores: Scores) -> Floats:
        """The loss of each sample."""
        return (self.weight * (scores[:, 0] - self.target) ** 2)[:, np.newaxis]

    def derivatives(self, scores: Scores) -> tuple[Floats, Floats]:
        """2(H − y) and 2."""
        slope = 2 * self.weight * (scores[:, 0] - self.target)
        return slope[:, np.newaxis], (2 * self.weight)[:, np.newaxis]

    def sums_along(
        self, slopes: Slopes, regions: Regions, outputs: Outputs
    ) -> tuple[Outputs, Outputs]:
        """Computed by differentiating at the new scores."""
        return slopes.sums_at(regions, outputs)

    def leaf_outputs(self, slopes: Slopes, regions: Regions, ridge: Floats) -> Outputs:
        """The mean residual of each leaf."""
        return parabola_outputs(slopes, regions, ridge)


class Residuals(Parabolas):
    """Slopes of least squares: a term's effect is one kernel call."""

    loss: LeastSquares

    def advance(
        self,
        scores: Scores,
        regions: Regions,
        outputs: Outputs,
        decided: Labels,
        judge: Judge | None = None,
    ) -> Rates | None:
        """Add the outputs to the scores. Also returns the root mean square and the mean |H − y|."""
        del decided, judge
        loss = self.loss
        squared, absolute = kernels.active.take_number_step(
            scores, regions, outputs, loss.target, loss.weight, self.signed
        )
        self.scores = scores
        self.log_total = math.log(squared) if squared > 0 else -math.inf
        return math.sqrt(squared / loss.total_weight), absolute / loss.total_weight


@dataclass(frozen=True)
class Huber:
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

    def slopes(self, scores: Scores, n_threads: int) -> Slopes:
        """Slopes and curvatures at the scores."""
        return Slopes(self, scores, n_threads)

    def values(self, scores: Scores) -> Floats:
        """The loss of each sample."""
        distance = np.abs(scores[:, 0] - self.target)
        near = np.minimum(distance, self.delta)
        return (self.weight * near * (2 * distance - near))[:, np.newaxis]

    def derivatives(self, scores: Scores) -> tuple[Floats, Floats]:
        """2(H − y), clipped to ±2δ; and 2, an upper bound of the curvature, which is 0 beyond δ."""
        slope = 2 * self.weight * np.clip(scores[:, 0] - self.target, -self.delta, self.delta)
        return slope[:, np.newaxis], (2 * self.weight)[:, np.newaxis]

    def sums_along(
        self, slopes: Slopes, regions: Regions, outputs: Outputs
    ) -> tuple[Outputs, Outputs]:
        """Computed by differentiating at the new scores."""
        return slopes.sums_at(regions, outputs)

    def leaf_outputs(self, slopes: Slopes, regions: Regions, ridge: Floats) -> Outputs:
        """Found by line search."""
        return slopes.best_outputs(regions, ridge)


@dataclass(frozen=True)
class LeastAbsolute:
    """|H − y|."""

    target: BySample
    weight: BySample

    reach = math.inf

    @property
    def shape(self) -> tuple[int, int]:
        """(N, 1)."""
        return len(self.target), 1

    def slopes(self, scores: Scores, n_threads: int) -> Slopes:
        """Slopes and curvatures at the scores."""
        return Slopes(self, scores, n_threads)

    def values(self, scores: Scores) -> Floats:
        """The loss of each sample."""
        return (self.weight * np.abs(scores[:, 0] - self.target))[:, np.newaxis]

    def derivatives(self, scores: Scores) -> tuple[Floats, Floats]:
        """±1; and 1 instead of a curvature, so that trees are grown on the mean of the signs."""
        slope = self.weight * np.sign(scores[:, 0] - self.target)
        return slope[:, np.newaxis], self.weight[:, np.newaxis]

    def sums_along(
        self, slopes: Slopes, regions: Regions, outputs: Outputs
    ) -> tuple[Outputs, Outputs]:
        """Computed by differentiating at the new scores."""
        return slopes.sums_at(regions, outputs)

    def leaf_outputs(self, slopes: Slopes, regions: Regions, ridge: Floats) -> Outputs:
        """The median residual of each leaf, times W/(W + ridge)."""
        _, mass = slopes.region_derivatives(regions, np.zeros(ridge.shape))
        flat = mass + ridge
        share = np.divide(mass, flat, out=np.zeros(ridge.shape), where=flat > 0)
        return share * self.medians(slopes, regions, len(ridge))[:, np.newaxis]

    def medians(self, slopes: Slopes, regions: Regions, n_regions: int) -> Floats:
        """(L,) the median residual of each leaf."""
        residual = self.target - slopes.scores[:, 0]
        return medians_by_region(residual, self.weight, regions, n_regions)


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


def regression_loss(
    name: str, target: BySample, weight: BySample, delta: float = 1.0
) -> ConvexLoss:
    """Create a regression loss by name."""
    if name == "huber":
        return Huber(target, weight, delta)
    return LeastSquares(target, weight) if name == "squared" else LeastAbsolute(target, weight)


REGRESSION_LOSSES = ("squared", "absolute", "huber")
"""Names of the regression losses."""


# ---- the first prediction

HUBER_SHARE = 0.9
"""Share of the weight whose residuals are at most huber_delta="auto"."""


def baseline(loss: str, y: BySample, weight: BySample | None) -> float:
    """Prediction before the first round: the mean for the squared loss, else the median."""
    weight = np.ones(len(y)) if weight is None else weight
    if loss != "squared":
        return _median(y, weight)
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
