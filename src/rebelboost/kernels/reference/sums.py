"""Sums of fixed-point weights over the bins of features."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bins, ByFeature, Indices, Ints, Pairs
from rebelboost.kernels.reference.binning import column


def class_sums(
    bins: Bins,
    allowed: ByFeature,
    values: NDArray[np.int32],
    samples: Indices,
    sums: NDArray[np.int32],
    n_threads: int,
) -> None:
    """Add the samples' values, (N, K padded to a multiple of 8), to the (B, K padded) sums."""
    for f in map(int, np.flatnonzero(allowed)):
        np.add.at(
            sums, bins.offsets[f] + column(bins, f)[samples].astype(np.int64), values[samples]
        )


def pair_sums_of(bins: Bins, values: Pairs, samples: Indices) -> Ints:
    """(B,) sums of the samples' pairs in each bin of each feature."""
    sums = np.zeros(bins.offsets[-1], dtype=np.int64)
    for f in range(len(bins.categorical)):
        np.add.at(sums, bins.offsets[f] + column(bins, f)[samples], values[samples])
    return sums


def signed_of(pair: Ints | int) -> Ints:
    """The signed sum of a pair, signed · 2³² + mass."""
    return np.asarray(pair, dtype=np.int64) >> 32


def mass_of(pair: Ints | int) -> Ints:
    """The mass of a pair, signed · 2³² + mass."""
    return np.asarray(pair, dtype=np.int64) & 0xFFFFFFFF
