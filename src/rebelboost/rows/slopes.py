"""Slopes and curvatures of a convex loss, wherever the samples are.

The weights of the exponential loss are multiplied by factors from round to round, and its outputs have a closed
form (`rebelboost.rows.weights`). Other losses are differentiated in every round, and outputs are found by a
line search. Both have the same interface for learners: the signed weight G is the slope, the mass W the
curvature, ⟨P, u⟩²/⟨S, u²⟩ the second-order gain. Sums are in fixed point here too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    ByClass,
    Floats,
    Ints,
    LogisticLine,
    Outputs,
    Pairs,
    Scores,
    SlopeArrays,
)
from rebelboost.base.fixed_point import coarse_scale, fine_scales, in_units
from rebelboost.costs.judge import Rates
from rebelboost.losses.classes import AnyClassLoss, Logistic, class_loss, line_factors
from rebelboost.losses.convex import ConvexLoss, along, largest
from rebelboost.losses.exponential import CAP
from rebelboost.losses.line_search import Derivatives, Precision, rising_root
from rebelboost.losses.regression import AnyRegressionLoss, regression_loss
from rebelboost.model.terms import Terms
from rebelboost.rows.base import Merge, Operation, Rows, added, largest_of
from rebelboost.rows.block import Block, EncodedRows, ScoredRows, in_memory
from rebelboost.rows.replaying import AddTerms, packed_tree
from rebelboost.rows.weights import Weighting, Where, cover_of, judged, region_sums, regions_of

PRECISION = 1e-6
"""Length of the last step, relative to the reach. The error of Newton's method is then about its square."""


# ---- losses of rows


class RowsLoss(Protocol):
    """A convex loss, to be applied to rows."""

    @property
    def baseline(self) -> float | None:
        """What is subtracted from the targets of a regression; None for classes."""

    @property
    def n_outputs(self) -> int:
        """Number of scores of a sample."""

    def of(self, rows: EncodedRows) -> ConvexLoss:
        """The loss of some rows."""

    def of_none(self) -> ConvexLoss:
        """The loss of no rows: it knows how outputs are found."""


@dataclass(frozen=True)
class ClassLoss:
    """A loss for classification other than the exponential."""

    name: AnyClassLoss
    weighting: Weighting

    baseline: ClassVar[float | None] = None

    @property
    def n_outputs(self) -> int:
        """Number of classes."""
        return self.weighting.n_classes

    def of(self, rows: EncodedRows) -> ConvexLoss:
        """The loss of some rows."""
        found: ConvexLoss = class_loss(self.name, self.weighting.subcosts_of(rows))
        return found

    def of_none(self) -> ConvexLoss:
        """The loss of no rows."""
        none = np.empty((self.weighting.n_planes, 0, self.n_outputs))
        found: ConvexLoss = class_loss(self.name, none)
        return found


@dataclass(frozen=True)
class RegressionLoss:
    """A loss for regression."""

    name: AnyRegressionLoss
    delta: float = 1.0
    """Threshold of the Huber loss."""
    baseline: float = 0.0
    """What is subtracted from the targets."""

    n_outputs: ClassVar[int] = 1

    def of(self, rows: EncodedRows) -> ConvexLoss:
        """The loss of some rows."""
        assert rows.target is not None
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        return regression_loss(self.name, rows.target - self.baseline, weight, self.delta)

    def of_none(self) -> ConvexLoss:
        """The loss of no rows."""
        return regression_loss(self.name, np.empty(0), np.empty(0), self.delta)


# ---- numbers of each sample, of which sums are taken


class Quantity(Protocol):
    """Numbers of each sample."""

    def of(self, scored: ScoredRows) -> Floats:
        """(n, m) numbers."""


def loss_of(scored: ScoredRows) -> Any:
    """The loss of the rows."""
    assert scored.loss is not None
    return scored.loss


@dataclass(frozen=True)
class Slope:
    """Slopes and curvatures, (n, 2K): at the scores, or after adding the outputs of each sample's region."""

    outputs: Outputs | None = None

    def of(self, scored: ScoredRows) -> Floats:
        """(n, 2K) numbers."""
        if self.outputs is None:
            return np.concatenate([scored.signed, scored.mass], axis=1)
        stepped = scored.scores + self.outputs[scored.regions]
        return np.concatenate(loss_of(scored).derivatives(stepped), axis=1)


