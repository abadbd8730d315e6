"""The stump for all classes together: K-vector sums."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bins, ByFeature, Bytes, Ints, Nodes
from rebelboost.kernels.reference.binning import column, n_bins
from rebelboost.kernels.reference.nodes import samples_of
from rebelboost.kernels.reference.splits import threshold_tables


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

    `values` (N, K padded to a multiple of 8) are the fixed-point G, `totals` (K,) are S. `right` (256,)
    receives the bins that go right. Returns the feature (−1 if the constant response is at least as
    good), the criterion, and the visits and dropped features. Ties go to the lowest (feature, bin).
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
