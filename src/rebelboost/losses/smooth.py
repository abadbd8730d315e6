"""Weights for any convex loss: its slope and curvature at the scores.

The weights of the exponential loss are multiplied by factors from round to round, and its outputs have a
closed form (`losses/exponential.py`). Other losses are differentiated in every round, and outputs are found
by a line search. Both have the same interface for learners: the signed weight G is the slope, the mass W the
curvature, ⟨P, u⟩²/⟨S, u²⟩ the second-order gain. Sums are in fixed point here too.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    ByClass,
    Floats,
    Labels,
    Outputs,
    Pairs,
    Planes,
    Regions,
    Scores,
    SlopeArrays,
)
from rebelboost.base.fixed_point import coarse_scale, fine_scales
from rebelboost.base.newton import Derivatives, Precision, rising_root
from rebelboost.costs.judge import Judge, Rates
from rebelboost.losses.exponential import CAP, Totalled, Weights, log_above

PRECISION = 1e-6
"""Length of the last step, relative to the reach. The error of Newton's method is then about its square."""


class ConvexLoss(Protocol):
    """A convex loss of each score, for given samples. Arrays are (N, K)."""

    @property
    def shape(self) -> tuple[int, int]:
        """(N, K)."""

    @property
    def reach(self) -> float:
        """Distance over which the curvature may change substantially; ∞ for a parabola."""

    def slopes(self, scores: Scores, n_threads: int) -> "Slopes":
        """Slopes and curvatures at the scores."""

    def values(self, scores: Scores) -> Floats:
        """The loss of every score."""

    def derivatives(self, scores: Scores) -> tuple[Floats, Floats]:
        """Its slope, and its curvature or an upper bound of it."""

    def sums_along(
        self, slopes: "Slopes", regions: Regions, outputs: Outputs
    ) -> tuple[Outputs, Outputs]:
        """Sums of the derivatives in each region, after adding the outputs (`Slopes.sums_at`)."""

    def leaf_outputs(self, slopes: "Slopes", regions: Regions, ridge: Floats) -> Outputs:
        """The best output of each region, with ridge·a²/2 added to its loss."""


