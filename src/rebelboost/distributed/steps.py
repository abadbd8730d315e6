"""Commands of a round: what parts do while a term is found and added. Answers are integers to be added."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    ByClass,
    Floats,
    Ints,
    Layer,
    Outputs,
    Planes,
    Step,
)
from rebelboost.base.fixed_point import in_units
from rebelboost.costs.judge import confusion_of, weighed
from rebelboost.distributed.file_rows import in_memory
from rebelboost.distributed.parts import PartRows, RowPart, ScoredRows
from rebelboost.distributed.replaying import AddTerms, packed_term
from rebelboost.distributed.routing import Routing, route
from rebelboost.distributed.seam import Command, Merge, added, largest_of
from rebelboost.losses.exponential import (
    SUBCOSTS,
    highest_exponent,
    largest_weights,
    planes_at,
)
from rebelboost.model.queries import Queries
from rebelboost.model.terms import Terms

AT_ONCE = 1 << 16
"""Rows whose weights are computed at a time."""


@dataclass(frozen=True)
class Units:
    """Units in which weights, and costs by sample times weights, are counted."""

    weight: float
    paid: float


@dataclass(frozen=True)
class Weighting:
    """How the rows of a part get their weights from costs."""

    costs: Floats | None
    """(K, K) by class, scaled; None: by sample."""
    shift: int
    """Costs by sample are divided by two to this power."""
    subcosts: str
    units: Units
    n_classes: int
    pays: bool
    """Whether decisions are judged by costs by sample."""

    @property
    def n_planes(self) -> int:
        """Number of planes of weights, V."""
        return 2 if self.subcosts == "rebel" else 1

    def subcosts_of(self, rows: PartRows) -> Planes:
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


@dataclass(frozen=True)
class Start:
    """Set the scores to 0."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = True
    weighting: Weighting
    held: bool = False

    def obey(self, part: RowPart) -> tuple[int]:
        """Answer the number of rows."""
        scored = part.scored(held=self.held)
        if self.held:
            scored.rows.X = in_memory(scored.rows.X)
        n_rows, n_classes = len(scored.rows), self.weighting.n_classes
        scored.scores = part.array("scores", (n_rows, n_classes), np.float64)
        shape = (self.weighting.n_planes, n_rows, n_classes)
        scored.planes = part.array("planes", shape, np.float64)
        scored.decided = np.zeros(n_rows, dtype=np.int32)
        scored.regions = np.zeros(n_rows, dtype=np.uint16)
        weight = scored.rows.weight
        scored.counted = None if weight is None else in_units(weight, self.weighting.units.weight)
        return (n_rows,)


@dataclass(frozen=True)
class Highest:
    """Find the largest exponent ±H of the scores."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    weighting: Weighting
    held: bool = False

    def obey(self, part: RowPart) -> tuple[float]:
        """Answer it."""
        scored = part.scored(held=self.held)
        found = [
            highest_exponent(
                self.weighting.subcosts_of(scored.rows.take(some)), scored.scores[some]
            )
            for some in _pieces(scored)
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

    def obey(self, part: RowPart) -> tuple[ByClass]:
        """Answer the largest weight of each class."""
        scored = part.scored(held=self.held)
        largest = np.zeros(self.weighting.n_classes)
        for some in _pieces(scored):
            subcosts = self.weighting.subcosts_of(scored.rows.take(some))
            planes = planes_at(subcosts, scored.scores[some], self.exponent)
            scored.planes[:, some] = planes
            largest = np.maximum(largest, largest_weights(planes))
        return (largest,)

    def condensed(self, kept: list[Command]) -> list[Command]:
        """Add all terms so far at once: weights follow from the scores."""
        others: list[Command] = []
        terms: list[tuple[Any, Outputs]] = []
        for command in kept:
            if isinstance(command, AddTerms) and command.held == self.held:
                terms += command.terms
            elif isinstance(command, Advance) and not self.held:
                terms.append((packed_term(command.term), command.step.outputs))
            elif isinstance(command, AdvanceHeld) and self.held:
                terms.append((command.term, command.step.outputs))
            elif not (isinstance(command, Reweigh) and command.held == self.held):
                others.append(command)
        return [*others, AddTerms(tuple(terms), self.held), self]


@dataclass(frozen=True)
class Largest:
    """Find the largest weight of each class."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    held: bool = False

    def obey(self, part: RowPart) -> tuple[ByClass]:
        """Answer it."""
        return (largest_weights(part.scored(held=self.held).planes),)


