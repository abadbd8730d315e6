"""Hashes of samples by value, for random draws that do not depend on the order of the rows."""

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Labels, Values

Keys = NDArray[np.uint64]
"""(N,) hashes."""


def hash_rows(X: Values, seed: int, labels: Labels | None = None) -> Keys:
    """(N,) hashes; equal for rows with equal values (and equal labels, if given)."""
    keys = np.full(len(X), seed, dtype=np.uint64)
    for column in X.T if labels is None else (labels, *X.T):
        # One bit pattern for NaN, and one for 0 and −0.
        x = np.where(np.isnan(column), np.nan, column.astype(np.float64) + 0.0)
        keys = (keys ^ x.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys * np.uint64(0xBF58476D1CE4E5B9)


def draw(keys: Keys, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(N,) whether each sample is drawn: about this share of the keys, and equal keys together."""
    return drawn_by(keys, share, int(rng.integers(2**64, dtype=np.uint64)))


def drawn_by(keys: Keys, share: float, number: int) -> NDArray[np.bool_]:
    """The same, given a random number of 64 bits."""
    mixed = keys ^ np.uint64(number)
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mixed ^= mixed >> np.uint64(30)
        mixed *= np.uint64(factor)
    return (mixed >> np.uint64(11)) < share * 2.0**53
