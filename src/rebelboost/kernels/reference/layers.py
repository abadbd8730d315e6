"""Layers of a tree: pair sums."""
# ruff: noqa: ARG001, PLR0913, PLR0917  (n_threads; arrays cross borders, objects do not)

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import (
    CRITERIA,
    Bins,
    ByFeature,
    Bytes,
    Floats,
    Indices,
    Ints,
    Layer,
    Nodes,
    Pairs,
    SearchOptions,
    Splits,
)
from rebelboost.kernels.reference.bins import column, samples_of, split_samples
from rebelboost.kernels.reference.logarithm import times_log2
from rebelboost.kernels.reference.root import threshold_tables


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
) -> tuple[int, int]:
    """Find the best split of every node of a layer; ties go to the lowest (feature, bin).

    `sums` (m, B) receives each node's sums. The compiled twin takes the larger of two siblings from
    `parent_sums`; here every node is summed.
    """
    for node in range(len(nodes.cuts)):
        samples = samples_of(nodes, node)
        own = sums[node] if len(sums) > 0 else np.empty(bins.offsets[-1], dtype=np.int64)
        _pair_sums(bins, values, samples, own)
        total = int(values[samples].sum())
        _write_best(bins, allowed, own, (total, len(samples)), options, splits, node)
    n_samples = int((nodes.cuts[:, -1] - nodes.cuts[:, 0]).sum())
    return n_samples * int(np.count_nonzero(allowed)), 0


def _pair_sums(bins: Bins, values: Pairs, samples: Indices, sums: Ints) -> None:
    sums[:] = 0
    for f in range(len(bins.categorical)):
        np.add.at(sums, bins.offsets[f] + column(bins, f)[samples], values[samples])


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
        tables = _ordered_tables(own) if bins.categorical[f] else threshold_tables(own)
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
    if best_table is None or not gain > options.least_gain:
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

    For `variance`, M·(p²/m + q²/r − P²/M) = (p·r − q·m)²/(m·r).
    """
    P, M = float(_signed(total)), float(_mass(total))
    p, m = _signed(left).astype(np.float64), _mass(left).astype(np.float64)
    r = M - m
    if options.criterion == CRITERIA["variance"]:
        apart = p * r - (P - p) * m
        with np.errstate(invalid="ignore", divide="ignore"):
            worth = apart * apart / (m * r)
    elif options.criterion == CRITERIA["error"]:
        worth = np.abs(p) + np.abs(P - p)
    else:
        worth = _information(p, m) + _information(P - p, r)
        if options.criterion == CRITERIA["gain_ratio"]:
            whole = _information(np.array(P), np.array(M))
            parted = times_log2(np.array(M)) - (times_log2(m) + times_log2(r))
            gained = worth - whole
            worth = np.divide(gained, parted, out=np.zeros_like(parted), where=parted > 0)
        worth = np.maximum(0.0, worth)
    return np.where((m >= options.least_mass) & (r >= options.least_mass), worth, -1.0)


def _information(p: Floats, m: Floats) -> Floats:
    """M·(1 − H) of a side: 0 where labels are even, M where they are all the same."""
    plus, minus = 0.5 * np.maximum(0.0, m + p), 0.5 * np.maximum(0.0, m - p)
    return m + ((times_log2(plus) + times_log2(minus)) - times_log2(m))


def _gain(worth: float, total: int, options: SearchOptions) -> float:
    """How much more a split is worth than the undivided node."""
    P, M = float(_signed(total)), float(_mass(total))
    if options.criterion == CRITERIA["variance"]:
        return worth / M
    if options.criterion == CRITERIA["gain_ratio"]:
        return worth
    if options.criterion == CRITERIA["error"]:
        return worth - abs(P)
    return worth - max(0.0, float(_information(np.array(P), np.array(M))))


def grow_tree(
    bins: Bins,
    allowed: ByFeature,
    values: Pairs,
    samples: Indices,
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
            bins,
            allowed,
            values,
            Nodes(samples, cuts),
            parent_sums,
            sums,
            options,
            splits,
            n_threads,
        )
        if np.all(splits.features < 0):
            return layer
        if layer + 1 < depth:
            child_starts = np.empty(2 * n_nodes + 1, dtype=np.int32)
            found = Layer(splits.features, splits.right)
            split_samples(bins, found, samples, starts, child_starts, n_threads)
            starts = child_starts
    return depth
