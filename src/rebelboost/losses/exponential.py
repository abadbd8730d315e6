"""The exponential loss: from costs to weights, from weights to output vectors, and the remaining loss.

Conventions: `plus` and `minus` are w⁺ and w⁻, P = Σ f·(w⁺ − w⁻), S = Σ (w⁺ + w⁻), by class.
The loss of scores H is Σ_n Σ_k c⁺_nk e^{H_k} + c⁻_nk e^{−H_k} [THESIS Sec. 4.3; REBEL Sec. 3].
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    ByClass,
    Floats,
    Indices,
    Ints,
    Labels,
    Outputs,
    Pairs,
    Planes,
    Projection,
    Regions,
    Scores,
    Step,
)
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import coarse_scale, fine_scales, in_order
from rebelboost.costs.judge import UNJUDGED, Judge, Rates
from rebelboost.kernels.elementary import portable_exp, portable_log, portable_sinh

CAP = 1e-8
"""Relative smoothing of s±: limits an output to ½ ln(2/CAP) ≈ 9.6. It is relative to the remaining mass,
because an absolute constant would stall training once the loss is small.
"""

LOOSE = 2.0**10
"""Totals are recomputed if their upper bound exceeds them by this factor, which costs precision."""


def thesis_subcosts(costs: Floats, labels: Labels) -> Planes:
    """c⁺ = √(K−1)/(2‖c‖) · c², c⁻ = ‖c‖/(2√(K−1)) at the label [THESIS Sec. 4.3], in one plane.

    `costs` (N, K) are the samples' cost rows. 2√(c⁺_k c⁻_y) = c_yk, so at argmax the loss bounds the
    cost. A row of zeros has no weight.
    """
    norm = np.linalg.norm(costs, axis=1, keepdims=True)
    root = math.sqrt(costs.shape[1] - 1)
    planes = np.zeros_like(costs)
    np.divide(costs, norm, out=planes, where=norm > 0)
    planes *= costs * (root / 2)
    planes[np.arange(len(costs)), labels] = -norm[:, 0] / (2 * root)
    return planes[np.newaxis]


def rebel_subcosts(costs: Floats, labels: Labels) -> Planes:
    """c⁺ = ½(c − β), c⁻ = ½(max c − c), β = Σc − (K−1)·max c [REBEL, Eq. 2], in two planes."""
    del labels  # the label is where the cost is 0
    largest = costs.max(axis=1, keepdims=True)
    beta = costs.sum(axis=1, keepdims=True) - (costs.shape[1] - 1) * largest
    return np.stack([(costs - beta) / 2, (costs - largest) / 2])


SUBCOSTS = {"thesis": thesis_subcosts, "rebel": rebel_subcosts}
"""Schemes that turn costs into weights, by name."""


class Totalled(Protocol):
    """Weights of any loss."""

    @property
    def log_total(self) -> float:
        """Logarithm of their sum, which is the loss of all samples."""


class Weights:
    """Boosting weights of all samples, w⁺ and w⁻, times 2^−exponent.

    `advance` updates them after each round, by one factor per region; `ExponentialLoss.weights` recomputes
    them from scores. Sums over samples are in fixed point, so the order of the samples does not matter.
    """

    second_order = False
    """False: stumps are ranked by the loss itself, which has a closed form."""

    def __init__(self, planes: Planes, exponent: int, n_threads: int) -> None:
        self.planes = planes
        self.exponent = exponent
        self.n_threads = n_threads
        self.totals: ByClass = np.zeros(planes.shape[2])
        self._total_up()

    @property
    def log_total(self) -> float:
        """Logarithm of the sum of all weights, −∞ if it is 0."""
        return log_total_of(self.totals, self.exponent)

    def sums(self, regions: Regions, n_regions: int) -> tuple[Outputs, Outputs]:
        """Σ w⁺ and Σ w⁻ of each region, (L, K) each."""
        scales = fine_scales(self.totals)
        sums = self.region_sums(regions, n_regions, scales)
        signed, mass = sums[:, 0], sums[:, 1]
        return (mass + signed) / (2 * scales), (mass - signed) / (2 * scales)

    @property
    def signed(self) -> Floats:
        """G = w⁺ − w⁻, (N, K)."""
        return self.planes[0] if len(self.planes) == 1 else self.planes.sum(axis=0)

    def project(self, direction: ByClass, squares: ByClass) -> tuple[Pairs, float]:
        """Fixed-point pairs of each sample: signed ⟨G, direction⟩ and mass ⟨W, squares⟩.

        Their absolute values sum to at most 2³⁰, by Σ_n |⟨G_n, u⟩| ≤ ⟨S, |u|⟩. Also returns the sum of the
        masses, up to rounding.
        """
        mass = in_order(self.totals * squares)
        projection = Projection(
            direction,
            squares,
            coarse_scale(in_order(self.totals * np.abs(direction))),
            coarse_scale(mass),
        )
        return self.projected(projection), mass * projection.mass_scale

    def fixed(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """G as (N, K padded to a multiple of 8) integers, and W as integers: Σ_n W ≤ 2³⁰ by class."""
        scale = coarse_scale(float(self.totals.max(initial=0.0)))
        n_samples, n_classes = self.planes.shape[1:]
        signed = np.zeros((n_samples, -(-n_classes // 8) * 8), dtype=np.int32)
        fixed = np.rint(self.signed * scale)
        signed[:, :n_classes] = fixed
        one_plane = len(self.planes) == 1  # then |G| = W
        mass = fixed if one_plane else np.rint(np.abs(self.planes).sum(axis=0) * scale)
        return signed, np.abs(mass).astype(np.int64)

    def fixed_root(
        self, samples: Indices
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """G as in `fixed`, the key Σ_k |G_k| of each sample, and the totals of W over some samples."""
        n_samples, n_classes = self.planes.shape[1:]
        signed = np.empty((n_samples, -(-n_classes // 8) * 8), dtype=np.int32)
        keys, totals = np.empty(n_samples, dtype=np.int64), np.empty(n_classes, dtype=np.int64)
        scale = coarse_scale(float(self.totals.max(initial=0.0)))
        kernels.active.fix_weights(
            self.planes, samples, scale, signed, keys, totals, self.n_threads
        )
        return signed, keys, totals

    def advance(
        self,
        scores: Scores,
        regions: Regions,
        outputs: Outputs,
        decided: Labels,
        judge: Judge | None = None,
    ) -> Rates | None:
        """Add the outputs of each sample's region to its scores, and update its weights.

        [REBEL Sec. 3]: w⁺ ← w⁺·e^a, w⁻ ← w⁻·e^−a. At the same time, a power of two scales the totals to
        about 1, so that no relevant weight overflows or underflows. May return the error and the cost of
        the decisions, if it has judged them on the way.
        """
        del judge
        _, shift = math.frexp(float(self.totals.max()))
        unit = math.ldexp(1.0, -shift)
        up, down = portable_exp(outputs) * unit, portable_exp(-outputs) * unit
        bounds = portable_exp(np.abs(outputs).max(axis=0)) * unit * self.totals
        scales = fine_scales(bounds)
        totals = self.stepped(Step(outputs, up, down, scales), scores, regions, decided)
        self.exponent += shift
        self.totals = totals / scales
        if np.any(bounds > LOOSE * self.totals):
            self._total_up()
        return None

    def leaf_outputs(
        self, regions: Regions, plus: Outputs, minus: Outputs, smoothing: float
    ) -> Outputs:
        """The best outputs of a leaf-valued term, from the sums of its regions (`leaf_outputs`)."""
        del regions  # for this loss, the sums are sufficient
        return leaf_outputs(plus, minus, smoothing)

    def signed_output(
        self, regions: Regions, signs: NDArray[np.int8], plus: Outputs, minus: Outputs
    ) -> ByClass:
        """The best output of a ±1 response, from the sums of its regions (`signed_output`)."""
        del regions
        P = (signs[:, np.newaxis] * (plus - minus)).sum(axis=0)
        return signed_output(P, (plus + minus).sum(axis=0))

    def loss_after(
        self, regions: Regions, plus: Outputs, minus: Outputs, outputs: Outputs
    ) -> float:
        """The loss after a term, for comparisons within a round (`loss_after`)."""
        del regions
        return loss_after(plus, minus, outputs)

    def preferences(self, output: ByClass) -> Pairs:
        """Pairs whose signed part is half the gain of f = +1 over −1 for each sample: −⟨G, sinh a⟩."""
        return self.project(-portable_sinh(output), np.ones(len(output)))[0]

    def _total_up(self) -> None:
        """Recompute the totals: first with a scale from an upper bound, then from the sum itself."""
        everywhere = np.zeros(self.n_samples, dtype=np.uint16)
        self.totals = self.largest() * self.n_samples
        for _ in range(2):
            plus, minus = self.sums(everywhere, 1)
            self.totals = plus[0] + minus[0]

    # ---- all that visits the samples

    @property
    def n_samples(self) -> int:
        """Number of samples, N."""
        return self.planes.shape[1]

    def largest(self) -> ByClass:
        """The largest weight of each class."""
        return largest_weights(self.planes)

    def region_sums(self, regions: Regions, n_regions: int, scales: ByClass) -> Ints:
        """(L, 2, K) fixed-point Σ G and Σ W of each region."""
        sums = np.zeros((n_regions, 2, self.planes.shape[2]), dtype=np.int64)
        kernels.active.region_sums(self.planes, regions, scales, sums, self.n_threads)
        return sums

    def projected(self, projection: Projection) -> Pairs:
        """Fixed-point pairs of each sample."""
        values = np.empty(self.planes.shape[1], dtype=np.int64)
        kernels.active.project(self.planes, projection, values, self.n_threads)
        return values

    def stepped(self, step: Step, scores: Scores, regions: Regions, decided: Labels) -> Ints:
        """Change scores and weights by a term; return the (K,) fixed-point totals of the new weights."""
        totals = np.zeros(self.planes.shape[2], dtype=np.int64)
        kernels.active.advance(self.planes, scores, regions, step, totals, decided, self.n_threads)
        return totals


class LocalWeights(Weights):
    """Weights of samples that are all in memory: each step is one kernel call."""

    def advance(
        self,
        scores: Scores,
        regions: Regions,
        outputs: Outputs,
        decided: Labels,
        judge: Judge | None = None,
    ) -> Rates | None:
        """The same, to the bit (`kernels.take_step`)."""
        judged = UNJUDGED if judge is None else judge.for_kernels
        shift, loose, rates = kernels.active.take_step(
            self.planes,
            scores,
            regions,
            outputs,
            self.totals,
            decided,
            judged,
            self.n_threads,
        )
        self.exponent += shift
        if loose:
            self._total_up()
        return rates if len(judged.labels) > 0 else None

    def _total_up(self) -> None:
        """The same, to the bit (`kernels.total_up`)."""
        kernels.active.total_up(self.planes, self.totals, self.n_threads)


def log_total_of(totals: Iterable[float], exponent: int) -> float:
    """Logarithm of the sum of totals times 2^exponent, −∞ if it is 0."""
    total = math.fsum(totals)
    return math.log(total) + exponent * math.log(2) if total > 0 else -math.inf


def largest_weights(planes: Planes) -> ByClass:
    """(K,) the largest weight of each class; 0 without samples."""
    found: ByClass = np.abs(planes).max(axis=(0, 1), initial=0.0)
    return found


@dataclass(frozen=True)
class ExponentialLoss:
    """The exponential loss of a training set."""

    subcosts: Planes
    """(V, N, K): positive entries are c⁺, negative ones −c⁻, times the sample's weight."""
    total_weight: float
    """Sum of the sample weights: losses are means."""
    n_threads: int = 1

    @property
    def n_samples(self) -> int:
        """Number of samples, N."""
        return self.subcosts.shape[1]

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.subcosts.shape[2]

    def bound(self, edge: float) -> float:
        """√(1 − ρ²): largest share of the loss left by a ±1 response of edge ρ [THESIS 4.5.1]."""
        return math.sqrt(max(0.0, 1 - edge**2))

    def weights(self, scores: Scores) -> Weights:
        """Weights w = c·e^{±H}, computed from the scores."""
        exponent = exponent_for(highest_exponent(self.subcosts, scores))
        return LocalWeights(planes_at(self.subcosts, scores, exponent), exponent, self.n_threads)

    def log_loss(self, weights: Totalled) -> float:
        """Logarithm of the mean loss above its floor; −∞ at the floor."""
        return self.log_loss_at(weights.log_total)

    def log_loss_at(self, log_total: float) -> float:
        """The same, given the logarithm of the sum of all weights."""
        return log_mean_loss(log_total, self.total_weight, self.floor)

    @cached_property
    def floor(self) -> float:
        """The minimal mean loss over all scores: Σ 2√(c⁺c⁻), 0 with one plane."""
        if len(self.subcosts) == 1:
            return 0.0
        least = least_exponential(self.subcosts[0], -self.subcosts[1])
        return math.fsum(least.sum(axis=1)) / self.total_weight


