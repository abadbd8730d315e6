"""Boosting weights of the exponential loss, wherever the samples are.

`Weights` computes on the answers of blocks; what visits samples is an operation. On one block in memory, a step
is one kernel call, to the same bits.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    ByClass,
    Floats,
    Indices,
    Ints,
    Layer,
    Outputs,
    Pairs,
    Planes,
    Projection,
    Regions,
    Step,
)
from rebelboost.base.fixed_point import coarse_scale, exact_parts, fine_scales, in_order, in_units
from rebelboost.costs.judge import Rates, confusion_of, error_of, rates, weighed
from rebelboost.kernels.elementary import portable_exp, portable_sinh
from rebelboost.losses.classes import AnyClassLoss, least_losses
from rebelboost.losses.exponential import (
    LOOSE,
    SUBCOSTS,
    exponent_for,
    highest_exponent,
    largest_weights,
    leaf_outputs,
    log_total_of,
    loss_after,
    planes_at,
    signed_output,
)
from rebelboost.model.terms import Queries, Terms
from rebelboost.rows.base import Merge, Operation, Rows, added, all_items, largest_of
from rebelboost.rows.block import Block, EncodedRows, ScoredRows, in_memory
from rebelboost.rows.replaying import AddTerms, packed_tree

AT_ONCE = 1 << 16
"""Rows whose weights are computed at a time."""

Where = Regions | Layer
"""The region of each sample; or a tree, as splits on bins, whose leaves blocks find themselves."""


@dataclass(frozen=True)
class Weighting:
    """How rows get their weights from costs, and how decisions on them are judged."""

    costs: Floats | None
    """(K, K) by class, scaled; None: by sample."""
    shift: int
    """Costs by sample are divided by two to this power."""
    subcosts: str
    n_classes: int
    judged_by: Floats
    """(K, K) costs of decisions."""
    unit: float
    """Unit of the counted weights."""
    paid_unit: float
    """Unit of costs by sample times weights."""
    pays: bool
    """Whether decisions are judged by costs by sample."""

    @property
    def n_planes(self) -> int:
        """Number of planes of weights, V."""
        return 2 if self.subcosts == "rebel" else 1

    def subcosts_of(self, rows: EncodedRows) -> Planes:
        """(V, n, K) weights at scores of 0."""
        if self.costs is not None:
            costs = self.costs[rows.labels]
        else:
            assert rows.costs is not None
            costs = np.ldexp(rows.costs, -self.shift)
        planes = SUBCOSTS[self.subcosts](costs, rows.labels)
        if rows.weight is not None:
            planes *= rows.weight[:, np.newaxis]
        return planes

    def rates(self, confusion: Ints, paid: Ints) -> Rates:
        """Error and mean cost, from what blocks have counted (`judged`)."""
        counted = confusion.astype(np.float64)
        if not self.pays:
            return rates(counted, self.judged_by)
        total = counted.sum() * self.unit
        return error_of(counted), float(paid[0] * self.paid_unit / total)


def judged(scored: ScoredRows, weighting: Weighting) -> tuple[Ints, Ints]:
    """(K, K) confusion in units of weight, and what decisions cost in units, if costs are by sample."""
    rows, decided = scored.rows, scored.decided
    confusion = confusion_of(rows.labels, decided, weighting.n_classes, scored.counted)
    paid = 0.0
    if rows.costs is not None and weighting.pays:
        chosen = rows.costs[np.arange(len(decided)), decided]
        paid = in_units(weighed(chosen, rows.weight), weighting.paid_unit).sum()
    return confusion.astype(np.int64), np.array([paid]).astype(np.int64)


# ---- operations


@dataclass(frozen=True)
class Start:
    """Set the scores to 0."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = True
    weighting: Weighting
    held: bool = False

    def apply(self, block: Block) -> tuple[int]:
        """Answer the number of rows."""
        scored, weighting = block.scored(held=self.held), self.weighting
        if self.held:
            scored.rows.X = in_memory(scored.rows.X)
        n_rows, n_classes = len(scored.rows), weighting.n_classes
        scored.scores = block.array("scores", (n_rows, n_classes), np.float64)
        shape = (weighting.n_planes, n_rows, n_classes)
        scored.planes = block.array("planes", shape, np.float64)
        scored.decided = np.zeros(n_rows, dtype=np.int32)
        scored.regions = np.zeros(n_rows, dtype=np.uint16)
        if block.given is not None:
            scored.subcosts = weighting.subcosts_of(scored.rows)
        elif scored.rows.weight is not None:
            scored.counted = in_units(scored.rows.weight, weighting.unit)
        return (n_rows,)