@dataclass(frozen=True)
class Losses:
    """The loss of each score, at the scores or after adding the outputs of each sample's region."""

    outputs: Outputs | None = None

    def of(self, scored: ScoredRows) -> Floats:
        """(n, K) numbers."""
        scores = scored.scores
        if self.outputs is not None:
            scores = scores + self.outputs[scored.regions]
        values: Floats = loss_of(scored).values(scores)
        return values


@dataclass(frozen=True)
class Everything:
    """Slopes, curvatures and losses at the scores; in a regression also w(H − y)² and w(H − y)."""

    baseline: float | None = None
    """Of a regression."""

    def of(self, scored: ScoredRows) -> Floats:
        """(n, 3K) or (n, 3 + 2) numbers."""
        if scored.everything is not None:
            return scored.everything
        found = [Slope().of(scored), Losses().of(scored)]
        if self.baseline is not None:
            rows = scored.rows
            assert rows.target is not None
            distance = scored.scores[:, 0] - (rows.target - self.baseline)
            weight = np.ones(len(rows)) if rows.weight is None else rows.weight
            found += [np.stack([weight * (distance * distance), weight * distance], axis=1)]
        return np.concatenate(found, axis=1)


@dataclass(frozen=True)
class Projected:
    """Slopes along a direction, and curvatures along its squares."""

    direction: ByClass
    squares: ByClass

    def of(self, scored: ScoredRows) -> Floats:
        """(n, 2) numbers."""
        signed, mass = along(scored.signed, self.direction), along(scored.mass, self.squares)
        return np.stack([signed, mass], axis=1)


@dataclass(frozen=True)
class Preferred:
    """Half the gain of a response of +1 over −1, and the curvature."""

    output: ByClass

    def of(self, scored: ScoredRows) -> Floats:
        """(n, 2) numbers."""
        loss, scores, ones = loss_of(scored), scored.scores, np.ones(len(self.output))
        saved = loss.values(scores - self.output) - loss.values(scores + self.output)
        return np.stack([along(saved, ones / 2), along(scored.mass, ones)], axis=1)


@dataclass(frozen=True)
class Pulls:
    """Σ |c·p| of the logistic loss over its planes."""

    def of(self, scored: ScoredRows) -> Floats:
        """(n, K) numbers."""
        odds = logistic_odds(scored)
        pulls: Floats = (np.abs(loss_of(scored).subcosts) * (odds / (1 + odds))).sum(axis=0)
        return pulls


@dataclass(frozen=True)
class SubcostSizes:
    """Σ |c| of the logistic loss over its planes."""

    def of(self, scored: ScoredRows) -> Floats:
        """(n, K) numbers."""
        sizes: Floats = np.abs(loss_of(scored).subcosts).sum(axis=0)
        return sizes


def logistic_odds(scored: ScoredRows) -> Floats:
    """(V, n, K) the odds at the scores, until they change."""
    if scored.odds is None:
        loss = loss_of(scored)
        assert isinstance(loss, Logistic)
        scored.odds = loss.odds(scored.scores)
    return scored.odds


@dataclass(frozen=True)
class OfQuantity:
    """Makes a pair of each sample, of which trees are grown: the two numbers of a quantity in fixed point."""

    quantity: Quantity
    signed_scale: float
    mass_scale: float

    def pairs(self, scored: ScoredRows, n_threads: int) -> Pairs:
        """(n,) pairs."""
        del n_threads
        signed, mass = self.quantity.of(scored).T
        pairs: Pairs = np.rint(signed * self.signed_scale).astype(np.int64) << 32
        return pairs + np.rint(mass * self.mass_scale).astype(np.int64)


# ---- operations


