"""Searches that drop features on the way. Here they visit everything: the splits are the same."""

import numpy as np

from rebelboost.base.arrays import Bins, ByFeature, Nodes, Pairs, SearchOptions, Splits
from rebelboost.kernels.reference.layer import search_layer


def prune_layer(
    bins: Bins,
    allowed: ByFeature,
    values: Pairs,
    nodes: Nodes,
    options: SearchOptions,
    splits: Splits,
    n_threads: int,
) -> tuple[int, int]:
    """Find the splits of `search_layer` without keeping sums.

    After each subset of a node's samples, the compiled kernel drops the features that the remaining
    samples cannot make the best [QUICK, Sec. 4]. Returns the number of (sample, feature) visits and of
    dropped features.
    """
    sums = np.empty((len(nodes.cuts), bins.offsets[-1]), dtype=np.int64)
    search_layer(bins, allowed, values, nodes, sums[:0], sums, options, splits, n_threads)
    n_samples = int((nodes.cuts[:, -1] - nodes.cuts[:, 0]).sum())
    return n_samples * int(np.count_nonzero(allowed)), 0
