"""Bins of features whose values are spread over blocks: exactly those of all values in one place.

Floats are compared as integers of the same order (`keys_of`). The parts sort their own values once. Then
the ranges of keys that hold the end of a bin are divided again and again, by the bits of the keys, with
integer weights from all parts. No sketch, and no more than a few questions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Floats, Ints
from rebelboost.data.binning import (
    MOST_BINS,
    Binner,
    blocks_shape,
    edges_between_codes,
    ends_of_bins,
    even_edges,
    middles,
)
from rebelboost.rows.base import Merge, Rows, added, largest_of
from rebelboost.rows.block import Block, ScoredRows, Sorted, columns_of_rows, in_memory

Keys = NDArray[np.uint64]
FIRST_BITS = 12
"""Bits of the first division: the sign and the exponent."""
MOST_RANGES = 2**12
"""Ranges of one feature in a question."""
FEW_ROWS = 2**12
"""If the ranges that matter hold no more rows, all their values are asked for."""
AT_ONCE, MOST_SORTED = 16, 2**28
"""Features, and values of all parts, that are sorted at a time: parts need memory, or disk, for them."""
SIGN = np.uint64(1 << 63)


def keys_of(values: NDArray[np.floating[Any]]) -> Keys:
    """Integers in the order of the floats; 0 and −0 are the same."""
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    return np.where(bits & SIGN != 0, ~bits, bits | SIGN)


def sorted_keys(values: NDArray[np.floating[Any]]) -> Keys:
    """The keys of the values that are not NaN, in increasing order: floats are sorted faster than keys."""
    ordered = np.sort(values)  # NaN last
    present = ordered[: np.searchsorted(ordered, np.nan)]
    keys = (present.astype(np.float64) + 0.0).view(np.uint64)
    n_negative = int(np.searchsorted(present, 0.0))
    np.invert(keys[:n_negative], out=keys[:n_negative])
    keys[n_negative:] |= SIGN
    return keys


def floats_of(keys: Keys) -> Floats:
    """The floats that `keys_of` makes these integers of."""
    return np.where(keys & SIGN != 0, keys ^ SIGN, ~keys).view(np.float64)


# ---- what the parts do


def _united(answers: Sequence[list[Keys | None]]) -> list[Keys | None]:
    """Distinct keys of all parts, by feature; None if there are too many."""
    found: list[Keys | None] = []
    for own in zip(*answers, strict=True):
        some = [keys for keys in own if keys is not None]
        found.append(np.unique(np.concatenate(some)) if len(some) == len(own) else None)
    return found


@dataclass(frozen=True)
class Sort:
    """Sort the values of some features."""

    merge: ClassVar[Merge] = _united
    lasting: ClassVar[bool] = False
    features: tuple[int, ...]
    scale: float | None
    """Scale of the weights; None: all equal."""
    most: int

    def apply(self, block: Block) -> list[Keys | None]:
        """Answer the distinct keys of each feature, if there are no more than `most`."""
        assert block.train is not None
        block.sorted = {}
        for f, x in zip(
            self.features, columns_of_rows(block.train.rows.X, self.features), strict=True
        ):
            block.sorted[f] = self._sorted(block, f, x)
        return [self._few(block.sorted[f].keys) for f in self.features]

    def _sorted(self, block: Block, feature: int, x: NDArray[Any]) -> Sorted:
        assert block.train is not None
        rows = block.train.rows
        if self.scale is None or rows.weight is None:
            return Sorted(block.kept(f"sorted-{feature}", sorted_keys(x)), None)
        present = ~np.isnan(x)
        keys = keys_of(x[present])
        order = np.argsort(keys, kind="stable")
        weight = np.rint(rows.weight[present][order] * self.scale).astype(np.int64)
        counts = weight > 0
        mass = np.concatenate([[0], np.cumsum(weight[counts])])
        return Sorted(
            block.kept(f"sorted-{feature}", keys[order][counts]),
            block.kept(f"mass-{feature}", mass),
        )

    def _few(self, keys: Keys) -> Keys | None:
        changes = np.flatnonzero(keys[1:] != keys[:-1])
        if len(changes) >= self.most:
            return None
        return np.append(keys[:1], keys[1:][changes])


@dataclass(frozen=True)
class Masses:
    """Weigh the values between bounds."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    bounds: dict[int, Keys]
    """Feature → increasing lower bounds of its ranges, and the end of the last."""

    def apply(self, block: Block) -> tuple[Ints, ...]:
        """Answer for each feature (2, ranges): weights, and numbers of rows."""
        found = []
        for feature, bounds in self.bounds.items():
            own = block.sorted[feature]
            at = np.searchsorted(own.keys, bounds)
            found.append(np.stack([np.diff(own.below(at)), np.diff(at)]))
        return tuple(found)


Weighed = list[tuple[Keys, Ints]]


