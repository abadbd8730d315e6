"""Choice of the samples that a fit leaves out: for validation, or as one of several folds."""

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Labels
from rebelboost.base.fixed_point import fixed_weights
from rebelboost.base.hashing import hash_rows
from rebelboost.data.samples import AnySamples, Samples


def held_out_samples(samples: AnySamples, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Choose about this fraction of every class's weight, but at least one sample, for validation."""
    place = _places(samples, seed)
    held = place < fraction
    if not held.any():
        held = place == place.min()
    return held & ~_of_absent_class(samples.labels, ~held)


def split(samples: Samples, fraction: float, seed: int) -> tuple[Samples, Samples | None]:
    """Hold out about this fraction of the samples, but never the last sample of a class.

    The held-out part is None if nothing can be held out.
    """
    held = held_out_samples(samples, fraction, seed) if fraction > 0 else np.zeros(1, dtype=bool)
    return (samples.rows(~held), samples.rows(held)) if held.any() else (samples, None)


def folds(samples: Samples, n_folds: int, seed: int) -> list[NDArray[np.bool_]]:
    """(N,) masks of the samples that each fold leaves out: about the same share of every class.

    No fold leaves out the last sample of a class. Folds that would leave out nothing are dropped.
    """
    place = _places(samples, seed)
    fold = np.minimum(place * n_folds, n_folds - 1).astype(np.int64)
    left_out = [fold == i for i in range(n_folds)]
    left_out = [out & ~_of_absent_class(samples.labels, ~out) for out in left_out]
    return [out for out in left_out if out.any()]


def n_distinct(samples: Samples) -> int:
    """Number of distinct samples."""
    return len(np.unique(hash_rows(samples.X, 0)))


def _of_absent_class(labels: Labels, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Samples whose class has no sample among those kept."""
    return np.bincount(labels[kept], minlength=int(labels.max()) + 1)[labels] == 0


def _places(samples: AnySamples, seed: int) -> Floats:
    """(N,) in [0, 1]: position of each sample in a random order of its class, by weight.

    The position depends on a hash of the sample's values, so the order of the rows does not matter. Equal
    samples stay together, so a weight of 2 has the same effect as repeating the sample. If they are more
    than half of their class, they are spread, so that no fold leaves out most of a class.
    """
    weights = fixed_weights(samples.weight)
    mass = np.ones(len(samples.labels), dtype=np.int64) if weights is None else weights
    keys = hash_rows(samples.identity, seed)
    order = np.lexsort((mass, keys, samples.labels))
    keys, labels, mass = keys[order], samples.labels[order], mass[order]
    changes = (keys[1:] != keys[:-1]) | (labels[1:] != labels[:-1])
    first = np.flatnonzero(np.append(True, changes))
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(order))))
    of_group = np.add.reduceat(mass, first)
    of_class = np.bincount(labels, mass)
    before_class = np.cumsum(of_class) - of_class
    end_of_group = np.cumsum(of_group)[group]
    together = 2 * of_group[group] <= of_class[labels]
    middle = np.where(together, end_of_group - of_group[group] / 2, np.cumsum(mass) - mass / 2)
    place = np.ones(len(order))
    np.divide(middle - before_class[labels], of_class[labels], out=place, where=mass > 0)
    placed = np.empty(len(order))
    placed[order] = place
    return placed
