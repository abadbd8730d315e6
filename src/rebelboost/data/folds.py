"""Which samples a fit leaves out: for validation, or as one of several parts.

Samples are left out as new ones will come: by chance, in whole groups (patients, machines) if the user names
them, or in the order of time. What a part leaves out is a share of each sample's weight, so that a sample of
weight 2 is treated as two equal samples, which may fall into different parts. Samples are placed by a hash of
their values: neither their order nor the scale of the weights matters.
"""

from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints, Labels
from rebelboost.base.distinct import n_distinct_values
from rebelboost.base.hashing import hash_rows
from rebelboost.data.samples import AnySamples

WHOLE, FINEST = 1e-6, 1e-4
"""Weights are counts if every one is this close to a multiple of a unit, and how small that may be, compared
with the least."""
MANY = 20
"""Parts, some of which are left out together where that is more than half of all."""
MOST_PIECES = 1 << 16
"""Of one sample, however heavy."""


class Part(NamedTuple):
    """The samples of a fit: what it is trained on, and what it is judged by."""

    kept: BySample
    """(N,) share of each sample's weight that the fit is trained on."""
    out: BySample
    """(N,) share that is left out, by which the fit is judged."""


class Divisible(AnySamples, Protocol):
    """Samples of which parts can be made."""

    @property
    def groups(self) -> Ints | None:
        """(N,) samples with equal numbers are left out together; None: each by itself."""

    @property
    def times(self) -> Ints | None:
        """(N,) rank of each sample in time; None: the order does not matter."""


AnyDivisible = TypeVar("AnyDivisible", bound=Divisible)


def folds(samples: Divisible, n_folds: int, seed: int) -> list[Part]:
    """Parts that leave out about the same share of every class, each sample once.

    No part leaves out the last of a class, and parts that would leave out nothing are dropped. In time, a
    part is trained on what came before the samples that it leaves out; the earliest are never left out.
    """
    if samples.times is not None:
        return _in_time(samples.times, samples.labels, _mass(samples), n_folds)
    if samples.groups is not None:
        shares = _by_group(samples, n_folds, seed)
    else:
        shares = _by_chance(samples, n_folds, seed)
    parts = [_without_last_of_class(out, samples) for out in shares]
    return [Part(1 - out, out) for out in parts if out.any()]


def held_out_part(samples: Divisible, fraction: float, seed: int) -> Part | None:
    """Leave out about this share for validation; None where training cannot do without any sample."""
    n_parts = round(1 / fraction) if fraction <= 0.5 else MANY
    if samples.times is not None:
        latest = _in_time(samples.times, samples.labels, _mass(samples), n_parts - 1)[-1:]
        return latest[0] if latest else None
    divide = _by_chance if samples.groups is None else _by_group
    shares = divide(samples, n_parts, seed)
    n_out = min(max(1, round(fraction * len(shares))), len(shares) - 1)
    out = _without_last_of_class(np.sum(shares[:n_out], axis=0), samples) if n_out else None
    return Part(1 - out, out) if out is not None and out.any() else None


def n_distinct(samples: AnySamples) -> int:
    """Count the samples, equal ones once."""
    return n_distinct_values(hash_rows(samples.X, 0))


def n_pieces(samples: AnySamples, n_folds: int) -> int:
    """Count the pieces that folds are made of: samples, or parts of those that count several times.

    Only ratios count: a table of twenty rows, twice each, has twenty.
    """
    keys = hash_rows(samples.identity, 0, samples.labels)
    _, first, equal = np.unique(keys, return_index=True, return_inverse=True)
    mass = _mass(samples)
    of_class = np.bincount(samples.labels, mass).astype(np.float64)[samples.labels[first]]
    of_set = np.bincount(equal, mass).astype(np.float64)
    counted = of_set > 0  # samples without weight are as good as absent
    return int(_n_pieces(of_set[counted], of_class[counted], n_folds).sum())


def _mass(samples: AnySamples) -> BySample:
    return np.ones(len(samples.labels)) if samples.weight is None else samples.weight


def _without_last_of_class(out: BySample, samples: AnySamples) -> BySample:
    kept = np.bincount(samples.labels, (1 - out) * _mass(samples))
    return np.where(kept[samples.labels] > 0, out, 0.0)


# ---- by chance


def _by_chance(samples: AnySamples, n_folds: int, seed: int) -> list[BySample]:
    """(N,) shares that each part leaves out: pieces of samples go to the parts in turn."""
    mass, labels = _mass(samples), samples.labels
    keys = hash_rows(samples.identity, seed)
    order = np.lexsort((mass, keys, labels))
    keys, labels, mass = keys[order], labels[order], mass[order]
    changes = (keys[1:] != keys[:-1]) | (labels[1:] != labels[:-1])
    first = np.flatnonzero(np.append(True, changes))  # of each set of equal samples
    equal = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(order))))
    of_set = np.add.reduceat(mass, first)
    of_class = np.bincount(labels, mass).astype(np.float64)
    n_pieces = _n_pieces(of_set, of_class[labels[first]], n_folds)
    before = np.cumsum(n_pieces) - n_pieces
    # Where each sample begins and ends, counted in the pieces of its set; rounded, so that sums of
    # weights that no float holds exactly do not cut a sliver off a sample.
    end = np.cumsum(mass)
    within = np.stack([end - mass, end]) - (np.cumsum(of_set) - of_set)[equal]
    size = np.where(of_set > 0, of_set, 1.0) / n_pieces
    begins, ends = before[equal] + np.rint(within / size[equal] * 2**20) / 2**20
    shares = np.zeros((n_folds, len(order)))
    for sample, piece, share in _overlaps(begins, ends):
        np.add.at(shares, (piece % n_folds, sample), share)
    unsorted = np.empty_like(shares)
    unsorted[:, order] = shares
    return list(unsorted)