def weighed_together(answers: Sequence[Weighed]) -> Weighed:
    """Distinct keys of all parts and their weights, by feature."""
    found: Weighed = []
    for own in zip(*answers, strict=True):
        keys, place = np.unique(np.concatenate([keys for keys, _ in own]), return_inverse=True)
        mass = np.zeros(len(keys), dtype=np.int64)
        np.add.at(mass, place, np.concatenate([mass for _, mass in own]))
        found.append((keys, mass))
    return found


@dataclass(frozen=True)
class Distinct:
    """Find the distinct values in some ranges."""

    merge: ClassVar[Merge] = weighed_together
    lasting: ClassVar[bool] = False
    ranges: dict[int, tuple[Keys, Keys]]
    """Feature → where its ranges begin, and where they end."""

    def apply(self, block: Block) -> Weighed:
        """Answer their keys and weights, by feature."""
        found: Weighed = []
        for feature, (lows, highs) in self.ranges.items():
            own = block.sorted[feature]
            begins, ends = np.searchsorted(own.keys, lows), np.searchsorted(own.keys, highs)
            rows = np.concatenate(
                [np.arange(b, e) for b, e in zip(begins, ends, strict=True)] or [np.empty(0, int)]
            ).astype(np.int64)
            found.append((own.keys[rows], own.below(rows + 1) - own.below(rows)))
        return weighed_together([found])


@dataclass(frozen=True)
class Next:
    """Find the value that follows each of some values."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    keys: dict[int, Keys]

    def apply(self, block: Block) -> tuple[Keys, ...]:
        """Answer for each feature the complements of their keys, of which the largest counts; 0 for none."""
        found = []
        for feature, keys in self.keys.items():
            own = block.sorted[feature].keys
            at = np.searchsorted(own, keys, side="right")
            found.append(np.where(at < len(own), ~np.append(own, ~np.uint64(0))[at], np.uint64(0)))
        return tuple(found)


@dataclass(frozen=True)
class Ends:
    """Find the smallest and the largest value of some features."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False
    features: tuple[int, ...]

    def apply(self, block: Block) -> tuple[Floats]:
        """Answer (features, 2): minus the smallest value, and the largest."""
        assert block.train is not None
        found = np.full((len(self.features), 2), -np.inf)
        for i, column in enumerate(columns_of_rows(block.train.rows.X, self.features)):
            x = column[~np.isnan(column)].astype(np.float64)
            if len(x):
                found[i] = -x.min(), x.max()
        return (found,)


# ---- what follows from their answers