def _pieces(scored: ScoredRows, weighting: Weighting) -> Any:
    """Rows in pieces with their subcosts, so that what is computed of them takes little memory."""
    for first in range(0, len(scored.rows), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        yield some, weighting.subcosts_of(scored.rows.take(some))


@dataclass(frozen=True)
class Highest:
    """Find the largest exponent ±H of the scores."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    weighting: Weighting
    held: bool = False

    def apply(self, block: Block) -> tuple[float]:
        """Answer it."""
        scored = block.scored(held=self.held)
        if scored.subcosts is not None:
            return (highest_exponent(scored.subcosts, scored.scores),)
        found = [
            highest_exponent(subcosts, scored.scores[some])
            for some, subcosts in _pieces(scored, self.weighting)
        ]
        return (max(found, default=-math.inf),)


@dataclass(frozen=True)
class Reweigh:
    """Compute the weights from the scores."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = True
    weighting: Weighting
    exponent: int
    held: bool = False

    def apply(self, block: Block) -> tuple[ByClass]:
        """Answer the largest weight of each class."""
        scored = block.scored(held=self.held)
        if scored.subcosts is not None:  # nobody asks for the largest
            scored.planes[...] = planes_at(scored.subcosts, scored.scores, self.exponent)
            return (np.zeros(0),)
        largest = np.zeros(self.weighting.n_classes)
        for some, subcosts in _pieces(scored, self.weighting):
            planes = planes_at(subcosts, scored.scores[some], self.exponent)
            scored.planes[:, some] = planes
            largest = np.maximum(largest, largest_weights(planes))
        return (largest,)

    def condensed(self, kept: list[Operation]) -> list[Operation]:
        """Add all terms so far at once: weights follow from the scores."""
        others: list[Operation] = []
        terms: list[tuple[Any, Outputs]] = []
        for operation in kept:
            if isinstance(operation, AddTerms) and operation.held == self.held:
                terms += operation.terms
            elif isinstance(operation, Advance) and operation.held == self.held:
                terms.append((packed_tree(operation.where), operation.step.outputs))
            elif not (isinstance(operation, Reweigh) and operation.held == self.held):
                others.append(operation)
        return [*others, AddTerms(tuple(terms), self.held), self]


@dataclass(frozen=True)
class Largest:
    """Find the largest weight of each class."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    held: bool = False

    def apply(self, block: Block) -> tuple[ByClass]:
        """Answer it."""
        return (largest_weights(block.scored(held=self.held).planes),)


@dataclass(frozen=True)
class Totals:
    """Sum all weights."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    scales: ByClass
    held: bool = False

    def apply(self, block: Block) -> tuple[Ints]:
        """Answer (1, 2, K) sums."""
        scored = block.scored(held=self.held)
        everywhere = np.zeros(len(scored.rows), dtype=np.uint16)
        return (region_sums(scored.planes, everywhere, 1, self.scales, block.n_threads),)


@dataclass(frozen=True)
class Leaves:
    """Sum the weights of each region of a term."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    where: Where
    n_regions: int
    scales: ByClass

    def apply(self, block: Block) -> tuple[Ints, Ints]:
        """Answer (L, 2, K) sums, and (L,) counted weights of the samples, unless the block is alone."""
        scored, regions = block.scored(held=False), block.place(self.where)
        sums = region_sums(scored.planes, regions, self.n_regions, self.scales, block.n_threads)
        return sums, cover_of(block, regions, self.n_regions)


def cover_of(block: Block, regions: Regions, n_regions: int) -> Ints:
    """(L,) counted weight of the rows in each region; 0 on one block, where the learner counts it."""
    if block.given is not None:
        return np.zeros(1, dtype=np.int64)
    counted = block.scored(held=False).counted
    return np.bincount(regions, counted, n_regions).astype(np.int64)


@dataclass(frozen=True)
class Advance:
    """Add a term to the scores, and change the weights accordingly."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = True
    step: Step
    weighting: Weighting
    where: Where | Terms
    """What finds the region of each row; the term itself, for rows that are held out."""
    held: bool = False

    def apply(self, block: Block) -> tuple[Ints, Ints, Ints]:
        """Answer the totals of the weights, and what the decisions get wrong and cost (`judged`)."""
        scored = block.scored(held=self.held)
        regions = regions_of(block, self.where, held=self.held)
        totals = np.zeros(self.weighting.n_classes, dtype=np.int64)
        kernels.active.advance(
            scored.planes,
            scored.scores,
            regions,
            self.step,
            totals,
            scored.decided,
            block.n_threads,
        )
        return totals, *judged(scored, self.weighting)


def regions_of(block: Block, where: Where | Terms, *, held: bool) -> Regions:
    """(n,) the region of each training row, or of each row that is held out."""
    if isinstance(where, Terms):
        scored = block.scored(held=held)
        queries = Queries(in_memory(scored.rows.X), known_means=scored.level_means)
        scored.regions = where.regions(queries, block.n_threads)
        block.placed = None
        return scored.regions
    return block.place(where)


@dataclass(frozen=True)
class LeastLosses:
    """Sum up the minimal loss of each sample, over all scores."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    loss: AnyClassLoss
    weighting: Weighting
    held: bool = False

    def apply(self, block: Block) -> list[float]:
        """Answer parts of the exact sum."""
        subcosts = self.weighting.subcosts_of(block.scored(held=self.held).rows)
        return exact_parts(least_losses(self.loss, subcosts).ravel().tolist())


def region_sums(
    planes: Planes, regions: Regions, n_regions: int, scales: ByClass, n_threads: int
) -> Ints:
    """(L, 2, K) fixed-point sums of the planes, and of their absolute values, in each region."""
    sums = np.zeros((n_regions, 2, planes.shape[2]), dtype=np.int64)
    kernels.active.region_sums(planes, regions, scales, sums, n_threads)
    return sums


@dataclass(frozen=True)
class OfWeights:
    """Makes a pair of each sample, of which trees are grown: projections of its weights."""

    projection: Projection

    def pairs(self, scored: ScoredRows, n_threads: int) -> Pairs:
        """(n,) pairs."""
        values = np.empty(scored.planes.shape[1], dtype=np.int64)
        kernels.active.project(scored.planes, self.projection, values, n_threads)
        return values


# ---- weights


class Weights:
    """Boosting weights of all samples, w⁺ and w⁻, times 2^−exponent.

    `advance` updates them after each round, by one factor per region. Made anew, they are computed from the
    scores. Sums over samples are in fixed point, so the order of the samples does not matter.
    """

    second_order = False
    """False: stumps are ranked by the loss itself, which has a closed form."""

    def __init__(
        self, rows: Rows, weighting: Weighting, n_samples: int, *, held: bool = False
    ) -> None:
        self.rows, self.weighting, self.held, self.n_samples = rows, weighting, held, n_samples
        self.alone = rows.alone
        self._scored = None if rows.alone is None else rows.alone.scored(held=held)
        self.n_threads = 1 if self.alone is None else self.alone.n_threads
        self.cover: Ints = np.zeros(1, dtype=np.int64)
        """(L,) counted weight of the samples in each region that was summed last."""
        self.totals: ByClass = np.zeros(weighting.n_classes)
        self._reweigh()

    def _reweigh(self) -> None:
        """Compute the weights from the scores."""
        weighting, held = self.weighting, self.held
        (highest,) = self.rows.ask(Highest(weighting, held))
        self.exponent = exponent_for(float(highest))
        (self._largest,) = self.rows.ask(Reweigh(weighting, self.exponent, held))
        self._total_up()

    @property
    def log_total(self) -> float:
        """Logarithm of the sum of all weights, −∞ if it is 0."""
        return log_total_of(self.totals, self.exponent)

    def sums(self, where: Where, n_regions: int) -> tuple[Outputs, Outputs]:
        """Σ w⁺ and Σ w⁻ of each region, (L, K) each."""
        scales = fine_scales(self.totals)
        sums, self.cover = self.rows.ask(Leaves(where, n_regions, scales))
        return _both(sums, scales)

    def projection(self, direction: ByClass, squares: ByClass) -> tuple[OfWeights, float]:
        """What makes fixed-point pairs of each sample: signed ⟨G, direction⟩ and mass ⟨W, squares⟩.

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
        return OfWeights(projection), mass * projection.mass_scale

    def preference(self, output: ByClass) -> OfWeights:
        """Pairs whose signed part is half the gain of f = +1 over −1 for each sample: −⟨G, sinh a⟩."""
        return self.projection(-portable_sinh(output), np.ones(len(output)))[0]

    def advance(self, where: Where | Terms, outputs: Outputs) -> Rates:
        """Add the outputs of each sample's region to its scores, and update its weights.

        [REBEL Sec. 3]: w⁺ ← w⁺·e^a, w⁻ ← w⁻·e^−a. At the same time, a power of two scales the totals to
        about 1, so that no relevant weight overflows or underflows. Returns the error and the cost of the
        decisions.
        """
        if isinstance(where, Terms) and not where.has_regions:
            return self._advance_exactly(where, outputs)
        if self.alone is not None:
            return self._advance_alone(where, outputs)
        _, shift = math.frexp(float(self.totals.max()))
        unit = math.ldexp(1.0, -shift)
        up, down = portable_exp(outputs) * unit, portable_exp(-outputs) * unit
        bounds = portable_exp(np.abs(outputs).max(axis=0)) * unit * self.totals
        scales = fine_scales(bounds)
        step = Step(outputs, up, down, scales)
        totals, confusion, paid = self.rows.ask(Advance(step, self.weighting, where, self.held))
        self._largest = None
        self.exponent += shift
        self.totals = totals / scales
        if np.any(bounds > LOOSE * self.totals):
            self._total_up()
        return self.weighting.rates(confusion, paid)

    def leaf_outputs(
        self, where: Where, plus: Outputs, minus: Outputs, smoothing: float
    ) -> Outputs:
        """The best outputs of a leaf-valued term, from the sums of its regions (`leaf_outputs`)."""
        del where  # for this loss, the sums are sufficient
        return leaf_outputs(plus, minus, smoothing)

    def signed_output(
        self, where: Where, signs: NDArray[np.int8], plus: Outputs, minus: Outputs
    ) -> ByClass:
        """The best output of a ±1 response, from the sums of its regions (`signed_output`)."""
        del where
        P = (signs[:, np.newaxis] * (plus - minus)).sum(axis=0)
        return signed_output(P, (plus + minus).sum(axis=0))

    def loss_after(self, where: Where, plus: Outputs, minus: Outputs, outputs: Outputs) -> float:
        """The loss after a term, for comparisons within a round (`loss_after`)."""
        del where
        return loss_after(plus, minus, outputs)

    def _total_up(self) -> None:
        """Recompute the totals: first with a scale from an upper bound, then from the sum itself."""
        if self.alone is not None:
            kernels.active.total_up(self.planes, self.totals, self.n_threads)
            return
        if self._largest is None:
            (self._largest,) = self.rows.ask(Largest(self.held))
        self.totals = self._largest * self.n_samples
        for _ in range(2):
            scales = fine_scales(self.totals)
            (sums,) = self.rows.ask(Totals(scales, self.held))
            plus, minus = _both(sums, scales)
            self.totals = plus[0] + minus[0]

    # ---- one block in memory

    @property
    def scored(self) -> ScoredRows:
        """The samples of one block in memory."""
        assert self._scored is not None
        return self._scored

    @property
    def planes(self) -> Planes:
        """(V, N, K) the weights: w⁺, and −w⁻."""
        return self.scored.planes

    def _advance_alone(self, where: Where | Terms, outputs: Outputs) -> Rates:
        """The same in one kernel call, to the bit (`kernels.take_step`)."""
        assert self.alone is not None
        scored = self.scored
        assert scored.judge is not None
        by_kernel = scored.judge.for_kernels
        shift, loose, found = kernels.active.take_step(
            scored.planes,
            scored.scores,
            regions_of(self.alone, where, held=self.held),
            outputs,
            self.totals,
            scored.decided,
            by_kernel,
            self.n_threads,
        )
        self.exponent += shift
        if loose:
            self._total_up()
        return found if len(by_kernel.labels) else scored.judge.judge(scored.decided)

    def _advance_exactly(self, term: Terms, outputs: Outputs) -> Rates:
        """Add f times the output to the scores, and compute the weights from these."""
        scored = self.scored
        assert scored.judge is not None
        f = term.response(Queries(in_memory(scored.rows.X)), self.n_threads)
        scored.scores += f[:, np.newaxis] * outputs
        scored.decided[:] = scored.scores.argmax(axis=1)
        self._reweigh()
        return scored.judge.judge(scored.decided)

    @property
    def signed(self) -> Floats:
        """G = w⁺ − w⁻, (N, K)."""
        return self.planes[0] if len(self.planes) == 1 else self.planes.sum(axis=0)

    def project(self, direction: ByClass, squares: ByClass) -> tuple[Pairs, float]:
        """Fixed-point pairs of each sample, and the sum of their masses (`projection`)."""
        pairing, mass = self.projection(direction, squares)
        return pairing.pairs(self.scored, self.n_threads), mass

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


def _both(sums: Ints, scales: ByClass) -> tuple[Outputs, Outputs]:
    """Σ w⁺ and Σ w⁻ from fixed-point Σ G and Σ W."""
    signed, mass = sums[:, 0], sums[:, 1]
    return (mass + signed) / (2 * scales), (mass - signed) / (2 * scales)
