"""Samples as points, for similarities: what parts keep of them, and commands about them."""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import Floats, Ints, Labels, Planes, Points
from rebelboost.base.exact_sums import exact_parts
from rebelboost.base.hashing import Keys, hash_rows
from rebelboost.base.levels import CONSTANT, LEVELS
from rebelboost.data.point_set import first_of_each, least_paid, point_keys
from rebelboost.data.spaces import Embedding
from rebelboost.distributed.file_rows import in_memory
from rebelboost.distributed.part_points import PartPoints
from rebelboost.distributed.parts import PartRows, RowPart, ScoredRows
from rebelboost.distributed.seam import Merge, added, all_items, largest_of

# ---- the rows from which scales are learned


class SomeRows(NamedTuple):
    """Distinct rows of a part."""

    keys: Keys
    rows: PartRows
    counts: Ints
    """Weight of the rows that are equal to each, in units."""


@dataclass(frozen=True)
class DistinctRows:
    """Find the distinct rows with the smallest hashes."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    most: int
    unit: float
    """Unit of the counted weights."""

    def obey(self, part: RowPart) -> list[SomeRows]:
        """Answer them."""
        rows = part.scored(held=False).rows
        X = in_memory(rows.X)
        keys, first, group = np.unique(
            hash_rows(X, 1, rows.labels), return_index=True, return_inverse=True
        )
        rows = replace(rows, X=X)
        weight = None if rows.weight is None else np.rint(rows.weight / self.unit)
        counts = np.bincount(group, weight, len(keys)).astype(np.int64)
        return [SomeRows(keys[: self.most], rows.take(first[: self.most]), counts[: self.most])]


# ---- points


class PlacedPart(NamedTuple):
    """What a part says of its points."""

    number: int
    keys: Keys
    n_rows: Ints
    """(m,) number of rows at each."""
    rows: Ints
    """(m,) first of them."""


@dataclass(frozen=True)
class PlacePoints:
    """Map the rows to points, and forget their values."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = True
    space: Embedding

    def obey(self, part: RowPart) -> list[PlacedPart]:
        """Answer the keys of the points."""
        rows = part.scored(held=False).rows
        assert rows.numbers is not None
        placed = self.space.place(in_memory(rows.X))
        keys = point_keys(placed)
        order = np.argsort(keys, kind="stable")
        first, group = first_of_each(keys[order])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = group
        chosen = order[first]
        part.points = PartPoints(
            self.space,
            placed[chosen],
            self.space.lay_out(placed[chosen]),
            keys[chosen],
            rows.numbers[chosen],
        )
        kept = replace(rows, X=np.empty((len(rows), 0)))
        part.train = ScoredRows(kept.take(chosen), judged=kept, place=place)
        n_rows = np.bincount(group, minlength=len(chosen))
        return [PlacedPart(part.number, keys[chosen], n_rows, rows.numbers[chosen])]


class SharedRows(NamedTuple):
    """Rows at points that several rows share."""

    keys: Keys
    rows: PartRows


@dataclass(frozen=True)
class RowsAt:
    """Find the rows at some points."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    keys: Keys
    """Increasing."""

    def obey(self, part: RowPart) -> list[SharedRows]:
        """Answer them."""
        assert part.points is not None
        scored = part.scored(held=False)
        assert scored.judged is not None
        own = part.points.keys[scored.place]
        there = np.flatnonzero(_found(self.keys, own))
        return [SharedRows(own[there], scored.judged.take(there))]


class MergedPoints(NamedTuple):
    """Points at which several rows were merged."""

    keys: Keys
    """Increasing."""
    labels: Labels
    costs: Floats
    """(points, K)"""
    mass: Floats
    owner: Ints
    """Number of the part that each counts in."""


class PointSums(NamedTuple):
    """What a part says of the points that it owns."""

    largest_cost: float
    largest_weight: float
    unavoidable: list[float]
    """Parts of the sum of costs that no scores can avoid."""
    weights: list[float]
    """Parts of the sum of weights."""


@dataclass(frozen=True)
class MergePoints:
    """Give each point one class, costs and a weight; a point that several parts have counts in one of them."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = True
    costs: Floats | None
    """(K, K) by class; None: by sample."""
    merged: MergedPoints

    def obey(self, part: RowPart) -> list[PointSums]:
        """Answer sums."""
        assert part.points is not None
        scored = part.scored(held=False)
        rows = scored.rows
        costs = rows.costs if self.costs is None else self.costs[rows.labels]
        assert costs is not None
        mass = np.ones(len(rows)) if rows.weight is None else rows.weight.copy()
        paid = (costs * mass[:, np.newaxis]) / mass[:, np.newaxis]
        own, labels, least = least_paid(paid, rows.labels)
        own_keys, merged = part.points.keys, self.merged
        there = np.flatnonzero(_found(merged.keys, own_keys))
        at = np.searchsorted(merged.keys, own_keys[there])
        labels[there], own[there] = merged.labels[at], merged.costs[at]
        owned = merged.owner[at] == part.number
        mass[there] = np.where(owned, merged.mass[at], 0.0)
        least[there] = 0.0  # counted where they were merged
        scored.rows = PartRows(rows.X, labels, mass, own)
        return [
            PointSums(
                float(own[mass > 0].max(initial=0.0)),
                float(mass.max(initial=0.0)),
                exact_parts((least * mass).tolist()),
                exact_parts(mass.tolist()),
            )
        ]


