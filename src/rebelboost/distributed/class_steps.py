"""Commands for trees with one output vector [REBEL, Sec. 4]: sums over bins for all classes, and by layer."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, ByFeature, Bytes, Floats, Ints, Layer, Pairs
from rebelboost.distributed.parts import RowPart, ScoredRows
from rebelboost.distributed.seam import Merge, added, largest_of
from rebelboost.distributed.tree_steps import Draw, Pairing, begin_tree, node_sums, split_nodes


class Fixed(NamedTuple):
    """Weights of a part in fixed point."""

    signed: NDArray[np.int32]
    """(n, K padded to a multiple of 8) G."""
    totals: Ints
    """(K,) sums of W over the samples of the root."""


class Fixing(Protocol):
    """Puts weights into fixed point."""

    def fixed(self, part: RowPart) -> Fixed:
        """The weights of a part."""


@dataclass(frozen=True)
class FixWeights:
    """Weights of the exponential loss."""

    scale: float

    def fixed(self, part: RowPart) -> Fixed:
        """The weights of a part."""
        planes = part.scored(held=False).planes
        n_rows, n_classes = planes.shape[1:]
        signed = np.empty((n_rows, _padded(n_classes)), dtype=np.int32)
        keys, totals = np.empty(n_rows, dtype=np.int64), np.empty(n_classes, dtype=np.int64)
        kernels.active.fix_weights(
            planes, part.samples, self.scale, signed, keys, totals, part.n_threads
        )
        return Fixed(signed, totals)


@dataclass(frozen=True)
class FixSlopes:
    """Slopes and curvatures of other losses."""

    signed_scale: float
    mass_scale: float

    def fixed(self, part: RowPart) -> Fixed:
        """The slopes of a part."""
        scored = part.scored(held=False)
        n_rows, n_classes = scored.signed.shape
        signed = np.zeros((n_rows, _padded(n_classes)), dtype=np.int32)
        signed[:, :n_classes] = np.rint(scored.signed * self.signed_scale)
        mass = np.rint(scored.mass[part.samples] * self.mass_scale).astype(np.int64)
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

    def obey(self, part: RowPart) -> tuple[Ints, Ints, Ints, Ints]:
        """Answer (B, K) sums of G, (K,) their total and that of W, and the number of samples."""
        assert part.bins is not None
        begin_tree(part, self.draw)
        signed, totals = self.fixing.fixed(part)
        sums = np.zeros((int(part.bins.offsets[-1]), signed.shape[1]), dtype=np.int32)
        kernels.active.class_sums(
            part.bins, self.allowed, signed, part.samples, sums, part.n_threads
        )
        total = signed[part.samples, : self.n_classes].sum(axis=0, dtype=np.int64)
        own = sums[:, : self.n_classes].astype(np.int64)
        return own, total, totals, np.array(len(part.samples), dtype=np.int64)


@dataclass(frozen=True)
class CountBins:
    """Count the samples of the tree in each bin of a feature."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    feature: int

    def obey(self, part: RowPart) -> tuple[Ints]:
        """Answer (bins of the feature,) counts."""
        assert part.bins is not None
        n_bins = int(np.diff(part.bins.offsets)[self.feature])
        width = part.bins.blocks.shape[2]
        codes: Bytes = part.bins.blocks[self.feature // width, :, self.feature % width]
        return (np.bincount(codes[part.samples], minlength=n_bins),)


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

    def obey(self, part: RowPart) -> tuple[Ints, Ints, Ints]:
        """Answer the sums over bins, the totals and the numbers of samples of the nodes."""
        part.values = self.pairing.pairs(part.scored(held=False), part.n_threads)
        if self.split is None:
            begin_tree(part, self.draw)
        else:
            split_nodes(part, self.split)
        counts = np.diff(part.starts).astype(np.int64)
        ends = np.append(0, np.cumsum(part.values[part.samples]))
        totals: Ints = ends[part.starts[1:]] - ends[part.starts[:-1]]
        nodes = np.arange(len(counts), dtype=np.int32)
        return node_sums(part, nodes, self.allowed), totals, counts


@dataclass(frozen=True)
class OfSides:
    """Pairs v and |v| of the signed parts of other pairs."""

    pairing: Pairing

    def pairs(self, scored: ScoredRows, n_threads: int) -> Pairs:
        """(n,) pairs."""
        signed = self.pairing.pairs(scored, n_threads) >> 32
        sides: Pairs = signed * 2**32 + np.abs(signed)
        return sides


# ---- the leading direction in class space (`rebelboost.learners.binarize`)


def _along_classes(part: RowPart, unit: ByClass) -> Floats:
    scored = part.scored(held=False)
    signed = scored.signed if scored.loss is not None else scored.planes.sum(axis=0)
    return signed * unit


@dataclass(frozen=True)
class LargestSquares:
    """Find the largest squared weight of each class."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    unit: ByClass

    def obey(self, part: RowPart) -> tuple[ByClass]:
        """Answer (K,) the largest."""
        return ((_along_classes(part, self.unit) ** 2).max(axis=0, initial=0.0),)


@dataclass(frozen=True)
class SumSquares:
    """Sum up the squared weights of each class as integers."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    unit: ByClass
    exponent: Ints

    def obey(self, part: RowPart) -> tuple[Ints]:
        """Answer (K,) sums."""
        squares = _along_classes(part, self.unit) ** 2
        return (np.rint(np.ldexp(squares, self.exponent)).astype(np.int64).sum(axis=0),)


@dataclass(frozen=True)
class SumProducts:
    """Sum up the products of the weights of any two classes as integers."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    unit: ByClass
    exponent: Ints

    def obey(self, part: RowPart) -> tuple[Ints]:
        """Answer (K, K) sums."""
        integers = np.rint(np.ldexp(_along_classes(part, self.unit), self.exponent))
        return ((integers.T @ integers).astype(np.int64),)
