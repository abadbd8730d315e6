"""Commands that grow a tree: pairs of the samples, and their sums over the bins of its nodes."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import ByFeature, Indices, Ints, Layer, Nodes, Pairs, Projection
from rebelboost.base.hashing import drawn_by
from rebelboost.distributed.parts import PartRows, RowPart, ScoredRows
from rebelboost.distributed.seam import Merge, added, all_items


@dataclass(frozen=True)
class Draw:
    """A random share of the samples, by their values."""

    number: int
    share: float

    def samples(self, rows: PartRows) -> Indices:
        """The samples of a part that are drawn."""
        assert rows.keys is not None
        return np.flatnonzero(drawn_by(rows.keys, self.share, self.number)).astype(np.int32)


class Pairing(Protocol):
    """Makes a pair of each sample, of which trees are grown."""

    def pairs(self, scored: ScoredRows, n_threads: int) -> Pairs:
        """(n,) pairs."""


@dataclass(frozen=True)
class OfWeights:
    """Pairs of the weights of the exponential loss."""

    projection: Projection

    def pairs(self, scored: ScoredRows, n_threads: int) -> Pairs:
        """(n,) pairs."""
        values = np.empty(len(scored.rows), dtype=np.int64)
        kernels.active.project(scored.planes, self.projection, values, n_threads)
        return values


@dataclass(frozen=True)
class PairsOf:
    """Make a pair of each sample."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    pairing: Pairing

    def obey(self, part: RowPart) -> list[tuple[int, Pairs]]:
        """Answer the number of the part, and (n,) pairs."""
        return [(part.number, self.pairing.pairs(part.scored(held=False), part.n_threads))]


@dataclass(frozen=True)
class Open:
    """Begin a tree: project the weights, and sum them over the bins of the root."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    pairing: Pairing
    allowed: ByFeature
    draw: Draw | None = None

    def obey(self, part: RowPart) -> tuple[Ints, Ints, Ints]:
        """Answer the sums over bins, the total and the number of samples of the root."""
        part.values = self.pairing.pairs(part.scored(held=False), part.n_threads)
        begin_tree(part, self.draw)
        total = np.array([part.values[part.samples].sum()], dtype=np.int64)
        sums = node_sums(part, np.zeros(1, dtype=np.int32), self.allowed)
        return sums, total, np.array([len(part.samples)], dtype=np.int64)


@dataclass(frozen=True)
class Descend:
    """Split the nodes of a layer, and sum weights over the bins of some of their children."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    layer: Layer
    children: NDArray[np.int32]
    """Those to sum; the others are their parents minus them."""
    allowed: ByFeature

    def obey(self, part: RowPart) -> tuple[Ints, Ints]:
        """Answer the sums of these children, and the number of samples of all children."""
        split_nodes(part, self.layer)
        counts = np.diff(part.starts).astype(np.int64)
        return node_sums(part, self.children, self.allowed), counts


def begin_tree(part: RowPart, draw: Draw | None) -> None:
    """Put all samples, or those drawn, into the root."""
    rows = part.scored(held=False).rows
    part.samples = np.arange(len(rows), dtype=np.int32) if draw is None else draw.samples(rows)
    part.starts = np.array([0, len(part.samples)], dtype=np.int32)


def split_nodes(part: RowPart, layer: Layer) -> None:
    """Divide the samples of each node among its two children."""
    assert part.bins is not None
    child_starts = np.empty(2 * len(part.starts) - 1, dtype=np.int32)
    kernels.active.split_samples(
        part.bins, layer, part.samples, part.starts, child_starts, part.n_threads
    )
    part.starts = child_starts


def node_sums(part: RowPart, chosen: NDArray[np.int32], allowed: ByFeature) -> Ints:
    """(chosen, bins of the allowed features) sums of pairs."""
    assert part.bins is not None
    cuts = np.stack([part.starts[:-1], part.starts[1:]], axis=1)
    sums = np.empty((len(chosen), int(part.bins.offsets[-1])), dtype=np.int64)
    kernels.active.node_sums(
        part.bins, part.values, Nodes(part.samples, cuts), chosen, sums, part.n_threads
    )
    return sums if allowed.all() else sums[:, columns_of_features(part.bins.offsets, allowed)]


def columns_of_features(offsets: NDArray[np.int32], allowed: ByFeature) -> NDArray[np.bool_]:
    """(B,) the bins of the allowed features."""
    return np.repeat(allowed != 0, np.diff(offsets))