def _found(keys: Keys, own: Keys) -> NDArray[np.bool_]:
    """(own,) whether each is among increasing keys."""
    at = np.minimum(np.searchsorted(keys, own), max(0, len(keys) - 1))
    return keys[at] == own if len(keys) else np.zeros(len(own), dtype=bool)


@dataclass(frozen=True)
class GramOfSides:
    """Sum up the products of the weights of any two classes, as kernels.binarize does."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    unit: Floats
    exponent: Ints

    def obey(self, part: RowPart) -> tuple[Ints]:
        """Answer (K, K) sums."""
        signed = part.scored(held=False).planes.sum(axis=0)
        integers = np.rint(np.ldexp(signed * self.unit, self.exponent))
        return ((integers.T @ integers).astype(np.int64),)


class FetchedPoints(NamedTuple):
    """Points of a part, with their weights."""

    keys: Keys
    placed: Points
    planes: Planes
    """(V, points, K)"""


@dataclass(frozen=True)
class FetchPoints:
    """Fetch some points and their weights."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    keys: Keys
    """Increasing."""

    def obey(self, part: RowPart) -> list[FetchedPoints]:
        """Answer those that count here."""
        assert part.points is not None
        points, planes = part.points, part.scored(held=False).planes
        weight = part.scored(held=False).rows.weight
        counts = np.ones(len(points.keys), dtype=bool) if weight is None else weight > 0
        there = np.flatnonzero(_found(self.keys, points.keys) & counts)
        return [FetchedPoints(points.keys[there], points.placed[there], planes[:, there])]


# ---- responses


@dataclass(frozen=True)
class Response:
    """A response: comparison with one or two points, or a constant without points."""

    kind: int
    points: Points
    apart: float

    def route(self, part: RowPart) -> None:
        """Find the level of each sample's response."""
        scored = part.scored(held=False)
        if len(self.points) == 0:
            scored.regions[:] = CONSTANT
        elif len(scored.rows):
            assert part.points is not None
            rows = part.points.distances(self.points, part.n_threads)
            kernels.active.compare(
                rows[0], rows[-1], self.kind, self.apart, scored.regions, part.n_threads
            )
        part.routed = True


@dataclass(frozen=True)
class SumLevels:
    """Sum the weights of each level of a response."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    compared: Response
    scales: Floats

    def obey(self, part: RowPart) -> tuple[Ints]:
        """Answer (levels, 2, K) sums."""
        self.compared.route(part)
        scored = part.scored(held=False)
        sums = np.zeros((len(LEVELS), 2, scored.planes.shape[2]), dtype=np.int64)
        kernels.active.region_sums(scored.planes, scored.regions, self.scales, sums, part.n_threads)
        return (sums,)


class Isolated(NamedTuple):
    """The point of a part that is best told from all others."""

    loss: float
    key: int
    placed: Points
    """(1, D)"""


@dataclass(frozen=True)
class BestIsolated:
    """Find the point that is best told from all others (kernels.best_isolated)."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    totals: Floats
    signed_totals: Floats

    def obey(self, part: RowPart) -> list[Isolated]:
        """Answer it, if the part has points."""
        assert part.points is not None
        scored = part.scored(held=False)
        planes, points = scored.planes, part.points
        kept = np.arange(len(points.keys))
        if scored.rows.weight is not None:
            kept = np.flatnonzero(scored.rows.weight > 0)
        if len(kept) == 0:
            return []
        if len(kept) < len(points.keys):
            planes = np.ascontiguousarray(planes[:, kept])
        place, loss = kernels.active.best_isolated(
            planes, self.totals, self.signed_totals, part.n_threads
        )
        at = kept[place]
        return [Isolated(loss, int(points.keys[at]), points.placed[at : at + 1])]


@dataclass(frozen=True)
class Nearest:
    """Find the smallest distance from a point to another one."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    placed: Points
    """(1, D)"""

    def obey(self, part: RowPart) -> tuple[Floats]:
        """Answer minus the squared distance; −∞ for none."""
        assert part.points is not None
        (row,) = part.points.distances(self.placed, part.n_threads)
        return (np.array([-float(row[row > 0].min(initial=np.inf))]),)