def _n_pieces(of_set: Floats, of_class: Floats, n_folds: int) -> Ints:
    """How many pieces each set of equal samples has, by its weight and that of its class.

    Where weights are counts, a piece is a sample. Other weights say how much a sample matters: it stays
    whole, but where equal samples would fill a part of their class by themselves.
    """
    unit = _unit(of_set)
    if unit is not None:
        pieces = np.rint(of_set / unit)
    else:
        # Where a set fills a whole number of parts, rounding must not make it one less.
        filled = of_set * n_folds / np.where(of_class > 0, of_class, 1.0)
        pieces = np.floor(filled * (1 + WHOLE))
    return np.clip(pieces, 1, MOST_PIECES).astype(np.int64)


def _unit(masses: Floats) -> float | None:
    """The largest number that all masses are multiples of, by Euclid's algorithm; None if it is tiny.

    Then the masses are counts, in this unit.
    """
    values = np.unique(masses[masses > 0])
    unit = least = float(values.min(initial=np.inf))
    for value in values.tolist():
        rest = value % unit
        while min(rest, unit - rest) > WHOLE * value:
            unit, rest = rest, unit % rest
            if unit < FINEST * least:
                return None
    counts = values / unit
    return unit if np.all(np.abs(counts - np.rint(counts)) <= WHOLE * counts) else None


def _overlaps(begins: Floats, ends: Floats) -> list[tuple[Ints, Ints, Floats]]:
    """Samples, pieces that they overlap with, and the share of the sample that lies in the piece."""
    samples = np.arange(len(begins))
    first, last = np.floor(begins).astype(np.int64), np.ceil(ends).astype(np.int64)
    length = np.where(ends > begins, ends - begins, 1.0)
    found: list[tuple[Ints, Ints, Floats]] = []
    piece = first.copy()
    while True:
        there = (piece < last) | (piece == first)
        if not there.any():
            return found
        inside = np.minimum(ends, piece + 1) - np.maximum(begins, piece)
        share = np.where(ends > begins, inside / length, 1.0)
        found.append((samples[there], piece[there], share[there]))
        piece = np.where(there, piece + 1, last + 1)


# ---- in groups, and in time


def _by_group(samples: Divisible, n_folds: int, seed: int) -> list[BySample]:
    """Whole groups, the heaviest first, each to the part where its classes are rarest."""
    assert samples.groups is not None
    names, groups = np.unique(samples.groups, return_inverse=True)
    n_folds = min(n_folds, len(names))
    n_classes = int(samples.labels.max()) + 1
    cells = groups * n_classes + samples.labels
    mass = np.bincount(cells, _mass(samples), len(names) * n_classes).reshape(-1, n_classes)
    total = np.maximum(mass.sum(axis=0), np.finfo(np.float64).tiny)
    lots = hash_rows(names.astype(np.float64)[:, np.newaxis], seed)
    filled = np.zeros((n_folds, n_classes))
    fold = np.empty(len(names), dtype=np.int64)
    for g in np.lexsort((lots, -mass.sum(axis=1))):
        crowded = (filled * mass[g] / total**2).sum(axis=1)
        fold[g] = np.lexsort((filled.sum(axis=1), crowded))[0]
        filled[fold[g]] += mass[g]
    return [(fold[groups] == i).astype(np.float64) for i in range(n_folds)]


def _in_time(times: Ints, labels: Labels, mass: BySample, n_folds: int) -> list[Part]:
    """Blocks of about the same weight; each but the first is left out, and trained on the ones before."""
    moments, rank = np.unique(times, return_inverse=True)
    of_moment = np.bincount(rank, mass, len(moments))
    middle = (np.cumsum(of_moment) - of_moment / 2) / of_moment.sum()
    block = np.minimum((middle * (n_folds + 1)).astype(np.int64), n_folds)[rank]
    parts = []
    for i in range(1, n_folds + 1):
        kept, out = (block < i).astype(np.float64), (block == i).astype(np.float64)
        if out.any() and n_distinct_values(labels[block < i]) == n_distinct_values(labels):
            parts.append(Part(kept, out))
    return parts


def divided(samples: AnyDivisible, share: NDArray[np.float64]) -> AnyDivisible:
    """The samples of which a part has some share, with that share of their weight."""
    chosen = share > 0
    some: AnyDivisible = samples.rows(chosen)  # type: ignore[attr-defined]
    if np.all(share[chosen] == 1):
        return some
    return some.weighed(share[chosen])  # type: ignore[attr-defined]
