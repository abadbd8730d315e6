"""Commands of a round for losses that are differentiated in every round (`rebelboost.losses.smooth`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, Floats, Ints, Layer, LogisticLine, Outputs
from rebelboost.base.exact_sums import exact_parts
from rebelboost.base.fixed_point import in_units
from rebelboost.distributed.file_rows import in_memory
from rebelboost.distributed.parts import RowPart, ScoredRows
from rebelboost.distributed.quantities import PartLoss, Quantity, logistic_odds, loss_of
from rebelboost.distributed.replaying import AddTerms, packed_term
from rebelboost.distributed.routing import route
from rebelboost.distributed.seam import Command, Merge, added, all_items, largest_of
from rebelboost.distributed.steps import Weighting, judged
from rebelboost.losses.classes import FAMILY, Logistic
from rebelboost.losses.exponential import least_exponential
from rebelboost.model.queries import Queries
from rebelboost.model.terms import Terms


@dataclass(frozen=True)
class StartSlopes:
    """Set the scores to 0, and differentiate the loss there."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = True
    loss: PartLoss
    unit: float
    """Unit of the counted weights."""
    n_outputs: int
    held: bool = False

    def obey(self, part: RowPart) -> tuple[int]:
        """Answer the number of rows."""
        scored = part.scored(held=self.held)
        if self.held:
            scored.rows.X = in_memory(scored.rows.X)
        n_rows, kind = len(scored.rows), "held" if self.held else "train"
        shape = (n_rows, self.n_outputs)
        scored.loss = self.loss.of(scored.rows)
        scored.scores = part.array(f"scores-{kind}", shape, np.float64)
        scored.signed = part.array(f"signed-{kind}", shape, np.float64)
        scored.mass = part.array(f"mass-{kind}", shape, np.float64)
        scored.decided = np.zeros(n_rows, dtype=np.int32)
        scored.regions = np.zeros(n_rows, dtype=np.uint16)
        weight = scored.rows.weight
        scored.counted = None if weight is None else in_units(weight, self.unit)
        _differentiate(scored)
        return (n_rows,)


@dataclass(frozen=True)
class LargestOf:
    """Find the largest absolute numbers of a quantity."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    quantity: Quantity
    held: bool = False

    def obey(self, part: RowPart) -> tuple[ByClass]:
        """Answer (m,) the largest."""
        values = self.quantity.of(part.scored(held=self.held))
        return (np.abs(values).max(axis=0, initial=0.0),)


@dataclass(frozen=True)
class SumsOf:
    """Sum up a quantity over all samples."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    quantity: Quantity
    scales: ByClass
    held: bool = False

    def obey(self, part: RowPart) -> tuple[Ints]:
        """Answer (1, 2, m) sums of the numbers, and of their absolute values."""
        scored = part.scored(held=self.held)
        everywhere = np.zeros(len(scored.rows), dtype=np.uint16)
        values = self.quantity.of(scored)
        return (_region_sums(values, everywhere, 1, self.scales, part.n_threads),)


@dataclass(frozen=True)
class LeafSumsOf:
    """Sum up a quantity over the samples of each leaf of the round's tree."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    quantity: Quantity
    scales: ByClass
    n_leaves: int
    nodes: Layer | None = None
    """The tree, if the leaves of the samples are not known yet."""

    def obey(self, part: RowPart) -> tuple[Ints, Ints]:
        """Answer (L, 2, m) sums, and (L,) counted weights of the samples."""
        scored = part.scored(held=False)
        if self.nodes is not None:
            route(part, self.nodes)
        cover = np.bincount(scored.regions, scored.counted, self.n_leaves).astype(np.int64)
        values = self.quantity.of(scored)
        return _region_sums(
            values, scored.regions, self.n_leaves, self.scales, part.n_threads
        ), cover


@dataclass(frozen=True)
class LogisticSums:
    """Sum up slopes and curvatures of the logistic loss after outputs were added (kernels.logistic_sums)."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    up: Outputs
    down: Outputs
    scales: ByClass

    def obey(self, part: RowPart) -> tuple[Ints]:
        """Answer (L, 2, K) sums."""
        scored = part.scored(held=False)
        loss = loss_of(scored)
        assert isinstance(loss, Logistic)
        sums = np.zeros((len(self.up), 2, self.up.shape[1]), dtype=np.int64)
        line = LogisticLine(loss.subcosts, logistic_odds(scored), self.up, self.down, self.scales)
        kernels.active.logistic_sums(line, scored.regions, sums, part.n_threads)
        return (sums,)


def added_and_largest(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Sums of the parts' integers and, as the last item, the largest of their numbers."""
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
    nodes: Layer | None = None
    """The tree that the term is, for parts that are made again."""
    term: Terms | None = None
    """The term, for rows that are held out."""

    def obey(self, part: RowPart) -> tuple[Ints, Ints, ByClass]:
        """Answer what the decisions get wrong and cost (`judged`), and the largest of the quantity."""
        scored = part.scored(held=self.term is not None)
        if self.term is not None:
            scored.regions = self.term.regions(Queries(in_memory(scored.rows.X)), part.n_threads)
        else:
            if not part.routed:
                assert self.nodes is not None
                route(part, self.nodes)
            part.routed = False
        scored.scores += self.outputs[scored.regions]
        if self.weighting is not None and len(scored.rows):
            scored.decided[:] = np.argmax(scored.scores, axis=1)
        _differentiate(scored)
        largest = np.abs(self.quantity.of(scored)).max(axis=0, initial=0.0)
        if self.weighting is None:
            return np.zeros((1, 1), dtype=np.int64), np.zeros(1, dtype=np.int64), largest
        return *judged(scored, self.weighting), largest

    def condensed(self, kept: list[Command]) -> list[Command]:
        """Add the term together with those before it: slopes follow from the scores."""
        held = self.term is not None
        term = (self.term if held else packed_term(self.nodes), self.outputs)
        before = [c for c in kept if isinstance(c, AddTerms) and c.held == held]
        others = [c for c in kept if not (isinstance(c, AddTerms) and c.held == held)]
        terms = before[0].terms if before else ()
        return [*others, AddTerms((*terms, term), held)]


@dataclass(frozen=True)
class LeastLosses:
    """Sum up the minimal loss of each sample, over all scores."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    loss: str
    weighting: Weighting
    held: bool = False

    def obey(self, part: RowPart) -> list[float]:
        """Answer parts of the exact sum."""
        subcosts = self.weighting.subcosts_of(part.scored(held=self.held).rows)
        if self.loss == "exponential":
            least = least_exponential(subcosts[0], -subcosts[1]).sum(axis=1)
        else:
            least = FAMILY[self.loss](subcosts).least()
        return exact_parts(least.ravel().tolist())


def _differentiate(scored: ScoredRows) -> None:
    scored.odds = None
    scored.signed[:], scored.mass[:] = loss_of(scored).derivatives(scored.scores)


def _region_sums(
    values: Floats, regions: NDArray[np.uint16], n_regions: int, scales: ByClass, n_threads: int
) -> Ints:
    sums = np.zeros((n_regions, 2, values.shape[1]), dtype=np.int64)
    planes = np.ascontiguousarray(values)[np.newaxis]
    kernels.active.region_sums(planes, regions, scales, sums, n_threads)
    return sums