@dataclass(frozen=True)
class Totals:
    """Sum all weights."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    scales: ByClass
    held: bool = False

    def obey(self, part: RowPart) -> tuple[Ints]:
        """Answer (1, 2, K) sums."""
        scored = part.scored(held=self.held)
        everywhere = np.zeros(len(scored.rows), dtype=np.uint16)
        return (_region_sums(scored, everywhere, 1, self.scales, part.n_threads),)


@dataclass(frozen=True)
class Leaves:
    """Find the leaf of each sample, and sum the weights of each leaf."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    nodes: Layer
    scales: ByClass

    def obey(self, part: RowPart) -> tuple[Ints, Ints]:
        """Answer (L, 2, K) sums, and (L,) counted weights of the samples."""
        scored = part.scored(held=False)
        n_leaves = len(self.nodes.features) + 1
        route(part, self.nodes)
        cover = np.bincount(scored.regions, scored.counted, n_leaves).astype(np.int64)
        return _region_sums(scored, scored.regions, n_leaves, self.scales, part.n_threads), cover


@dataclass(frozen=True)
class Advance:
    """Add a term to the scores, and change the weights accordingly."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = True
    step: Step
    weighting: Weighting
    term: Layer | Routing
    """What finds the region of each sample."""
    anew: bool = False
    """Whether that is not the term that the parts were asked about last."""

    def obey(self, part: RowPart) -> tuple[Ints, Ints, Ints]:
        """Answer the totals of the weights, and what the decisions get wrong and cost (`judged`)."""
        scored = part.scored(held=False)
        if self.anew or not part.routed:
            route(part, self.term)
        part.routed = False
        return _advanced(scored, self.step, self.weighting, part.n_threads)


@dataclass(frozen=True)
class AdvanceHeld:
    """Add a term to the scores of the rows that are held out."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = True
    term: Terms
    step: Step
    weighting: Weighting

    def obey(self, part: RowPart) -> tuple[Ints, Ints, Ints]:
        """Answer as `Advance` does."""
        scored = part.scored(held=True)
        scored.regions = self.term.regions(Queries(in_memory(scored.rows.X)), part.n_threads)
        return _advanced(scored, self.step, self.weighting, part.n_threads)


def _pieces(scored: ScoredRows) -> list[slice]:
    """Rows in pieces, so that what is computed of them takes little memory."""
    return [slice(i, i + AT_ONCE) for i in range(0, len(scored.rows), AT_ONCE)]


def _advanced(
    scored: ScoredRows, step: Step, weighting: Weighting, n_threads: int
) -> tuple[Ints, Ints, Ints]:
    totals = np.zeros(weighting.n_classes, dtype=np.int64)
    kernels.active.advance(
        scored.planes, scored.scores, scored.regions, step, totals, scored.decided, n_threads
    )
    return totals, *judged(scored, weighting)


def judged(scored: ScoredRows, weighting: Weighting) -> tuple[Ints, Ints]:
    """(K, K) confusion in units of weight, and what decisions cost in units, if costs are by sample."""
    rows, decided = scored.rows, scored.decided
    confusion = confusion_of(rows.labels, decided, weighting.n_classes, scored.counted)
    paid = 0.0
    if rows.costs is not None and weighting.pays:
        chosen = rows.costs[np.arange(len(decided)), decided]
        paid = in_units(weighed(chosen, rows.weight), weighting.units.paid).sum()
    return confusion.astype(np.int64), np.array([paid]).astype(np.int64)


def _region_sums(
    scored: ScoredRows, regions: NDArray[np.uint16], n_regions: int, scales: ByClass, n_threads: int
) -> Ints:
    sums = np.zeros((n_regions, 2, scored.planes.shape[2]), dtype=np.int64)
    kernels.active.region_sums(scored.planes, regions, scales, sums, n_threads)
    return sums
