"""The root of a tree with one output: K-vector sums."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bins, ByFeature, Bytes, Indices, Ints, Nodes
from rebelboost.kernels.reference.bins import column, n_bins, samples_of


def class_sums(
    bins: Bins,
    allowed: ByFeature,
    values: NDArray[np.int32],
    samples: Indices,
    sums: NDArray[np.int32],
    n_threads: int,
) -> None:
    """Add the samples' (N, K padded to a multiple of 8) values to the (B, K padded) sums of their bins."""
    for f in map(int, np.flatnonzero(allowed)):
        np.add.at(
            sums, bins.offsets[f] + column(bins, f)[samples].astype(np.int64), values[samples]
        )


def search_root(
    bins: Bins,
    allowed: ByFeature,
    values: NDArray[np.int32],
    totals: Ints,
    nodes: Nodes,
    right: Bytes,
    n_threads: int,
) -> tuple[int, int, tuple[int, int]]:
    """Find the stump with the lowest Σ_k √(S_k² − P_k²) [THESIS, Eq. 4.10], roots rounded to integers.

    `values` (N, K padded to a multiple of 8) are the fixed-point G, `totals` (K,) are S. Returns the
    feature, −1 where the constant response is at least as good, and the criterion; ties go to
    the lowest (feature, bin). `right` (256,) receives the bins that go right.
    """
    samples = samples_of(nodes, 0)
    own = values[samples, : totals.size].astype(np.int64)
    total = own.sum(axis=0)
    best = (_root_criterion(totals, total, np.zeros_like(total)[np.newaxis])[0], -1)
    right[:] = 0
    for f in map(int, np.flatnonzero(allowed)):
        codes = column(bins, f)[samples]
        sums = np.zeros((n_bins(bins, f), totals.size), dtype=np.int64)
        np.add.at(sums, codes, own)
        tables = _category_tables(sums) if bins.categorical[f] else threshold_tables(sums)
        if len(tables) == 0:
            continue
        left = (1 - tables.astype(np.int64)) @ sums
        criterion = _root_criterion(totals, total, left)
        first = int(np.argmin(criterion))
        if criterion[first] < best[0]:
            best = (criterion[first], int(f))
            right[:] = 0
            right[: len(sums)] = tables[first]
            if not bins.categorical[f] and not sums[-1].any():
                n_right = np.count_nonzero(right[codes])
                right[len(sums) - 1] = 2 * n_right > len(samples)
    return best[1], int(best[0]), (len(samples) * int(np.count_nonzero(allowed)), 0)


def _root_criterion(mass: Ints, total: Ints, left: Ints) -> Ints:
    P = (total - left) - left
    product = np.maximum(0, np.maximum(0, mass - P) * (mass + P))
    roots: Ints = np.rint(np.sqrt(product.astype(np.float64))).astype(np.int64)
    return roots.sum(axis=1, dtype=np.int64)


def _category_tables(sums: Ints) -> Bytes:
    """One category against the rest: it goes left."""
    return 1 - np.eye(len(sums), dtype=np.uint8)


def threshold_tables(sums: Ints) -> Bytes:
    """Thresholds in order with missing values left, then, if there are any, with them right.

    Only after bins that hold something: one after an empty bin is worth what the one before it is.
    """
    bins = np.arange(len(sums))
    filled = np.flatnonzero(sums[:-1].reshape(len(sums) - 1, -1).any(axis=1))
    after = (bins > filled[:, np.newaxis]).astype(np.uint8)
    missing_left = after[:-1].copy()
    missing_left[:, -1] = 0
    return np.concatenate([missing_left, after]) if sums[-1].any() else missing_left
