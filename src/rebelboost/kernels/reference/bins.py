"""Values → bins, and samples → nodes of a tree."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bins, Bytes, Floats, Indices, Layer, Nodes, Regions, Values

BLOCK = 16


def bin_values(
    X: Values,
    edges: Floats,
    edge_offsets: NDArray[np.int32],
    missing: Bytes,
    blocks: Bytes,
    n_threads: int,
) -> None:
    """Bin of a value: how many of its feature's edges are below it; NaN has bin missing[f]."""
    for f in range(X.shape[1]):
        x = X[:, f].astype(np.float64)
        own = edges[edge_offsets[f] : edge_offsets[f + 1]]
        blocks[f // BLOCK, :, f % BLOCK] = np.where(
            np.isnan(x), missing[f], np.searchsorted(own, x, side="left")
        )


def column(bins: Bins, feature: int) -> Bytes:
    """(N,) bins of one feature."""
    return bins.blocks[feature // BLOCK, :, feature % BLOCK]


def n_bins(bins: Bins, feature: int) -> int:
    """Bins of one feature, the one for missing values included."""
    return int(bins.offsets[feature + 1] - bins.offsets[feature])


def samples_of(nodes: Nodes, node: int) -> Indices:
    """(n,) samples of one node."""
    return nodes.samples[nodes.cuts[node, 0] : nodes.cuts[node, -1]]


def split_samples(
    bins: Bins,
    layer: Layer,
    samples: Indices,
    starts: NDArray[np.int32],
    child_starts: NDArray[np.int32],
    n_threads: int,
) -> None:
    """Split each node's samples[starts[i] : starts[i + 1]], keeping their order.

    The children of node i are 2i and 2i + 1; `child_starts` (2m + 1,) receives where they begin.
    """
    for i, feature in enumerate(layer.features):
        own = samples[starts[i] : starts[i + 1]]
        goes_right = np.zeros(len(own), dtype=bool)
        if feature >= 0:
            goes_right = layer.right[i, column(bins, feature)[own]] != 0
        own[:] = np.concatenate([own[~goes_right], own[goes_right]])
        child_starts[2 * i] = starts[i]
        child_starts[2 * i + 1] = starts[i] + np.count_nonzero(~goes_right)
    child_starts[-1] = starts[-1]


def route(bins: Bins, nodes: Layer, regions: Regions, n_threads: int) -> None:
    """Find the leaf that each sample reaches in a tree of complete layers, nodes in level order."""
    n_nodes = len(nodes.features)
    at = np.zeros(len(regions), dtype=np.int64)
    for _ in range(n_nodes.bit_length()):
        goes_right = np.zeros(len(regions), dtype=bool)
        for node in np.unique(at):
            if nodes.features[node] >= 0:
                here = at == node
                goes_right[here] = nodes.right[node, column(bins, nodes.features[node])[here]] != 0
        at = 2 * at + 1 + goes_right
    regions[:] = at - n_nodes