@dataclass(frozen=True)
class StartSlopes:
    """Set the scores to 0, and differentiate the loss there."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = True
    loss: RowsLoss
    unit: float
    """Unit of the counted weights."""
    held: bool = False

    def apply(self, block: Block) -> tuple[int]:
        """Answer the number of rows."""
        scored = block.scored(held=self.held)
        if self.held:
            scored.rows.X = in_memory(scored.rows.X)
        n_rows, kind = len(scored.rows), "held" if self.held else "train"
        shape = (n_rows, self.loss.n_outputs)
        scored.loss = self.loss.of(scored.rows)
        scored.scores = block.array(f"scores-{kind}", shape, np.float64)
        scored.signed = block.array(f"signed-{kind}", shape, np.float64)
        scored.mass = block.array(f"mass-{kind}", shape, np.float64)
        scored.decided = np.zeros(n_rows, dtype=np.int32)
        scored.regions = np.zeros(n_rows, dtype=np.uint16)
        if block.given is None and scored.rows.weight is not None:
            scored.counted = in_units(scored.rows.weight, self.unit)
        differentiate(scored)
        return (n_rows,)


def differentiate(scored: ScoredRows) -> None:
    """Compute slopes and curvatures at the scores."""
    scored.odds = scored.everything = None
    scored.signed[:], scored.mass[:] = loss_of(scored).derivatives(scored.scores)


@dataclass(frozen=True)
class LargestOf:
    """Find the largest absolute numbers of a quantity."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    quantity: Quantity
    held: bool = False
    where: Where | None = None
    """The regions that the quantity depends on, if any."""

    def apply(self, block: Block) -> tuple[ByClass]:
        """Answer (m,) the largest."""
        if self.where is not None:
            block.place(self.where)
        return (largest(self.quantity.of(block.scored(held=self.held))),)


@dataclass(frozen=True)
class SumsOf:
    """Sum up a quantity over all samples."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    quantity: Quantity
    scales: ByClass
    held: bool = False

    def apply(self, block: Block) -> tuple[Ints]:
        """Answer (1, 2, m) sums of the numbers, and of their absolute values."""
        scored = block.scored(held=self.held)
        everywhere = np.zeros(len(scored.rows), dtype=np.uint16)
        values = np.ascontiguousarray(self.quantity.of(scored))[np.newaxis]
        return (region_sums(values, everywhere, 1, self.scales, block.n_threads),)


@dataclass(frozen=True)
class LeafSumsOf:
    """Sum up a quantity over the samples of each region of a term."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    quantity: Quantity
    scales: ByClass
    where: Where
    n_regions: int

    def apply(self, block: Block) -> tuple[Ints, Ints]:
        """Answer (L, 2, m) sums, and (L,) counted weights of the samples (`cover_of`)."""
        regions = block.place(self.where)
        values = np.ascontiguousarray(self.quantity.of(block.scored(held=False)))[np.newaxis]
        sums = region_sums(values, regions, self.n_regions, self.scales, block.n_threads)
        return sums, cover_of(block, regions, self.n_regions)


@dataclass(frozen=True)
class LogisticSums:
    """Sum up slopes and curvatures of the logistic loss after outputs were added (kernels.logistic_sums)."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    up: Outputs
    down: Outputs
    scales: ByClass
    where: Where

    def apply(self, block: Block) -> tuple[Ints]:
        """Answer (L, 2, K) sums."""
        scored, regions = block.scored(held=False), block.place(self.where)
        sums = np.zeros((len(self.up), 2, self.up.shape[1]), dtype=np.int64)
        subcosts, odds = loss_of(scored).subcosts, logistic_odds(scored)
        line = LogisticLine(subcosts, odds, self.up, self.down, self.scales)
        kernels.active.logistic_sums(line, regions, sums, block.n_threads)
        return (sums,)


def added_and_largest(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Sums of the blocks' integers and, as the last item, the largest of their numbers."""
    return *added([answer[:-1] for answer in answers]), *largest_of([a[-1:] for a in answers])


