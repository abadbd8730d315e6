"""Weighted quantiles of numbers that are spread over parts, by the bits of the numbers: no sketch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints, Regions
from rebelboost.distributed.parts import RowPart, ScoredRows
from rebelboost.distributed.quantiles import floats_of, keys_of
from rebelboost.distributed.seam import Merge, SpreadRows, added

MOST_COUNTS = 1 << 17
"""Counts in one answer."""
MOST_BITS = 12
"""Bits of the numbers that a question divides by."""
ALL_BITS = 64


class Numbers(Protocol):
    """A number of each sample."""

    def of(self, scored: ScoredRows) -> BySample:
        """(n,) numbers."""


@dataclass(frozen=True)
class Targets:
    """Targets of a regression."""

    def of(self, scored: ScoredRows) -> BySample:
        """(n,) numbers."""
        assert scored.rows.target is not None
        return scored.rows.target


@dataclass(frozen=True)
class TargetDistances:
    """Distances of the targets from the baseline."""

    baseline: float

    def of(self, scored: ScoredRows) -> BySample:
        """(n,) numbers."""
        return np.abs(Targets().of(scored) - self.baseline)


@dataclass(frozen=True)
class TargetResiduals:
    """What the scores leave of the targets."""

    baseline: float

    def of(self, scored: ScoredRows) -> BySample:
        """(n,) numbers."""
        return (Targets().of(scored) - self.baseline) - scored.scores[:, 0]


@dataclass(frozen=True)
class BitCounts:
    """Weigh the samples of each region by the next bits of a number, given its first bits."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    numbers: Numbers
    scale: float
    """Scale of the weights in fixed point."""
    prefixes: NDArray[np.uint64]
    """(L,) the first bits in each region."""
    n_known: int
    """Number of the first bits."""
    n_bits: int
    """Number of the next bits."""
    by_region: bool
    """Whether regions are those of the round's tree; else there is one, of all samples."""

    def obey(self, part: RowPart) -> tuple[Ints]:
        """Answer (L, 2^bits) weights."""
        scored = part.scored(held=False)
        rows = scored.rows
        regions: Regions = scored.regions if self.by_region else np.zeros(len(rows), np.uint16)
        keys = keys_of(self.numbers.of(scored))
        inside = np.ones(len(rows), dtype=bool)
        if self.n_known:
            inside = keys >> np.uint64(ALL_BITS - self.n_known) == self.prefixes[regions]
        left = np.uint64(ALL_BITS - self.n_known - self.n_bits)
        places = (keys[inside] >> left) & np.uint64(2**self.n_bits - 1)
        cells = regions[inside].astype(np.int64) * 2**self.n_bits + places.astype(np.int64)
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        shape = (len(self.prefixes), 2**self.n_bits)
        counts = np.bincount(cells, np.rint(weight[inside] * self.scale), shape[0] * shape[1])
        return (counts.astype(np.int64).reshape(shape),)


def quantiles_by_region(
    spread: SpreadRows,
    numbers: Numbers,
    scale: float,
    n_regions: int,
    rank_of: Callable[[int], int],
    *,
    by_region: bool = True,
) -> Floats:
    """(L,) the least number of each region up to which its samples weigh `rank_of` their weight; 0 for none."""
    room = int(np.log2(MOST_COUNTS // n_regions))
    prefixes, n_known = np.zeros(n_regions, dtype=np.uint64), 0
    wanted, empty = np.zeros(n_regions, dtype=np.int64), np.zeros(n_regions, dtype=bool)
    while n_known < ALL_BITS:
        n_bits = min(max(1, min(room, MOST_BITS)), ALL_BITS - n_known)
        (counts,) = spread.ask(BitCounts(numbers, scale, prefixes, n_known, n_bits, by_region))
        if n_known == 0:
            totals = counts.sum(axis=1)
            empty = totals == 0
            wanted = np.array([rank_of(total) for total in totals.tolist()], dtype=np.int64)
        below = np.cumsum(counts, axis=1)
        places = np.argmax(below >= wanted[:, np.newaxis], axis=1)
        own = np.arange(n_regions)
        wanted = wanted - (below[own, places] - counts[own, places])
        prefixes = (prefixes << np.uint64(n_bits)) | places.astype(np.uint64)
        n_known += n_bits
    return np.where(empty, 0.0, floats_of(prefixes))


def median_rank(total: int) -> int:
    """The weight that the lower median and all below it have at least."""
    return (total + 1) // 2
