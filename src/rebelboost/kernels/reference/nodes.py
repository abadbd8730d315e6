"""The nodes of a tree, and the samples in them."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bins, Floats, Indices, Ints, Layer, Nodes, Regions
from rebelboost.kernels.reference.binning import column


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


def descend(bins: Bins, layer: Layer, regions: Regions, n_threads: int) -> None:
    """Go one layer further: region i becomes 2i or 2i + 1, by the split of node i."""
    goes_right = np.zeros(len(regions), dtype=bool)
    for node, feature in enumerate(layer.features):
        if feature >= 0:
            here = regions == node
            goes_right[here] = layer.right[node, column(bins, feature)[here]] != 0
    regions[:] = 2 * regions + goes_right


def heaviest_first(
    keys: Ints,
    samples: Indices,
    starts: NDArray[np.int32],
    shares: Floats,
    cuts: NDArray[np.int32],
    n_threads: int,
) -> None:
    """Divide each node's samples into subsets, those with the largest keys first.

    Keys are compared up to a quarter of a power of two. Within a subset the samples keep their order.
    `cuts` (m, shares + 2) receives where a node begins, where its first samples hold these shares of
    the sum of its keys, and where it ends. A key counts by its absolute value. If there are keys of
    both signs, those of the lighter sign are scaled up so that both signs have the same sum.
    """
    for node, (begin, end) in enumerate(pairwise(starts)):
        own = samples[begin:end]
        weights = _balanced(keys[own])
        falling = np.argsort(_buckets(weights), kind="stable")
        held = np.cumsum(np.append(0, weights[falling])).astype(np.float64)
        inner = np.searchsorted(held[:-1], shares * held[-1], side="left")
        places = [np.sort(part) for part in np.split(falling, inner)]
        own[:] = own[np.concatenate(places)]
        cuts[node] = begin + np.array([0, *inner, len(own)])


def _balanced(keys: Ints) -> Ints:
    plus, minus = int(keys[keys > 0].sum()), -int(keys[keys < 0].sum())
    weights = np.abs(keys)
    if plus > 0 and minus > 0:
        lighter = keys > 0 if plus < minus else keys <= 0
        weights[lighter] = weights[lighter] * (max(plus, minus) / min(plus, minus))
    return weights


def _buckets(keys: Ints) -> Ints:
    """Number the quarters of powers of two from the highest on; keys of 0 come last."""
    mantissa, exponent = np.frexp(keys.astype(np.float64))
    quarter = 4 * exponent.astype(np.int64) + (8 * mantissa).astype(np.int64)
    return np.where(keys > 0, -quarter, 0)
