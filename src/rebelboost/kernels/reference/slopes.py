"""A step of boosting with trees for losses that are parabolas of the scores."""
# ruff: noqa: PLR0913, PLR0917  (arrays cross borders, objects do not)

import numpy as np

from rebelboost.base.arrays import (
    CRITERIA,
    Bins,
    BySample,
    Floats,
    Focus,
    GrownTree,
    LeafSums,
    LeafTreeOptions,
    Outputs,
    Regions,
    Scores,
    SearchOptions,
    SlopeArrays,
    TreeData,
    TreeScratch,
)
from rebelboost.base.fixed_point import coarse_scale, fine_scales, in_order, sum_of_sizes
from rebelboost.kernels.reference.leaf_tree import LEAST_SMOOTHING, draw_direction, grow_term
from rebelboost.kernels.reference.weights import region_sums


def propose_on_slopes(
    bins: Bins,
    data: TreeData,
    focus: Focus,
    slopes: SlopeArrays,
    options: LeafTreeOptions,
    tree: GrownTree,
    leaves: LeafSums,
    scratch: TreeScratch,
    n_threads: int,
) -> tuple[int, float]:
    """Project slopes and curvatures on a random direction, grow a tree, and solve its outputs.

    The output of a leaf is at the minimum of its parabola, −P/(W + ridge), with a ridge of `smoothing`
    of the average curvature of a leaf. Returns the number of layers, and the edge.
    """
    direction, squares = np.empty(len(slopes.totals)), np.empty(len(slopes.totals))
    draw_direction(slopes.totals, options.key, direction, squares)
    projected, mass = _along(slopes.signed, direction), _along(slopes.mass, squares)
    mass_total = sum_of_sizes(mass)
    mass_scale = coarse_scale(mass_total)
    scratch.values[:] = (
        np.rint(projected * coarse_scale(sum_of_sizes(projected))).astype(np.int64) << 32
    )
    scratch.values[:] += np.rint(mass * mass_scale).astype(np.int64)
    least = max(1, round(options.least_mass * (mass_total * mass_scale)))
    search = SearchOptions(CRITERIA["variance"], least, 1.0)
    n_layers = grow_term(bins, data, focus, scratch.values, search, tree, scratch.sums, n_threads)
    n_leaves = 2**n_layers
    signed, size = _sums(slopes.signed, tree.regions, n_leaves, n_threads)
    mass_sums, _ = _sums(slopes.mass, tree.regions, n_leaves, n_threads)
    plus, minus = (size + signed) / 2, (size - signed) / 2
    flat = mass_sums + max(options.smoothing / n_leaves, LEAST_SMOOTHING) * slopes.totals
    leaves.plus[:n_leaves], leaves.minus[:n_leaves] = plus, minus
    leaves.outputs[:n_leaves] = np.divide(-signed, flat, out=np.zeros(flat.shape), where=flat > 0)
    with np.errstate(invalid="ignore"):
        edge = np.divide(in_order(np.abs(plus - minus)), in_order(plus + minus))
    return n_layers, float(edge)


def take_number_step(
    scores: Scores,
    regions: Regions,
    outputs: Outputs,
    target: BySample,
    weight: BySample,
    slopes: Scores,
) -> tuple[float, float]:
    """Add the outputs of regions to the scores H, and write the slopes of least squares, 2w(H − y).

    Returns Σ w(H − y)² and Σ w|H − y|.
    """
    scores += outputs[regions]
    distance = scores[:, 0] - target
    slopes[:, 0] = 2 * weight * distance
    return sum_of_sizes(weight * (distance * distance)), sum_of_sizes(weight * np.abs(distance))


def _along(values: Floats, direction: Floats) -> Floats:
    projected = np.zeros(len(values))
    for k, factor in enumerate(direction):
        projected += values[:, k] * factor
    return projected


def _sums(
    values: Floats, regions: Regions, n_regions: int, n_threads: int
) -> tuple[Floats, Floats]:
    scales = fine_scales(np.abs(values).max(axis=0, initial=0.0) * len(values))
    sums = np.zeros((n_regions, 2, values.shape[1]), dtype=np.int64)
    region_sums(values[np.newaxis], regions, scales, sums, n_threads)
    return sums[:, 0] / scales, sums[:, 1] / scales
