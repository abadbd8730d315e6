"""A whole step of boosting with trees whose leaves have their own outputs."""
# ruff: noqa: PLR0913, PLR0917  (arrays cross borders, objects do not)

import math

import numpy as np

from rebelboost.base.arrays import (
    CRITERIA,
    Bins,
    ByClass,
    Floats,
    Focus,
    GrownTree,
    Ints,
    Layer,
    LeafSums,
    LeafTreeOptions,
    Pairs,
    Planes,
    Projection,
    SearchOptions,
    TreeData,
    TreeScratch,
)
from rebelboost.base.fixed_point import coarse_scale, fine_scales, in_order
from rebelboost.kernels.reference.elementary import logarithms
from rebelboost.kernels.reference.nodes import route
from rebelboost.kernels.reference.random import random_normals
from rebelboost.kernels.reference.tree import grow_tree
from rebelboost.kernels.reference.weights import project, region_sums

LEAST_SMOOTHING = 1e-8
"""Limits an output to ½ ln(2 · 10⁸) ≈ 9.6."""


def draw_direction(
    totals: ByClass, key: int, direction: ByClass, squares: ByClass
) -> tuple[float, float]:
    """Draw a direction u in class space, with the same distribution for every class in units of √S_k.

    It is centred, so that with two classes it always separates one from the other. Returns Σ S_k·|u_k|
    and Σ S_k·u_k².
    """
    if len(totals) == 1:  # a regression
        direction[0] = squares[0] = 1.0
        return float(totals[0]), float(totals[0])
    random_normals(key, 0, direction)
    direction -= in_order(direction) / len(direction)
    size, largest = np.abs(direction).max(), totals.max()
    unit = np.sqrt(totals / largest) if largest > 0 else np.ones(len(totals))
    direction[:] = np.divide(direction / size, unit, out=np.zeros(len(totals)), where=unit > 0)
    squares[:] = direction**2
    return in_order(totals * np.abs(direction)), in_order(totals * squares)


def grow_term(
    bins: Bins,
    data: TreeData,
    focus: Focus,
    values: Pairs,
    options: SearchOptions,
    tree: GrownTree,
    scratch: Ints,
    n_threads: int,
) -> int:
    """Grow a tree by sums of pairs, and write its splits on values, its cover and the samples' leaves.

    Returns the number of layers that have a split: only their nodes and leaves count.
    """
    grown = Layer(tree.features, tree.right)
    n_layers = grow_tree(
        bins,
        data.order,
        focus.allowed,
        values,
        focus.samples.copy(),
        options,
        grown,
        scratch,
        n_threads,
    )
    n_nodes = 2**n_layers - 1
    tree.regions[:] = 0
    if n_nodes > 0:
        route(bins, Layer(tree.features[:n_nodes], tree.right[:n_nodes]), tree.regions, n_threads)
    _write_values(bins, data, n_nodes, tree)
    counted = np.bincount(tree.regions, data.counts, len(tree.cover))
    tree.cover[:] = counted * data.unit
    return n_layers


def _write_values(bins: Bins, data: TreeData, n_nodes: int, tree: GrownTree) -> None:
    tree.thresholds[:n_nodes], tree.missing_right[:n_nodes] = math.inf, 0
    tree.category[:n_nodes] = -1
    n_categories = 0
    for i in range(n_nodes):
        f = int(tree.features[i])
        if f < 0:
            continue
        missing = int(bins.offsets[f + 1] - bins.offsets[f]) - 1
        right = tree.right[i]
        tree.missing_right[i] = right[missing]
        if bins.categorical[f]:
            # Codes that do not occur in these samples, but may in others, are treated as missing.
            right[missing:] = right[missing]
            tree.category[i] = n_categories
            n_categories += 1
            continue
        first = int(np.argmax(right[:missing] != 0)) if right[:missing].any() else missing
        if 0 < first < missing:
            tree.thresholds[i] = data.edges[data.edge_offsets[f] + first - 1]


def propose_tree(
    bins: Bins,
    data: TreeData,
    focus: Focus,
    weights: Planes,
    totals: ByClass,
    options: LeafTreeOptions,
    tree: GrownTree,
    leaves: LeafSums,
    scratch: TreeScratch,
    n_threads: int,
) -> tuple[int, float]:
    """Draw a direction, project the weights on it, grow a tree, and solve its outputs.

    Returns the number of layers, and the edge ρ = Σ|s⁺ − s⁻| / Σ(s⁺ + s⁻) [THESIS, Eq. 4.12].
    """
    direction, squares = np.empty(len(totals)), np.empty(len(totals))
    reach, mass = draw_direction(totals, options.key, direction, squares)
    projection = Projection(direction, squares, coarse_scale(reach), coarse_scale(mass))
    project(weights, projection, scratch.values, n_threads)
    # A gain below one fixed-point unit is a rounding error: a pure leaf must not be split.
    least = max(1, round(options.least_mass * (mass * projection.mass_scale)))
    search = SearchOptions(CRITERIA["variance"], least, 1.0)
    n_layers = grow_term(bins, data, focus, scratch.values, search, tree, scratch.sums, n_threads)
    n_leaves = 2**n_layers
    scales = fine_scales(totals)
    sums = np.zeros((n_leaves, 2, len(totals)), dtype=np.int64)
    region_sums(weights, tree.regions, scales, sums, n_threads)
    plus = (sums[:, 1] + sums[:, 0]) / (2 * scales)
    minus = (sums[:, 1] - sums[:, 0]) / (2 * scales)
    leaves.plus[:n_leaves], leaves.minus[:n_leaves] = plus, minus
    leaves.outputs[:n_leaves] = leaf_outputs(plus, minus, options.smoothing)
    with np.errstate(invalid="ignore"):
        edge = np.divide(in_order(np.abs(plus - minus)), in_order(plus + minus))
    return n_layers, float(edge)


def leaf_outputs(plus: Floats, minus: Floats, smoothing: float) -> Floats:
    """½ ln(s⁻/s⁺) of each leaf, shrunk towards 0 by `smoothing` of the average mass of a leaf."""
    totals = np.add.accumulate(plus + minus, axis=0)[-1]
    added = max(smoothing / len(plus), LEAST_SMOOTHING) * totals
    return half_log_ratio(minus, plus, added)


def half_log_ratio(above: Floats, below: Floats, smoothing: Floats) -> Floats:
    """½ ln((above + smoothing)/(below + smoothing)); 0 where the weights are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (above + smoothing) / (below + smoothing)
    output = np.empty(ratio.shape)
    logarithms(np.ravel(ratio), output.reshape(-1))
    return np.where(above + below > 0, 0.5 * output, 0.0)
