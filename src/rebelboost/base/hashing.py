"""Hashes of rows, by which samples are drawn independently of their order, and counts of distinct values."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Labels, Values

Keys = NDArray[np.uint64]
"""(N,) hashes."""
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


WIDE = 512
"""Tables with more columns are hashed by a sum over columns, which needs no loop over them."""
AT_ONCE = 1 << 20
"""Number of values that are hashed at a time by such a sum."""


def hash_rows(X: Values, seed: int, labels: Labels | None = None) -> Keys:
    """(N,) hashes; equal for rows with equal values (and equal labels, if given)."""
    keys = np.full(len(X), seed, dtype=np.uint64)
    columns = X.T if X.shape[1] <= WIDE else [_sums_over_columns(X)]
    for column in columns if labels is None else (labels, *columns):
        bits = column if column.dtype == np.uint64 else _bits(column)
        keys = (keys ^ bits) * GOLDEN
        keys ^= keys >> np.uint64(29)
    return keys * np.uint64(0xBF58476D1CE4E5B9)


def _bits(values: NDArray[Any]) -> Keys:
    """One bit pattern for NaN, and one for 0 and −0."""
    return np.where(np.isnan(values), np.nan, values.astype(np.float64) + 0.0).view(np.uint64)


def _sums_over_columns(X: Values) -> Keys:
    """(N,) sums of mixed bits times odd factors."""
    factors = (np.arange(1, X.shape[1] + 1, dtype=np.uint64) * GOLDEN) | np.uint64(1)
    factors ^= (factors >> np.uint64(31)) << np.uint64(1)
    keys = np.empty(len(X), dtype=np.uint64)
    step = max(1, AT_ONCE // X.shape[1])
    for first in range(0, len(X), step):
        bits = _bits(X[first : first + step])
        bits ^= bits >> np.uint64(29)  # a sum of products alone is linear in the bits
        bits *= factors
        bits ^= bits >> np.uint64(32)
        keys[first : first + step] = bits.sum(axis=1, dtype=np.uint64)
    return keys


def draw(keys: Keys, share: float, rng: "np.random.Generator") -> NDArray[np.bool_]:
    """(N,) whether each sample is drawn: about this share of the keys, and equal keys together."""
    return drawn_by(keys, share, int(rng.integers(2**64, dtype=np.uint64)))


def drawn_by(keys: Keys, share: float, number: int) -> NDArray[np.bool_]:
    """The same, given a random number of 64 bits."""
    mixed = keys ^ np.uint64(number)
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mixed ^= mixed >> np.uint64(30)
        mixed *= np.uint64(factor)
    return (mixed >> np.uint64(11)) < share * 2.0**53


# ---- distinct values


T = TypeVar("T", bound=np.generic)


def distinct(values: NDArray[T]) -> NDArray[T]:
    """All values in ascending order, each once; there must be no NaN."""
    ordered = np.sort(values, axis=None)
    return ordered[_is_first(ordered)]


def n_distinct_values(values: NDArray[Any]) -> int:
    """Count the values, equal ones once."""
    return int(np.count_nonzero(_is_first(np.sort(values, axis=None))))


def _is_first(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first