def highest_exponent(subcosts: Planes, scores: Scores) -> float:
    """The largest ±H of the scores that have a weight; −∞ if none has."""
    signed_scores = np.where(subcosts > 0, scores, -scores)
    return float(np.max(signed_scores, initial=-math.inf, where=subcosts != 0))


def exponent_for(highest: float) -> int:
    """The power of two that brings all e^{±H} to at most 1."""
    return math.ceil(highest / math.log(2)) if math.isfinite(highest) else 0


def planes_at(subcosts: Planes, scores: Scores, exponent: int) -> Planes:
    """Weights c·e^{±H}·2^−exponent."""
    signed_scores = np.where(subcosts > 0, scores, -scores)
    signed_scores -= exponent * math.log(2)
    factors = portable_exp(np.where(subcosts != 0, signed_scores, 0.0))
    planes: Planes = subcosts * factors
    return planes


def least_exponential(plus: Floats, minus: Floats) -> Floats:
    """min_h c⁺e^h + c⁻e^−h = 2√(c⁺c⁻), elementwise [REBEL S.5]."""
    least: Floats = 2 * np.sqrt(np.abs(plus * minus))
    return least


def log_mean_loss(log_total: float, total_weight: float, floor: float) -> float:
    """Logarithm of the mean loss above its floor, given that of the sum of all weights."""
    return log_above(floor, log_total - math.log(total_weight))