class Slopes:
    """Slopes and curvatures of a loss at the scores, with the interface of `Weights`."""

    second_order = True
    """True: stumps are ranked by their second-order gain."""

    def __init__(self, loss: ConvexLoss, scores: Scores, n_threads: int) -> None:
        self.loss = loss
        self.n_threads = n_threads
        self._renew(scores)

    def _renew(self, scores: Scores) -> None:
        self.scores = scores
        # Cache of the logistic loss, until the scores change: the odds, and a bound of Σ_n |c·p|.
        self.line: tuple[Planes, ByClass] | None = None
        self.signed, self.mass = self.loss.derivatives(scores)
        self.totals: ByClass = self.size(self.mass)
        total = math.fsum(self.size(self.loss.values(scores)))
        self.log_total = math.log(total) if total > 0 else -math.inf

    def size(self, values: Floats) -> ByClass:
        """Σ_n |values|, by class."""
        everywhere = np.zeros(len(values), dtype=np.uint16)
        return self._region_sums(values, everywhere, 1)[1][0]

    def sums(self, regions: Regions, n_regions: int) -> tuple[Outputs, Outputs]:
        """Sums of the positive and of the negative slopes of each region, (L, K) each."""
        signed, size = self._region_sums(self.signed, regions, n_regions)
        return (size + signed) / 2, (size - signed) / 2

    def _region_sums(
        self, values: Floats, regions: Regions, n_regions: int
    ) -> tuple[Outputs, Outputs]:
        """Σ values and Σ |values| of each region."""
        scales = fine_scales(largest(values) * len(values))
        sums = np.zeros((n_regions, 2, values.shape[1]), dtype=np.int64)
        planes = np.ascontiguousarray(values)[np.newaxis]
        kernels.active.region_sums(planes, regions, scales, sums, self.n_threads)
        return sums[:, 0] / scales, sums[:, 1] / scales

    def project(self, direction: ByClass, squares: ByClass) -> tuple[Pairs, float]:
        """Fixed-point pairs: signed ⟨G, direction⟩ and mass ⟨W, squares⟩; see `Weights.project`."""
        return self._pairs(along(self.signed, direction), along(self.mass, squares))

    def _pairs(self, signed: Floats, mass: Floats) -> tuple[Pairs, float]:
        both = np.stack([signed, mass], axis=1)
        signed_total, mass_total = self.size(both)
        scale = coarse_scale(mass_total)
        values = np.rint(signed * coarse_scale(signed_total)).astype(np.int64) << 32
        values += np.rint(mass * scale).astype(np.int64)
        return values, float(mass_total * scale)

    def fixed(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """G as (N, K padded to a multiple of 8) integers, and W as integers: sums of each ≤ 2³⁰."""
        n_samples, n_classes = self.signed.shape
        scale = coarse_scale(float(self.size(self.signed).max(initial=0.0)))
        signed = np.zeros((n_samples, -(-n_classes // 8) * 8), dtype=np.int32)
        signed[:, :n_classes] = np.rint(self.signed * scale)
        scale = coarse_scale(float(self.totals.max(initial=0.0)))
        return signed, np.rint(self.mass * scale).astype(np.int64)

    # ---- outputs

    def leaf_outputs(
        self, regions: Regions, plus: Outputs, minus: Outputs, smoothing: float
    ) -> Outputs:
        """The best outputs of a leaf-valued term, shrunk by `smoothing` of a leaf's average mass."""
        del minus  # the line search needs sums at other scores
        ridge = np.maximum(smoothing / len(plus), CAP) * self.totals
        return self.loss.leaf_outputs(self, regions, np.broadcast_to(ridge, plus.shape))

    def signed_output(
        self, regions: Regions, signs: NDArray[np.int8], plus: Outputs, minus: Outputs
    ) -> ByClass:
        """The best output of a ±1 response, for each class, by a line search on all samples."""
        del plus, minus
        by_region = signs[:, np.newaxis].astype(np.float64)
        ridge = CAP * self.totals

        def at(a: ByClass) -> tuple[ByClass, ByClass]:
            signed, mass = self.region_derivatives(regions, by_region * a)
            return (by_region * signed).sum(axis=0) + ridge * a, mass.sum(axis=0) + ridge

        return self._least(at, np.zeros(len(self.totals)))

    def best_outputs(self, regions: Regions, ridge: Floats) -> Outputs:
        """Outputs by line search; `ridge` is (L, K)."""

        def at(a: Outputs) -> tuple[Outputs, Outputs]:
            signed, mass = self.region_derivatives(regions, a)
            return signed + ridge * a, mass + ridge

        return self._least(at, np.zeros(ridge.shape))

    def _least(self, derivatives: Derivatives, start: Floats) -> Floats:
        """The minima of convex functions.

        The first step is limited to the reach of the loss, over which its curvature may change substantially,
        and the next ones to 2, 4, … times the reach.
        """
        reach = self.loss.reach
        return rising_root(derivatives, start, Precision(reach, growth=2.0, step=PRECISION * reach))

    def region_derivatives(self, regions: Regions, outputs: Outputs) -> tuple[Outputs, Outputs]:
        """Sums of slopes and of curvatures of each region, (L, K) each, after adding the outputs."""
        if np.any(outputs):
            return self.loss.sums_along(self, regions, outputs)
        return self._sums_of(self.signed, self.mass, regions, len(outputs))

    def sums_at(self, regions: Regions, outputs: Outputs) -> tuple[Outputs, Outputs]:
        """The same, computed by differentiating at the scores plus outputs."""
        signed, mass = self.loss.derivatives(self.scores + outputs[regions])
        return self._sums_of(signed, mass, regions, len(outputs))

    def _sums_of(
        self, signed: Floats, mass: Floats, regions: Regions, n_regions: int
    ) -> tuple[Outputs, Outputs]:
        sums, _ = self._region_sums(np.concatenate([signed, mass], axis=1), regions, n_regions)
        n_classes = signed.shape[1]
        return sums[:, :n_classes], sums[:, n_classes:]

    def loss_after(
        self, regions: Regions, plus: Outputs, minus: Outputs, outputs: Outputs
    ) -> float:
        """The loss after a term, for comparisons within a round."""
        del plus, minus
        return math.fsum(self.size(self.loss.values(self.scores + outputs[regions])))

    def preferences(self, output: ByClass) -> Pairs:
        """Pairs whose signed part is half the gain of f = +1 over −1 for each sample."""
        ones = np.ones(len(output))
        saved = self.loss.values(self.scores - output) - self.loss.values(self.scores + output)
        return self._pairs(along(saved, ones / 2), along(self.mass, ones))[0]

    def advance(
        self,
        scores: Scores,
        regions: Regions,
        outputs: Outputs,
        decided: Labels,
        judge: Judge | None = None,
    ) -> Rates | None:
        """Add the outputs of each sample's region to its scores, and differentiate there."""
        del judge
        scores += outputs[regions]
        if scores.shape[1] > 1:
            decided[:] = np.argmax(scores, axis=1)
        self._renew(scores)
        return None


class Parabolas(Slopes):
    """Slopes of a loss that is a parabola of the scores: a tree is proposed in one kernel call."""

    @property
    def arrays(self) -> SlopeArrays:
        """The arrays that the kernels take."""
        return SlopeArrays(self.signed, self.mass, self.totals)


AnyWeights = Weights | Slopes


def largest(values: Floats) -> ByClass:
    """max_n |values|, by class: NumPy is faster column by column."""
    return np.array([max(column.max(), -column.min()) for column in values.T])


def along(values: Floats, direction: ByClass) -> Floats:
    """⟨values_n, direction⟩ of each sample, summed class by class: the order of the rows changes no bit."""
    projected = np.zeros(len(values))
    for k, factor in enumerate(direction):
        projected += values[:, k] * factor
    return projected


@dataclass(frozen=True)
class SmoothLoss:
    """A convex loss of a set of samples, with the interface of `ExponentialLoss`."""

    loss: ConvexLoss
    total_weight: float
    floor: float = 0.0
    """The minimal mean loss over all scores."""
    n_threads: int = 1

    @property
    def n_samples(self) -> int:
        """Number of samples, N."""
        return self.loss.shape[0]

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.loss.shape[1]

    def bound(self, edge: float) -> float:
        """1: the loss does not rise. A bound by the edge is known for the exponential loss only."""
        del edge
        return 1.0

    def weights(self, scores: Scores) -> Slopes:
        """Differentiate the loss at the scores."""
        return self.loss.slopes(scores, self.n_threads)

    def log_loss(self, weights: Totalled) -> float:
        """Logarithm of the mean loss above its floor; −∞ at the floor."""
        return log_above(self.floor, weights.log_total - math.log(self.total_weight))
