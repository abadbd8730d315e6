"""A whole tree in one call."""
# ruff: noqa: ARG001, PLR0913, PLR0917  (n_threads; arrays cross borders, objects do not)

import numpy as np

from rebelboost.base.arrays import (
    Bins,
    ByFeature,
    Indices,
    Ints,
    Layer,
    Nodes,
    Order,
    Pairs,
    SearchOptions,
    Splits,
)
from rebelboost.kernels.reference.nodes import split_samples
from rebelboost.kernels.reference.pruning import prune_layer


def grow_tree(
    bins: Bins,
    order: Order,
    allowed: ByFeature,
    values: Pairs,
    samples: Indices,
    options: SearchOptions,
    nodes: Layer,
    scratch: Ints,
    n_threads: int,
) -> int:
    """Search a layer, split its samples, and repeat, for all layers of `nodes`, in level order.

    Reorders `samples`. Only the compiled kernel uses `order` (`sort_bins`; it may have no rows) and
    `scratch` (3/4 · 2^depth rows, B). Returns the number of layers that have a split.
    """
    depth = len(nodes.features).bit_length()
    starts = np.array([0, len(samples)], dtype=np.int32)
    for layer in range(depth):
        n_nodes = 2**layer
        own = slice(n_nodes - 1, 2 * n_nodes - 1)
        splits = Splits(
            nodes.features[own],
            nodes.right[own],
            np.empty((n_nodes, 2), dtype=np.int64),
            np.empty(n_nodes),
        )
        cuts = np.stack([starts[:-1], starts[1:]], axis=1)
        prune_layer(bins, allowed, values, Nodes(samples, cuts), options, splits, n_threads)
        if np.all(splits.features < 0):
            return layer
        if layer + 1 < depth:
            child_starts = np.empty(2 * n_nodes + 1, dtype=np.int32)
            found = Layer(splits.features, splits.right)
            split_samples(bins, found, samples, starts, child_starts, n_threads)
            starts = child_starts
    return depth