def log_above(floor: float, log_mean: float) -> float:
    """Logarithm of the excess of a mean loss over its floor, given the mean's logarithm; −∞ at the floor."""
    if floor == 0:
        return log_mean
    above = math.exp(log_mean) - floor
    return math.log(above) if above > 0 else -math.inf


def signed_output(P: ByClass, S: ByClass) -> ByClass:
    """a* = ½ ln((S − P)/(S + P)), the best output of a ±1 response [THESIS, Eq. 4.9]."""
    return half_log_ratio(S - P, S + P, CAP * S)


def leaf_outputs(plus: Outputs, minus: Outputs, smoothing: float) -> Outputs:
    """½ ln(s⁻/s⁺) of each leaf, shrunk towards 0 by `smoothing` of the average mass of a leaf."""
    totals = np.add.accumulate(plus + minus, axis=0)[-1]
    return half_log_ratio(minus, plus, max(smoothing / len(plus), CAP) * totals)


def half_log_ratio(above: Floats, below: Floats, smoothing: Floats) -> Floats:
    """½ ln((above + smoothing)/(below + smoothing)); 0 where the weights are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (above + smoothing) / (below + smoothing)
    return np.where(above + below > 0, 0.5 * portable_log(ratio), 0.0)


def loss_after(plus: Outputs, minus: Outputs, outputs: Outputs) -> float:
    """Σ w⁺e^a + w⁻e^−a over all regions and classes."""
    return float((plus * portable_exp(outputs) + minus * portable_exp(-outputs)).sum())