@dataclass(frozen=True)
class AdvanceSlopes:
    """Add a term to the scores, and differentiate there."""

    merge: ClassVar[Merge] = added_and_largest
    lasting: ClassVar[bool] = True
    outputs: Outputs
    quantity: Quantity
    """What is summed up next."""
    weighting: Weighting | None
    """How decisions are judged; None in a regression."""
    where: Where | Terms
    """What finds the region of each row; the term itself, for rows that are held out."""
    held: bool = False

    def apply(self, block: Block) -> tuple[Ints, Ints, ByClass]:
        """Answer what the decisions get wrong and cost (`judged`), and the largest of the quantity."""
        scored = block.scored(held=self.held)
        scored.scores += self.outputs[regions_of(block, self.where, held=self.held)]
        if scored.scores.shape[1] > 1 and len(scored.rows):
            scored.decided[:] = np.argmax(scored.scores, axis=1)
        differentiate(scored)
        values = self.quantity.of(scored)
        most = largest(values)
        if block.given is not None:
            scored.everything = values
        if self.weighting is None or block.given is not None:
            return np.zeros((1, 1), dtype=np.int64), np.zeros(1, dtype=np.int64), most
        return *judged(scored, self.weighting), most

    def condensed(self, kept: list[Operation]) -> list[Operation]:
        """Add the term together with those before it: slopes follow from the scores."""
        term = (packed_tree(self.where), self.outputs)
        before = [o for o in kept if isinstance(o, AddTerms) and o.held == self.held]
        others = [o for o in kept if not (isinstance(o, AddTerms) and o.held == self.held)]
        terms = before[0].terms if before else ()
        return [*others, AddTerms((*terms, term), self.held)]


# ---- slopes


