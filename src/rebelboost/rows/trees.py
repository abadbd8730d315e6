"""Operations that grow a tree: pairs of the samples, and their sums over the bins of its nodes."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    ByClass,
    ByFeature,
    Bytes,
    Floats,
    Indices,
    Ints,
    Layer,
    Nodes,
    Pairs,
)
from rebelboost.base.hashing import drawn_by
from rebelboost.rows.base import Merge, added, largest_of
from rebelboost.rows.block import Block, EncodedRows, ScoredRows


@dataclass(frozen=True)
class Draw:
    """A random share of the samples, by their values."""

    number: int
    share: float

    def samples(self, rows: EncodedRows) -> Indices:
        """The samples of a part that are drawn."""
        assert rows.keys is not None
        return np.flatnonzero(drawn_by(rows.keys, self.share, self.number)).astype(np.int32)


class Pairing(Protocol):
    """Makes a pair of each sample, of which trees are grown."""

    def pairs(self, scored: ScoredRows, n_threads: int) -> Pairs:
        """(n,) pairs."""


@dataclass(frozen=True)
class Open:
    """Begin a tree: project the weights, and sum them over the bins of the root."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    pairing: Pairing
    allowed: ByFeature
    draw: Draw | None = None

    def apply(self, block: Block) -> tuple[Ints, Ints, Ints]:
        """Answer the sums over bins, the total and the number of samples of the root."""
        block.values = self.pairing.pairs(block.scored(held=False), block.n_threads)
        begin_tree(block, self.draw)
        total = np.array([block.values[block.samples].sum()], dtype=np.int64)
        sums = node_sums(block, np.zeros(1, dtype=np.int32), self.allowed)
        return sums, total, np.array([len(block.samples)], dtype=np.int64)


