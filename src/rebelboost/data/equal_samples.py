"""Equal samples: merged, so that a weight of 2 and a sample twice give the same model, or labelled as mixed."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rebelboost.base.arrays import Ints
from rebelboost.base.hashing import hash_rows, n_distinct_values
from rebelboost.data.samples import Samples


def mixed_labels(X: ArrayLike, y: ArrayLike, mixed: Any = "mixed") -> NDArray[Any]:
    """Give samples that coincide but have different classes a class of their own [LOCAL, footnote 1].

    Similarities otherwise decide such samples for the class of the lowest cost.

    Parameters
    ----------
    X : array-like of shape (N, d)
        Numbers; NaN is missing.
    y : array-like of shape (N,)
        Class labels.
    mixed : object, default="mixed"
        Label of the new class.

    Returns
    -------
    ndarray of shape (N,)
        The labels, changed where samples coincide and differ in class.
    """
    keys = hash_rows(np.asarray(X, dtype=np.float64), 0)
    labels = np.asarray(y)
    if np.any(labels == mixed):
        raise ValueError(
            f"{mixed!r} is a class of y already: give another name for the mixed class"
        )
    _, group = np.unique(keys, return_inverse=True)
    _, codes = np.unique(labels, return_inverse=True)
    lowest, highest = np.full(len(labels), len(labels)), np.zeros(len(labels), dtype=np.int64)
    np.minimum.at(lowest, group, codes)
    np.maximum.at(highest, group, codes)
    differ = (lowest != highest)[group]
    if not differ.any():
        return labels
    kind = (
        np.result_type(labels, np.asarray(mixed))
        if labels.dtype.kind == np.asarray(mixed).dtype.kind
        else object
    )
    changed: NDArray[Any] = labels.astype(kind)
    changed[differ] = mixed
    return changed


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


def n_distinct(samples: Samples) -> int:
    """Count the samples, equal ones once."""
    return n_distinct_values(hash_rows(samples.X, 0))
