"""The best splits of nodes by the weights of all classes [THESIS, 7.2].

A side has the mass L_k of each class and L of all. Criteria compare the purity of the sides with that of the
undivided node: Σ L_k²/L (Gini, here "variance"), max L_k (error), or Σ L_k log₂ L_k − L log₂ L, which is
−L·H (entropy and gain ratio). A categorical feature is split into one category and the others.
"""
# ruff: noqa: ARG001, PLR0913, PLR0917  (n_threads; arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    CRITERIA,
    Bins,
    ByFeature,
    Floats,
    Ints,
    Nodes,
    SearchOptions,
    Splits,
)
from rebelboost.kernels.reference.binning import column, n_bins
from rebelboost.kernels.reference.nodes import samples_of
from rebelboost.kernels.reference.splits import threshold_tables, times_log2


def prune_classes(
    bins: Bins,
    allowed: ByFeature,
    values: NDArray[np.int32],
    n_classes: int,
    nodes: Nodes,
    options: SearchOptions,
    splits: Splits,
    n_threads: int,
) -> tuple[int, int]:
    """Find the best split of every node; ties go to the lowest (feature, bin).

    `values` (N, K padded to a multiple of 8) hold the weight of each sample at its class. `splits.sides`
    receives masses. The compiled kernel drops features on the way. Returns the number of (sample, feature)
    visits and of dropped features.
    """
    for node in range(len(nodes.cuts)):
        samples = samples_of(nodes, node)
        own = values[samples, :n_classes].astype(np.int64)
        sums = np.zeros((int(bins.offsets[-1]), n_classes), dtype=np.int64)
        for f in map(int, np.flatnonzero(allowed)):
            at = sums[bins.offsets[f] : bins.offsets[f + 1]]
            np.add.at(at, column(bins, f)[samples], own)
        _write_best(bins, allowed, sums, own.sum(axis=0), len(samples), options, splits, node)
    n_samples = int((nodes.cuts[:, -1] - nodes.cuts[:, 0]).sum())
    return n_samples * int(np.count_nonzero(allowed)), 0


def choose_by_classes(
    bins: Bins,
    allowed: ByFeature,
    sums: Ints,
    counts: Ints,
    options: SearchOptions,
    splits: Splits,
    n_threads: int,
) -> None:
    """Find the best split of each node, given its sums (m, B, K) and its number of samples."""
    features = np.flatnonzero(allowed)
    for node, count in enumerate(counts.tolist()):
        total = np.zeros(sums.shape[2], dtype=np.int64)
        if len(features):
            f = features[0]
            total = sums[node, bins.offsets[f] : bins.offsets[f + 1]].sum(axis=0)
        _write_best(bins, allowed, sums[node], total, count, options, splits, node)


def _write_best(
    bins: Bins,
    allowed: ByFeature,
    sums: Ints,
    total: Ints,
    n_samples: int,
    options: SearchOptions,
    splits: Splits,
    node: int,
) -> None:
    """Write the best split of a node, or that none gains enough."""
    mass = int(total.sum())
    best_value, best_feature, best_table, best_left = -1.0, -1, np.zeros(0, dtype=np.uint8), 0
    divisible = n_samples >= 2 and mass >= 2 * options.least_mass
    for f in map(int, np.flatnonzero(allowed)) if divisible else []:
        own = sums[bins.offsets[f] : bins.offsets[f + 1]]
        filled: NDArray[np.bool_] = np.any(own, axis=1)
        if bins.categorical[f]:
            tables = (1 - np.eye(n_bins(bins, f), dtype=np.uint8))[filled]
        else:
            tables = threshold_tables(own)
        if len(tables) == 0:
            continue
        left = (1 - tables.astype(np.int64)) @ own
        values = _values(left, total, options)
        first = int(np.argmax(values))
        if values[first] > best_value:
            best_value, best_feature, best_left = values[first], f, int(left[first].sum())
            best_table = tables[first].copy()
            # Bins without mass go where most of the mass goes, except between thresholds.
            empty = (
                ~filled
                if bins.categorical[f]
                else np.append(np.zeros(len(own) - 1, bool), ~filled[-1])
            )
            best_table[empty] = 2 * best_left < mass
    found = best_value > options.least_gain and best_feature >= 0
    splits.features[node] = best_feature if found else -1
    splits.gains[node] = best_value if found else 0.0
    left_mass = best_left if found else mass
    splits.sides[node] = left_mass, mass - left_mass
    splits.right[node] = 0
    if found:
        splits.right[node, : len(best_table)] = best_table


def _values(left: Ints, total: Ints, options: SearchOptions) -> Floats:
    """What each split gains over the undivided node; −1 if a side is too light. `left` (splits, K)."""
    right = total - left
    light, rest = left.sum(axis=1), right.sum(axis=1)
    whole = _purity(total[np.newaxis], options.criterion)
    gained = (_purity(left, options.criterion) + _purity(right, options.criterion)) - whole
    if options.criterion == CRITERIA["gain_ratio"]:
        sides = times_log2(light.astype(np.float64)) + times_log2(rest.astype(np.float64))
        parted = times_log2(np.array(float(total.sum()))) - sides
        gained = np.divide(gained, parted, out=np.zeros_like(parted), where=parted > 0)
    heavy = (light >= options.least_mass) & (rest >= options.least_mass)
    return np.where(heavy, np.maximum(0.0, gained), -1.0)


def _purity(sums: Ints, criterion: int) -> Floats:
    """How pure each side is, times its mass; (sides, K), added class by class."""
    if criterion == CRITERIA["error"]:
        return sums.max(axis=1).astype(np.float64)
    own, mass = sums.astype(np.float64), sums.sum(axis=1).astype(np.float64)
    total = np.zeros(len(sums))
    for k in range(sums.shape[1]):
        total += (
            own[:, k] * own[:, k] if criterion == CRITERIA["variance"] else times_log2(own[:, k])
        )
    if criterion == CRITERIA["variance"]:
        return np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
    return total - times_log2(mass)