@dataclass
class _Ranges:
    """Ranges of the keys of one feature, in increasing order, and the weight of their values."""

    lows: Keys
    bits: NDArray[np.uint64]
    """log₂ of the length; 0: a single key."""
    mass: Ints
    n_rows: Ints
    most: int

    def unsettled(self) -> NDArray[np.int64]:
        """Ranges of several keys with a value heavier than a bin or, if none has, with the end of a bin."""
        total = self.mass.sum()
        several = self.bits > 0
        heavy = np.flatnonzero(several & (self.mass * self.most > total))
        if len(heavy):
            return heavy
        ends = self.ends()
        return ends[several[ends]]

    def ends(self) -> Ints:
        """The ranges in which bins end."""
        shares = np.minimum(self.mass * self.most, self.mass.sum())
        return ends_of_bins(shares, self.most)

    def highs(self) -> Keys:
        return self.lows + (np.uint64(1) << self.bits)

    def divided(self, chosen: Ints) -> tuple[Keys, int]:
        """Lower bounds of the pieces of the chosen ranges, and the bits by which each is divided."""
        room = int(np.log2(MOST_RANGES // len(chosen)))
        by = max(1, min(room, int(self.bits[chosen].min())))
        step = np.uint64(1) << (self.bits[chosen] - np.uint64(by))
        pieces = np.arange(2**by, dtype=np.uint64)
        return (self.lows[chosen, np.newaxis] + pieces * step[:, np.newaxis]).ravel(), by

    def replaced(self, chosen: Ints, other: "_Ranges") -> "_Ranges":
        """These ranges with others in place of the chosen ones."""
        kept = np.ones(len(self.lows), dtype=bool)
        kept[chosen] = False
        filled = other.n_rows > 0
        lows = np.concatenate([self.lows[kept], other.lows[filled]])
        order = np.argsort(lows, kind="stable")

        def joined(mine: NDArray[np.generic], others: NDArray[np.generic]) -> NDArray[np.generic]:
            return np.concatenate([mine[kept], others[filled]])[order]

        return _Ranges(
            lows[order],
            joined(self.bits, other.bits),  # type: ignore[arg-type]
            joined(self.mass, other.mass),  # type: ignore[arg-type]
            joined(self.n_rows, other.n_rows),  # type: ignore[arg-type]
            self.most,
        )


def _quantile_edges(rows: Rows, features: Sequence[int], most: int) -> dict[int, Floats]:
    """Edges of features with more values than bins."""
    first = np.arange(2**FIRST_BITS, dtype=np.uint64) << np.uint64(64 - FIRST_BITS)
    bounds = np.append(first, ~np.uint64(0))
    answers = rows.ask(Masses(dict.fromkeys(features, bounds)))
    bits = np.full(len(first), 64 - FIRST_BITS, dtype=np.uint64)
    found = {}
    for f, (mass, n_rows) in zip(features, answers, strict=True):
        there = n_rows > 0
        found[f] = _Ranges(first[there], bits[there], mass[there], n_rows[there], most)
    while True:
        open_ = {f: chosen for f, own in found.items() if len(chosen := own.unsettled())}
        if not open_:
            break
        few = {f: c for f, c in open_.items() if found[f].n_rows[c].sum() <= FEW_ROWS}
        if few:
            _settle(rows, found, few)
        many = {f: c for f, c in open_.items() if f not in few}
        if many:
            _divide(rows, found, many)
    values = {f: own.lows[own.ends()] for f, own in found.items()}
    following = rows.ask(Next(values))
    edges = {}
    for (f, keys), after in zip(values.items(), following, strict=True):
        there = after > 0
        pairs = np.stack([floats_of(keys[there]), floats_of(~after[there])], axis=1)
        edges[f] = np.array([middles(pair)[0] for pair in pairs])
    return edges


def _divide(rows: Rows, found: dict[int, _Ranges], many: dict[int, Ints]) -> None:
    """Divide ranges by the next bits of their keys."""
    pieces = {f: found[f].divided(chosen) for f, chosen in many.items()}
    bounds = {}
    for f, (lows, by) in pieces.items():
        length = np.repeat(found[f].bits[many[f]] - np.uint64(by), 2**by)
        # Ranges need not be adjacent: each piece has its own end.
        bounds[f] = np.stack([lows, lows + (np.uint64(1) << length)], axis=1).ravel()
    for (f, chosen), answer in zip(many.items(), rows.ask(Masses(bounds)), strict=True):
        mass, n_rows = answer[:, ::2]
        lows, by = pieces[f]
        bits = np.repeat(found[f].bits[chosen] - np.uint64(by), 2**by)
        found[f] = found[f].replaced(chosen, _Ranges(lows, bits, mass, n_rows, found[f].most))


def _settle(rows: Rows, found: dict[int, _Ranges], few: dict[int, Ints]) -> None:
    """Ask for all values of ranges."""
    ranges = {f: (found[f].lows[c], found[f].highs()[c]) for f, c in few.items()}
    for (f, chosen), (keys, mass) in zip(few.items(), rows.ask(Distinct(ranges)), strict=True):
        alone = np.zeros(len(keys), dtype=np.uint64)
        ones = np.ones(len(keys), dtype=np.int64)
        found[f] = found[f].replaced(chosen, _Ranges(keys, alone, mass, ones, found[f].most))


def binner_of(
    rows: Rows,
    categorical: Bytes,
    max_bins: int,
    method: str,
    scale: float | None,
    n_rows: int,
) -> Binner:
    """The bins that `fit_binner` chooses for all rows in one place."""
    most = MOST_BINS if method == "exact" else max_bins
    edges: dict[int, Floats] = {}
    codes = tuple(np.flatnonzero(categorical).tolist())
    if codes:
        (ends,) = rows.ask(Ends(codes))
        edges |= {
            f: edges_between_codes(max(0.0, high))
            for f, high in zip(codes, ends[:, 1].tolist(), strict=True)
        }
    numeric = np.flatnonzero(categorical == 0).tolist()
    at_once = max(1, min(AT_ONCE, MOST_SORTED // n_rows))
    for first in range(0, len(numeric), at_once):
        features = tuple(numeric[first : first + at_once])
        distinct = rows.ask(Sort(features, scale, most))
        many = []
        for f, keys in zip(features, distinct, strict=True):
            if keys is not None and len(keys) <= most:
                edges[f] = middles(floats_of(keys))
            else:
                many.append(f)
        if many and method == "even":
            (ends,) = rows.ask(Ends(tuple(many)))
            edges |= {
                f: even_edges(-low, high, most)
                for f, (low, high) in zip(many, ends.tolist(), strict=True)
            }
        elif many:
            edges |= _quantile_edges(rows, many, most)
    return Binner(tuple(edges[f] for f in range(len(categorical))), categorical.astype(np.uint8))


@dataclass(frozen=True)
class BinRows:
    """Bin the values, and forget them."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = True
    binner: Binner

    def apply(self, block: Block) -> tuple[int]:
        """Answer the number of rows."""
        assert block.train is not None
        rows = block.train.rows
        block.sorted = {}
        X = in_memory(rows.X)
        blocks = block.array("bins", blocks_shape(X), np.uint8)
        block.bins = self.binner.transform(X, block.n_threads, blocks)
        block.train = ScoredRows(replace(rows, X=np.empty((len(rows), 0))))
        return (len(rows),)