@dataclass(frozen=True)
class Descend:
    """Split the nodes of a layer, and sum weights over the bins of some of their children."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    layer: Layer
    children: NDArray[np.int32]
    """Those to sum; the others are their parents minus them."""
    allowed: ByFeature

    def apply(self, block: Block) -> tuple[Ints, Ints]:
        """Answer the sums of these children, and the number of samples of all children."""
        split_nodes(block, self.layer)
        counts = np.diff(block.starts).astype(np.int64)
        return node_sums(block, self.children, self.allowed), counts


def begin_tree(block: Block, draw: Draw | None) -> None:
    """Put all samples, or those drawn, into the root."""
    rows = block.scored(held=False).rows
    block.samples = np.arange(len(rows), dtype=np.int32) if draw is None else draw.samples(rows)
    block.starts = np.array([0, len(block.samples)], dtype=np.int32)


def split_nodes(block: Block, layer: Layer) -> None:
    """Divide the samples of each node among its two children."""
    assert block.bins is not None
    child_starts = np.empty(2 * len(block.starts) - 1, dtype=np.int32)
    kernels.active.split_samples(
        block.bins, layer, block.samples, block.starts, child_starts, block.n_threads
    )
    block.starts = child_starts


def go_deeper(block: Block, split: Layer | None, draw: Draw | None) -> None:
    """Split the nodes of the last layer, or begin a tree if there is none."""
    if split is None:
        begin_tree(block, draw)
    else:
        split_nodes(block, split)


def node_sums(block: Block, chosen: NDArray[np.int32], allowed: ByFeature) -> Ints:
    """(chosen, bins of the allowed features) sums of pairs."""
    assert block.bins is not None
    cuts = np.stack([block.starts[:-1], block.starts[1:]], axis=1)
    sums = np.empty((len(chosen), int(block.bins.offsets[-1])), dtype=np.int64)
    kernels.active.node_sums(
        block.bins, block.values, Nodes(block.samples, cuts), chosen, sums, block.n_threads
    )
    return sums if allowed.all() else sums[:, columns_of_features(block.bins.offsets, allowed)]


def columns_of_features(offsets: NDArray[np.int32], allowed: ByFeature) -> NDArray[np.bool_]:
    """(B,) the bins of the allowed features."""
    return np.repeat(allowed != 0, np.diff(offsets))


# ---- trees with one output vector [REBEL, Sec. 4]: sums for all classes, and by layer


class Fixed(NamedTuple):
    """Weights of a part in fixed point."""

    signed: NDArray[np.int32]
    """(n, K padded to a multiple of 8) G."""
    totals: Ints
    """(K,) sums of W over the samples of the root."""


class Fixing(Protocol):
    """Puts weights into fixed point."""

    def fixed(self, block: Block) -> Fixed:
        """The weights of a block."""


@dataclass(frozen=True)
class FixWeights:
    """Weights of the exponential loss."""

    scale: float

    def fixed(self, block: Block) -> Fixed:
        """The weights of a block."""
        planes = block.scored(held=False).planes
        n_rows, n_classes = planes.shape[1:]
        signed = np.empty((n_rows, _padded(n_classes)), dtype=np.int32)
        keys, totals = np.empty(n_rows, dtype=np.int64), np.empty(n_classes, dtype=np.int64)
        kernels.active.fix_weights(
            planes, block.samples, self.scale, signed, keys, totals, block.n_threads
        )
        return Fixed(signed, totals)


@dataclass(frozen=True)
class FixSlopes:
    """Slopes and curvatures of other losses."""

    signed_scale: float
    mass_scale: float

    def fixed(self, block: Block) -> Fixed:
        """The slopes of a block."""
        scored = block.scored(held=False)
        n_rows, n_classes = scored.signed.shape
        signed = np.zeros((n_rows, _padded(n_classes)), dtype=np.int32)
        signed[:, :n_classes] = np.rint(scored.signed * self.signed_scale)
        mass = np.rint(scored.mass[block.samples] * self.mass_scale).astype(np.int64)
        return Fixed(signed, mass.sum(axis=0))


def _padded(n_classes: int) -> int:
    return -(-n_classes // 8) * 8


@dataclass(frozen=True)
class OpenForClasses:
    """Begin a tree: sum the weights of all classes over the bins."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    fixing: Fixing
    allowed: ByFeature
    n_classes: int
    draw: Draw | None = None

    def apply(self, block: Block) -> tuple[Ints, Ints, Ints, Ints]:
        """Answer (B, K) sums of G, (K,) their total and that of W, and the number of samples."""
        assert block.bins is not None
        begin_tree(block, self.draw)
        signed, totals = self.fixing.fixed(block)
        sums = np.zeros((int(block.bins.offsets[-1]), signed.shape[1]), dtype=np.int32)
        kernels.active.class_sums(
            block.bins, self.allowed, signed, block.samples, sums, block.n_threads
        )
        total = signed[block.samples, : self.n_classes].sum(axis=0, dtype=np.int64)
        own = sums[:, : self.n_classes].astype(np.int64)
        return own, total, totals, np.array(len(block.samples), dtype=np.int64)


@dataclass(frozen=True)
class CountBins:
    """Count the samples of the tree in each bin of a feature."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    feature: int

    def apply(self, block: Block) -> tuple[Ints]:
        """Answer (bins of the feature,) counts."""
        assert block.bins is not None
        n_bins = int(np.diff(block.bins.offsets)[self.feature])
        width = block.bins.blocks.shape[2]
        codes: Bytes = block.bins.blocks[self.feature // width, :, self.feature % width]
        return (np.bincount(codes[block.samples], minlength=n_bins),)


@dataclass(frozen=True)
class SumLayer:
    """Split the nodes of the last layer, and sum pairs over the bins of all nodes."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    pairing: Pairing
    allowed: ByFeature
    split: Layer | None
    """The last layer, if its nodes are not split yet."""
    draw: Draw | None = None
    """Samples of the root, which is begun if there is no last layer."""

    def apply(self, block: Block) -> tuple[Ints, Ints, Ints]:
        """Answer the sums over bins, the totals and the numbers of samples of the nodes."""
        block.values = self.pairing.pairs(block.scored(held=False), block.n_threads)
        go_deeper(block, self.split, self.draw)
        counts = np.diff(block.starts).astype(np.int64)
        ends = np.append(0, np.cumsum(block.values[block.samples]))
        totals: Ints = ends[block.starts[1:]] - ends[block.starts[:-1]]
        nodes = np.arange(len(counts), dtype=np.int32)
        return node_sums(block, nodes, self.allowed), totals, counts


