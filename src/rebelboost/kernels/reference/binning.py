"""Values → bins."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bins, Bytes, Floats, Order, Values

BLOCK = 16


def bin_values(
    X: Values,
    edges: Floats,
    edge_offsets: NDArray[np.int32],
    missing: Bytes,
    blocks: Bytes,
    n_threads: int,
) -> None:
    """Count the edges of its feature below each value: its bin. NaN goes to bin missing[f]."""
    for f in range(X.shape[1]):
        x = X[:, f].astype(np.float64)
        own = edges[edge_offsets[f] : edge_offsets[f + 1]]
        blocks[f // BLOCK, :, f % BLOCK] = np.where(
            np.isnan(x), missing[f], np.searchsorted(own, x, side="left")
        )


def sort_bins(bins: Bins, order: Order, n_threads: int) -> None:
    """Sort the samples by the bins of each feature, as bin · 2²⁴ + sample, (d, N)."""
    samples = np.arange(bins.blocks.shape[1], dtype=np.uint32)
    for f in range(len(order)):
        order[f] = np.sort(column(bins, f).astype(np.uint32) * np.uint32(2**24) + samples)


def column(bins: Bins, feature: int) -> Bytes:
    """(N,) bins of one feature."""
    return bins.blocks[feature // BLOCK, :, feature % BLOCK]


def n_bins(bins: Bins, feature: int) -> int:
    """Number of bins of one feature, including the one for missing values."""
    return int(bins.offsets[feature + 1] - bins.offsets[feature])
