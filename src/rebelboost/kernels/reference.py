"""The kernels in NumPy: the text to check against the papers, and the oracle of the tests.

Each function has the name, the arguments and, to the last bit, the results of its compiled twin.
Arrays that receive results come from the caller; `n_threads` is the twin's affair.
"""
# ruff: noqa: ARG001  (n_threads)

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.shapes import (
    CRITERIA,
    Bins,
    ByFeature,
    Bytes,
    Floats,
    Ints,
    Labels,
    Layer,
    Nodes,
    Pairs,
    Planes,
    Projection,
    Regions,
    Samples,
    Scores,
    SearchOptions,
    Splits,
    Step,
    Trees,
    Values,
)

__all__ = [
    "advance",
    "apply",
    "bin_values",
    "grow_tree",
    "predict",
    "project",
    "region_sums",
    "route",
    "search_layer",
    "search_root",
    "split_samples",
]

BLOCK = 16
TINY = 2.0**-900


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


def _column(bins: Bins, feature: int) -> Bytes:
    return bins.blocks[feature // BLOCK, :, feature % BLOCK]


def _n_bins(bins: Bins, feature: int) -> int:
    return int(bins.offsets[feature + 1] - bins.offsets[feature])


def _samples_of(nodes: Nodes, node: int) -> Samples:
    return nodes.samples[nodes.cuts[node, 0] : nodes.cuts[node, -1]]


# ---- the root of a tree with one output: K-vector sums


def search_root(
    bins: Bins,
    allowed: ByFeature,
    values: NDArray[np.int32],
    totals: Ints,
    nodes: Nodes,
    right: Bytes,
    n_threads: int,
) -> tuple[int, int]:
    """Find the stump with the lowest Σ_k √(S_k² − P_k²) [REBEL, Eq. 7], roots rounded to integers.

    `values` (N, K padded to a multiple of 8) are the fixed-point G, `totals` (K,) are S. Returns the
    feature, −1 where the constant response is at least as good, and the criterion; ties go to
    the lowest (feature, bin). `right` (256,) receives the bins that go right.
    """
    samples = _samples_of(nodes, 0)
    own = values[samples, : totals.size].astype(np.int64)
    total = own.sum(axis=0)
    best = (_root_criterion(totals, total, np.zeros_like(total)[np.newaxis])[0], -1)
    right[:] = 0
    for f in np.flatnonzero(allowed):
        codes = _column(bins, f)[samples]
        sums = np.zeros((_n_bins(bins, f), totals.size), dtype=np.int64)
        np.add.at(sums, codes, own)
        tables = _category_tables(sums) if bins.categorical[f] else _threshold_tables(sums)
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
    return best[1], int(best[0])


def _root_criterion(mass: Ints, total: Ints, left: Ints) -> Ints:
    P = (total - left) - left
    product = np.maximum(0, np.maximum(0, mass - P) * (mass + P))
    roots: Ints = np.rint(np.sqrt(product.astype(np.float64))).astype(np.int64)
    return roots.sum(axis=1, dtype=np.int64)


def _category_tables(sums: Ints) -> Bytes:
    """One category against the rest: it goes left."""
    return 1 - np.eye(len(sums), dtype=np.uint8)


def _threshold_tables(sums: Ints) -> Bytes:
    """Thresholds in order with missing values left, then, if there are any, with them right.

    Only after bins that hold something: one after an empty bin is worth what the one before it is.
    """
    bins = np.arange(len(sums))
    filled = np.flatnonzero(sums[:-1].reshape(len(sums) - 1, -1).any(axis=1))
    after = (bins > filled[:, np.newaxis]).astype(np.uint8)
    missing_left = after[:-1].copy()
    missing_left[:, -1] = 0
    return np.concatenate([missing_left, after]) if sums[-1].any() else missing_left


# ---- layers: pair sums


def search_layer(
    bins: Bins,
    allowed: ByFeature,
    values: Pairs,
    nodes: Nodes,
    parent_sums: Ints,
    sums: Ints,
    options: SearchOptions,
    splits: Splits,
    n_threads: int,
) -> None:
    """Find the best split of every node of a layer; ties go to the lowest (feature, bin).

    `sums` (m, B) receives each node's sums. The compiled twin takes the larger of two siblings from
    `parent_sums`; here every node is summed.
    """
    for node in range(len(nodes.cuts)):
        samples = _samples_of(nodes, node)
        _pair_sums(bins, values, samples, sums[node])
        total = int(values[samples].sum())
        _write_best(bins, allowed, sums[node], (total, len(samples)), options, splits, node)


def _pair_sums(bins: Bins, values: Pairs, samples: Samples, sums: Ints) -> None:
    sums[:] = 0
    for f in range(len(bins.categorical)):
        np.add.at(sums, bins.offsets[f] + _column(bins, f)[samples], values[samples])


def _write_best(
    bins: Bins,
    allowed: ByFeature,
    sums: Ints,
    total: tuple[int, int],
    options: SearchOptions,
    splits: Splits,
    node: int,
) -> None:
    whole, n_samples = total
    best_value, best_table, best_left, best_feature = -1.0, None, 0, -1
    divisible = n_samples >= 2 and _mass(whole) >= 2 * options.least_mass
    for f in np.flatnonzero(allowed) if divisible else []:
        own = sums[bins.offsets[f] : bins.offsets[f + 1]]
        tables = _ordered_tables(own) if bins.categorical[f] else _threshold_tables(own)
        if len(tables) == 0:
            continue
        left = (1 - tables.astype(np.int64)) @ own
        worth = _worth(left, whole, options)
        first = int(np.argmax(worth))
        if worth[first] > best_value:
            best_value, best_table, best_left = worth[first], tables[first].copy(), int(left[first])
            best_feature = int(f)
    gain = _gain(best_value, whole, options) if best_table is not None else 0.0
    splits.right[node] = 0
    if best_table is None or not gain > 0:
        splits.features[node], splits.gains[node] = -1, 0.0
        splits.sides[node] = whole, 0
        return
    own = sums[bins.offsets[best_feature] : bins.offsets[best_feature + 1]]
    mostly_right = _mass(whole - best_left) > _mass(best_left)
    if bins.categorical[best_feature]:
        best_table[_mass(own) == 0] = mostly_right
    elif own[-1] == 0:
        best_table[-1] = mostly_right
    splits.right[node, : len(own)] = best_table
    splits.features[node], splits.gains[node] = best_feature, gain
    splits.sides[node] = best_left, whole - best_left


def _signed(pair: Ints | int) -> Ints:
    return np.asarray(pair, dtype=np.int64) >> 32


def _mass(pair: Ints | int) -> Ints:
    return np.asarray(pair, dtype=np.int64) & 0xFFFFFFFF


def _ordered_tables(sums: Ints) -> Bytes:
    """Categories that hold something, by rising P/M; then thresholds between them.

    For `variance` the best of all subsets is among these; for `error` too.
    """
    mass, signed = _mass(sums).tolist(), _signed(sums).tolist()
    keys = [_Ratio(s, m) for s, m in zip(signed, mass, strict=True)]
    order = sorted(np.flatnonzero(sums).tolist(), key=keys.__getitem__)
    tables = np.zeros((max(0, len(order) - 1), len(sums)), dtype=np.uint8)
    for i, table in enumerate(tables):
        table[order[i + 1 :]] = 1
    return tables


class _Ratio(NamedTuple):
    """P/M, compared exactly by cross-multiplication of integers."""

    signed: int
    mass: int

    def __lt__(self, other: tuple[int, ...]) -> bool:
        signed, mass = other
        if self.mass == 0 or mass == 0:
            return self.mass < mass
        return self.signed * mass < signed * self.mass


def _worth(left: Ints, total: int, options: SearchOptions) -> Floats:
    """Value splits by their left sides (p, m), of a node (P, M): the right ones are (q, r).

    For `variance`, M·(p²/m + q²/r − P²/M) = (p·M − P·m)²/(m·r).
    """
    P, M = float(_signed(total)), float(_mass(total))
    p, m = _signed(left).astype(np.float64), _mass(left).astype(np.float64)
    r = M - m
    if options.criterion == CRITERIA["variance"]:
        apart = p * M - P * m
        with np.errstate(invalid="ignore", divide="ignore"):
            worth = apart * apart / (m * r)
    else:
        worth = np.abs(p) + np.abs(P - p)
    return np.where((m >= options.least_mass) & (r >= options.least_mass), worth, -1.0)


def _gain(worth: float, total: int, options: SearchOptions) -> float:
    """How much more a split is worth than the undivided node."""
    if options.criterion == CRITERIA["error"]:
        return worth - abs(float(_signed(total)))
    return worth / float(_mass(total))


def grow_tree(
    bins: Bins,
    allowed: ByFeature,
    values: Pairs,
    samples: Samples,
    options: SearchOptions,
    nodes: Layer,
    scratch: Ints,
    n_threads: int,
) -> int:
    """Search a layer, split the samples, and again, for all layers of `nodes`, in level order.

    `samples` are reordered. `scratch` (3/4 · 2^depth rows, B) is the twin's. Returns how many layers
    have a split.
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
        sums = np.empty((n_nodes, scratch.shape[1]), dtype=np.int64)
        parent_sums = np.empty((0, scratch.shape[1]), dtype=np.int64)
        search_layer(
            bins, allowed, values, Nodes(samples, cuts), parent_sums, sums, options, splits, n_threads
        )
        if np.all(splits.features < 0):
            return layer
        if layer + 1 < depth:
            child_starts = np.empty(2 * n_nodes + 1, dtype=np.int32)
            found = Layer(splits.features, splits.right)
            split_samples(bins, found, samples, starts, child_starts, n_threads)
            starts = child_starts
    return depth


# ---- samples → nodes


def split_samples(
    bins: Bins,
    layer: Layer,
    samples: Samples,
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
            goes_right = layer.right[i, _column(bins, feature)[own]] != 0
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
                goes_right[here] = (
                    nodes.right[node, _column(bins, nodes.features[node])[here]] != 0
                )
        at = 2 * at + 1 + goes_right
    regions[:] = at - n_nodes


# ---- weights


def project(weights: Planes, projection: Projection, values: Pairs, n_threads: int) -> None:
    """Pack the fixed-point pair of each sample, signed · 2³² + mass (shapes.Projection)."""
    signed = np.zeros((4, weights.shape[1]))
    mass = np.zeros((4, weights.shape[1]))
    for plane in weights:
        for k in range(weights.shape[2]):
            signed[k % 4] += plane[:, k] * projection.direction[k]
            mass[k % 4] += np.abs(plane[:, k]) * projection.squares[k]
    values[:] = _rounded(_together(signed) * projection.signed_scale) * 2**32
    values += _rounded(_together(mass) * projection.mass_scale)


def _together(lanes: Floats) -> Floats:
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


def region_sums(
    weights: Planes, regions: Regions, scales: Floats, sums: Ints, n_threads: int
) -> None:
    """Add to sums[r, 0] the fixed-point Σ G_n of each region's samples, to sums[r, 1] their Σ W_n."""
    for plane in weights:
        fixed = _rounded(plane * scales)
        np.add.at(sums[:, 0], regions, fixed)
        np.add.at(sums[:, 1], regions, np.abs(fixed))


def advance(
    weights: Planes,
    scores: Scores,
    regions: Regions,
    step: Step,
    totals: Ints,
    decided: Labels,
    n_threads: int,
) -> None:
    """Add the outputs to the scores, multiply w⁺ by `up` and w⁻ by `down`, all by region.

    `decided` receives the class of the highest score; to `totals` (K,) the fixed-point sums of
    the new weights are added. Weights below `TINY` become 0: they no longer count, and denormal
    numbers are slow.
    """
    weights *= np.where(weights > 0, step.up[regions], step.down[regions])
    size = np.abs(weights)
    totals += _rounded(size * step.scales).sum(axis=(0, 1))
    weights[size < TINY] = 0.0
    scores += step.outputs[regions]
    decided[:] = np.argmax(scores, axis=1)


def _rounded(x: Floats) -> Ints:
    return np.rint(x).astype(np.int64)


# ---- prediction


def predict(
    X: Values, trees: Trees, first: int, last: int, scores: Scores, n_threads: int
) -> None:
    """Add the outputs of trees [first, last) to the scores, one tree after the other."""
    regions = np.empty(len(X), dtype=np.uint16)
    for tree in range(first, last):
        apply(X, trees, tree, regions, n_threads)
        scores += trees.outputs[trees.leaf_offsets[tree] + regions.astype(np.int64)]


def apply(X: Values, trees: Trees, tree: int, regions: Regions, n_threads: int) -> None:
    """Find the leaf of one tree that each sample falls into."""
    at = np.zeros(len(X), dtype=np.int64)
    rows = np.arange(len(X))
    for layer in range(trees.depths[tree]):
        node = trees.node_offsets[tree] + 2**layer - 1 + at
        x = X[rows, trees.features[node]].astype(np.float64)
        goes_right = x > trees.thresholds[node]
        category = trees.category[node]
        known = (category >= 0) & (x >= 0) & (x < 256)
        goes_right[category >= 0] = False
        goes_right[known] = trees.right[category[known], x[known].astype(np.int64)] != 0
        unknown = np.where(category >= 0, ~known, np.isnan(x))
        goes_right[unknown] = trees.missing_right[node[unknown]] != 0
        at = 2 * at + goes_right
    regions[:] = at