@dataclass(frozen=True)
class OfSides:
    """Pairs v and |v| of the signed parts of other pairs."""

    pairing: Pairing

    def pairs(self, scored: ScoredRows, n_threads: int) -> Pairs:
        """(n,) pairs."""
        signed = self.pairing.pairs(scored, n_threads) >> 32
        sides: Pairs = signed * 2**32 + np.abs(signed)
        return sides


@dataclass(frozen=True)
class FixClasses:
    """The weight of each sample at its own class, Σ_k W_k, in fixed point [THESIS, 7.2]."""

    n_classes: int
    scale: float

    def of(self, scored: ScoredRows) -> tuple[NDArray[np.int32], Ints]:
        """(n, K padded to a multiple of 8) weights, and the same without classes."""
        planes = scored.signed[np.newaxis] if scored.loss is not None else scored.planes
        mass = np.zeros(len(scored.rows))
        for plane in planes:
            for k in range(self.n_classes):  # in one order, wherever the rows are
                mass += np.abs(plane[:, k])
        fixed = np.rint(mass * self.scale).astype(np.int64)
        weights = np.zeros((len(fixed), _padded(self.n_classes)), dtype=np.int32)
        weights[np.arange(len(fixed)), scored.rows.labels] = fixed
        return weights, fixed


@dataclass(frozen=True)
class SumClasses:
    """Split the nodes of the last layer, and sum the weights of classes over the bins of all nodes."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    fixing: FixClasses
    allowed: ByFeature
    split: Layer | None
    """As in `SumLayer`."""
    draw: Draw | None = None

    def apply(self, block: Block) -> tuple[Ints, Ints]:
        """Answer (m, B, K) sums over the bins of the allowed features, and the numbers of samples."""
        assert block.bins is not None
        go_deeper(block, self.split, self.draw)
        weights, _ = self.fixing.of(block.scored(held=False))
        starts, n_bins = block.starts, int(block.bins.offsets[-1])
        sums = np.zeros((len(starts) - 1, n_bins, weights.shape[1]), dtype=np.int32)
        for node, own in enumerate(sums):
            samples = block.samples[starts[node] : starts[node + 1]]
            kernels.active.class_sums(
                block.bins, self.allowed, weights, samples, own, block.n_threads
            )
        used = columns_of_features(block.bins.offsets, self.allowed)
        found = sums[:, used, : self.fixing.n_classes].astype(np.int64)
        return found, np.diff(starts).astype(np.int64)


# ---- the leading direction in class space (`rebelboost.learners.binarize`)


def _along_classes(block: Block, unit: ByClass) -> Floats:
    scored = block.scored(held=False)
    signed = scored.signed if scored.loss is not None else scored.planes.sum(axis=0)
    return signed * unit


@dataclass(frozen=True)
class LargestSquares:
    """Find the largest squared weight of each class."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    unit: ByClass

    def apply(self, block: Block) -> tuple[ByClass]:
        """Answer (K,) the largest."""
        return ((_along_classes(block, self.unit) ** 2).max(axis=0, initial=0.0),)


@dataclass(frozen=True)
class SumSquares:
    """Sum up the squared weights of each class as integers."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    unit: ByClass
    exponent: Ints

    def apply(self, block: Block) -> tuple[Ints]:
        """Answer (K,) sums."""
        squares = _along_classes(block, self.unit) ** 2
        return (np.rint(np.ldexp(squares, self.exponent)).astype(np.int64).sum(axis=0),)


@dataclass(frozen=True)
class SumProducts:
    """Sum up the products of the weights of any two classes as integers."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    unit: ByClass
    exponent: Ints

    def apply(self, block: Block) -> tuple[Ints]:
        """Answer (K, K) sums."""
        integers = np.rint(np.ldexp(_along_classes(block, self.unit), self.exponent))
        return ((integers.T @ integers).astype(np.int64),)
