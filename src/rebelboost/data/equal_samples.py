"""Merge equal samples, so that a sample of weight 2 and the same sample twice give the same model."""

from dataclasses import replace

import numpy as np

from rebelboost.base.arrays import Ints
from rebelboost.base.hashing import hash_rows
from rebelboost.data.samples import Samples


def merge_equal(samples: Samples) -> tuple[Samples, Ints]:
    """Merge samples with the same values, class, costs, group and time, and add up their weights.

    Also returns the index of each given sample among the merged ones. Their order is that of a hash of
    the values; it does not depend on the order given.
    """
    more = [each for each in (samples.groups, samples.times) if each is not None]
    told_apart = [*more, *samples.costs.T] if samples.by_sample else more
    values = np.column_stack([samples.X, *told_apart]) if told_apart else samples.X
    keys = hash_rows(values, 0, samples.labels)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    merged = samples.take(first)
    if len(first) == len(samples):
        return merged, place
    weight = np.bincount(place, samples.weight).astype(np.float64)
    return replace(merged, weight=weight), place