class Slopes:
    """Slopes and curvatures of a loss at the scores, with the interface of `Weights`."""

    second_order = True
    """True: stumps are ranked by their second-order gain."""

    def __init__(self, rows: Rows, of: "ConvexRowsLoss") -> None:
        self.rows, self.of, self.alone, self.held = rows, of, rows.alone, of.held
        self._scored = None if rows.alone is None else rows.alone.scored(held=of.held)
        self.n_samples, self.n_outputs = of.n_samples, of.loss.n_outputs
        self.n_threads = 1 if self.alone is None else self.alone.n_threads
        self.loss: ConvexLoss = of.loss.of_none() if self.alone is None else loss_of(self.scored)
        self.cover: Ints = np.zeros(1, dtype=np.int64)
        """(L,) counted weight of the samples in each region that was summed last."""
        self._most: ByClass | None = None
        self._pulls: ByClass | None = None
        self._everything = Everything(of.loss.baseline)
        (most,) = rows.ask(LargestOf(self._everything, self.held))
        self._sum_up(most)

    def _sum_up(self, most: ByClass) -> Rates | None:
        """Sum up all that is known of samples; in a regression, return what scores are judged by."""
        self._leaves: tuple[Where, Ints] | None = None
        self._pulls = None
        n, sizes = self.n_outputs, self._sums(self._everything, most)
        self._largest: ByClass | None = most[: 2 * n]
        self._signed_size: ByClass | None = sizes[:n]
        self.totals: ByClass = sizes[n : 2 * n]
        total = math.fsum(sizes[2 * n : 3 * n])
        self.log_total = math.log(total) if total > 0 else -math.inf
        if len(sizes) == 3 * n:
            return None
        squared, absolute = sizes[3 * n :].tolist()
        return math.sqrt(squared / self.of.counted), absolute / self.of.counted

    def _sums(self, quantity: Quantity, most: ByClass) -> ByClass:
        """(m,) sums of absolute numbers, given the largest."""
        scales = fine_scales(most * self.n_samples)
        (sums,) = self.rows.ask(SumsOf(quantity, scales, self.held))
        found: ByClass = sums[0, 1] / scales
        return found

    def _sizes(self, quantity: Quantity, where: Where | None = None) -> ByClass:
        (most,) = self.rows.ask(LargestOf(quantity, self.held, where))
        return self._sums(quantity, most)

    @property
    def signed_size(self) -> ByClass:
        """(K,) Σ_n |slope|."""
        if self._signed_size is None:
            self._signed_size = self._sizes(Slope())[: self.n_outputs]
        return self._signed_size

    # ---- growing a tree

    def projection(self, direction: ByClass, squares: ByClass) -> tuple[OfQuantity, float]:
        """What makes fixed-point pairs: signed ⟨G, direction⟩ and mass ⟨W, squares⟩; see `Weights`."""
        quantity = Projected(direction, squares)
        if self.n_outputs == 1 and direction[0] == squares[0] == 1:  # as in every regression
            return self._paired(quantity, np.append(self.signed_size, self.totals))
        return self._paired(quantity, self._sizes(quantity))

    def preference(self, output: ByClass) -> OfQuantity:
        """Pairs whose signed part is half the gain of f = +1 over −1 for each sample."""
        quantity = Preferred(output)
        return self._paired(quantity, self._sizes(quantity))[0]

    def _paired(self, quantity: Quantity, sizes: ByClass) -> tuple[OfQuantity, float]:
        signed, mass = sizes.tolist()
        pairing = OfQuantity(quantity, coarse_scale(signed), coarse_scale(mass))
        return pairing, float(mass * pairing.mass_scale)

    # ---- sums over regions

    def sums(self, where: Where, n_regions: int) -> tuple[Outputs, Outputs]:
        """Sums of the positive and of the negative slopes of each region, (L, K) each."""
        n, sums = self.n_outputs, self._leaf_sums(where, n_regions)
        signed, size = (sums[:, i, :n] / self._scales[:n] for i in (0, 1))
        return (size + signed) / 2, (size - signed) / 2

    def region_derivatives(self, where: Where, outputs: Outputs) -> tuple[Outputs, Outputs]:
        """Sums of slopes and of curvatures of each region, (L, K) each, after adding the outputs."""
        if np.any(outputs):
            return self.loss.sums_along(self, where, outputs)
        found: Floats = self._leaf_sums(where, len(outputs))[:, 0] / self._scales
        return found[:, : self.n_outputs], found[:, self.n_outputs :]

    def sums_at(self, where: Where, outputs: Outputs) -> tuple[Outputs, Outputs]:
        """The same, computed by differentiating at the scores plus outputs."""
        quantity = Slope(outputs)
        (most,) = self.rows.ask(LargestOf(quantity, where=where))
        scales = fine_scales(most * self.n_samples)
        sums, _ = self.rows.ask(LeafSumsOf(quantity, scales, where, len(outputs)))
        found: Floats = sums[:, 0] / scales
        return found[:, : self.n_outputs], found[:, self.n_outputs :]

    def sums_by_odds(self, where: Where, outputs: Outputs) -> tuple[Outputs, Outputs]:
        """The same for the logistic loss, whose odds are multiplied instead of computing exponentials again."""
        if self._most is None:
            (self._most,) = self.rows.ask(LargestOf(SubcostSizes()))
        if self._pulls is None:
            (self._pulls,) = self.rows.ask(LargestOf(Pulls()))
        assert self._most is not None
        assert self._pulls is not None
        n = self.n_samples
        up, down, scales = line_factors(outputs, self._most * n, self._pulls * n)
        (sums,) = self.rows.ask(LogisticSums(up, down, scales, where))
        units = scales * math.log(2)
        return sums[:, 0] / units, sums[:, 1] / units

    @property
    def _scales(self) -> ByClass:
        if self._largest is None:
            (self._largest,) = self.rows.ask(LargestOf(Slope(), self.held))
        assert self._largest is not None
        return fine_scales(self._largest * self.n_samples)

    def _leaf_sums(self, where: Where, n_regions: int) -> Ints:
        """(L, 2, 2K) sums of slopes and curvatures."""
        if self._leaves is None or self._leaves[0] is not where:
            operation = LeafSumsOf(Slope(), self._scales, where, n_regions)
            sums, self.cover = self.rows.ask(operation)
            self._leaves = where, sums
        return self._leaves[1]

    # ---- outputs

    def leaf_outputs(
        self, where: Where, plus: Outputs, minus: Outputs, smoothing: float
    ) -> Outputs:
        """The best outputs of a leaf-valued term, shrunk by `smoothing` of a leaf's average mass."""
        del minus  # the line search needs sums at other scores
        ridge = np.maximum(smoothing / len(plus), CAP) * self.totals
        return self.loss.leaf_outputs(self, where, np.broadcast_to(ridge, plus.shape))

    def signed_output(
        self, where: Where, signs: NDArray[np.int8], plus: Outputs, minus: Outputs
    ) -> ByClass:
        """The best output of a ±1 response, for each class, by a line search on all samples."""
        del plus, minus
        by_region = signs[:, np.newaxis].astype(np.float64)
        ridge = CAP * self.totals

        def at(a: ByClass) -> tuple[ByClass, ByClass]:
            signed, mass = self.region_derivatives(where, by_region * a)
            return (by_region * signed).sum(axis=0) + ridge * a, mass.sum(axis=0) + ridge

        return self._least(at, np.zeros(len(self.totals)))

    def best_outputs(self, where: Where, ridge: Floats) -> Outputs:
        """Outputs by line search; `ridge` is (L, K)."""

        def at(a: Outputs) -> tuple[Outputs, Outputs]:
            signed, mass = self.region_derivatives(where, a)
            return signed + ridge * a, mass + ridge

        return self._least(at, np.zeros(ridge.shape))

    def _least(self, derivatives: Derivatives, start: Floats) -> Floats:
        """The minima of convex functions.

        The first step is limited to the reach of the loss, over which its curvature may change substantially,
        and the next ones to 2, 4, … times the reach.
        """
        reach = self.loss.reach
        return rising_root(derivatives, start, Precision(reach, growth=2.0, step=PRECISION * reach))

    def loss_after(self, where: Where, plus: Outputs, minus: Outputs, outputs: Outputs) -> float:
        """The loss after a term, for comparisons within a round."""
        del plus, minus
        return math.fsum(self._sizes(Losses(outputs), where))

    # ---- a term

    def advance(self, where: Where | Terms, outputs: Outputs) -> Rates:
        """Add a term to the scores, and differentiate there."""
        step = getattr(self.loss, "take_step", None)
        if self.alone is not None and step is not None:
            regions = regions_of(self.alone, where, held=self.held)
            squared, absolute = step(self.scored.scores, regions, outputs, self.scored.signed)
            self._leaves = self._largest = self._signed_size = None
            self.log_total = math.log(squared) if squared > 0 else -math.inf
            return math.sqrt(squared / self.of.counted), absolute / self.of.counted
        operation = AdvanceSlopes(outputs, self._everything, self.of.weighting, where, self.held)
        confusion, paid, most = self.rows.ask(operation)
        found = self._sum_up(most)
        if found is not None:
            return found
        if self.alone is not None:
            assert self.scored.judge is not None
            return self.scored.judge.judge(self.scored.decided)
        assert self.of.weighting is not None
        return self.of.weighting.rates(confusion, paid)

    # ---- one block in memory

    @property
    def scored(self) -> ScoredRows:
        """The samples of one block in memory."""
        assert self._scored is not None
        return self._scored

    @property
    def scores(self) -> Scores:
        """(N, K) the scores."""
        return self.scored.scores

    @property
    def signed(self) -> Floats:
        """(N, K) slopes."""
        return self.scored.signed

    @property
    def mass(self) -> Floats:
        """(N, K) curvatures."""
        return self.scored.mass

    @property
    def arrays(self) -> SlopeArrays:
        """The arrays that the kernels take."""
        return SlopeArrays(self.signed, self.mass, self.totals)

    @property
    def is_parabola(self) -> bool:
        """Whether the loss is a parabola of the scores of one block: a tree is proposed in one kernel call."""
        return self.alone is not None and getattr(self.loss, "is_parabola", False)

    def project(self, direction: ByClass, squares: ByClass) -> tuple[Pairs, float]:
        """Fixed-point pairs of each sample, and the sum of their masses (`projection`)."""
        pairing, mass = self.projection(direction, squares)
        return pairing.pairs(self.scored, self.n_threads), mass

    def fixed(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """G as (N, K padded to a multiple of 8) integers, and W as integers: sums of each ≤ 2³⁰."""
        n_samples, n_classes = self.signed.shape
        scale = coarse_scale(float(self.signed_size.max(initial=0.0)))
        signed = np.zeros((n_samples, -(-n_classes // 8) * 8), dtype=np.int32)
        signed[:, :n_classes] = np.rint(self.signed * scale)
        scale = coarse_scale(float(self.totals.max(initial=0.0)))
        return signed, np.rint(self.mass * scale).astype(np.int64)


@dataclass(frozen=True)
class ConvexRowsLoss:
    """A convex loss, and what is known of all rows that it is applied to."""

    loss: RowsLoss
    n_samples: int
    counted: float
    """Sum of the counted weights."""
    weighting: Weighting | None = None
    """How decisions are judged; None in a regression."""
    held: bool = False
