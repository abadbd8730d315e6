"""Which samples a fit leaves out: for validation, or as one of several parts.

Samples are left out as new ones will come: by chance, in whole groups (patients, machines) if the user names
them, or in the order of time. A sample is left out as a whole, whatever its weight: a part that is trained on
some of a sample's weight has seen the sample. Equal samples may fall into different parts, as new ones will
equal old ones. Samples are placed by a hash of their values: neither their order nor their weights matter.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Ints, Labels
from rebelboost.base.hashing import hash_rows, n_distinct_values
from rebelboost.data.samples import Samples

MANY = 20
"""Parts, some of which are left out together where that is more than half of all."""

Mask = NDArray[np.bool_]


class Part(NamedTuple):
    """The samples of a fit: what it is trained on, and what it is judged by."""

    kept: Mask
    """(N,) the samples that the fit is trained on."""
    out: Mask
    """(N,) the samples that are left out, by which the fit is judged."""


def folds(samples: Samples, n_folds: int, seed: int, together: int = 1) -> list[Part]:
    """Parts that leave out about the same share of every class: so many folds `together`, in turn.

    Each sample is left out by as many parts. No part leaves out the last of a class, and parts that would leave
    out nothing are dropped. In time, a part is trained on what came before the samples that it leaves out, one
    fold; the earliest are never left out.
    """
    if samples.times is not None:
        return _in_time(samples.times, samples.labels, _mass(samples), n_folds)
    fold = numbered(samples, n_folds, seed)
    if samples.groups is not None:  # there may be fewer groups than folds
        n_folds = int(fold.max()) + 1
        together = max(1, min(together, n_folds // 2))
    outs = [(fold - i) % n_folds < together for i in range(n_folds)]
    parts = [_without_last_of_class(out, samples) for out in outs]
    return [Part(~out, out) for out in parts if out.any()]


def held_out_part(samples: Samples, fraction: float, seed: int) -> Part | None:
    """Leave out about this share for validation; None where training cannot do without any sample."""
    n_parts = round(1 / fraction) if fraction <= 0.5 else MANY
    if samples.times is not None:
        latest = _in_time(samples.times, samples.labels, _mass(samples), n_parts - 1)[-1:]
        return latest[0] if latest else None
    fold = numbered(samples, n_parts, seed)
    n_folds = n_parts if samples.groups is None else int(fold.max()) + 1
    n_out = min(max(1, round(fraction * n_folds)), n_folds - 1)
    out = _without_last_of_class(fold < n_out, samples)
    return Part(~out, out) if out.any() else None


def _mass(samples: Samples) -> BySample:
    return np.ones(len(samples.labels)) if samples.weight is None else samples.weight


def _without_last_of_class(out: Mask, samples: Samples) -> Mask:
    kept = np.bincount(samples.labels, ~out)
    return out & (kept[samples.labels] > 0)


def numbered(samples: Samples, n_folds: int, seed: int) -> Ints:
    """(N,) the fold of each sample; with groups, there may be fewer folds."""
    divide = _by_chance if samples.groups is None else _by_group
    return divide(samples, n_folds, seed)


def _by_chance(samples: Samples, n_folds: int, seed: int) -> Ints:
    """Samples of each class go to the folds in turn, in the order of their hashes."""
    keys = hash_rows(samples.identity, seed)
    # What else tells equal samples apart comes last: then the order of rows does not matter.
    told_apart: list[NDArray[Any]] = [*samples.beside, _mass(samples), keys, samples.labels]
    order = np.lexsort(told_apart)
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = np.arange(len(order)) % n_folds
    return fold


def _by_group(samples: Samples, n_folds: int, seed: int) -> Ints:
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
    return fold[groups]


def _in_time(times: Ints, labels: Labels, mass: BySample, n_folds: int) -> list[Part]:
    """Blocks of about the same weight; each but the first is left out, and trained on the ones before."""
    moments, rank = np.unique(times, return_inverse=True)
    of_moment = np.bincount(rank, mass, len(moments))
    middle = (np.cumsum(of_moment) - of_moment / 2) / of_moment.sum()
    block = np.minimum((middle * (n_folds + 1)).astype(np.int64), n_folds)[rank]
    parts = []
    for i in range(1, n_folds + 1):
        kept, out = block < i, block == i
        if out.any() and n_distinct_values(labels[kept]) == n_distinct_values(labels):
            parts.append(Part(kept, out))
    return parts
