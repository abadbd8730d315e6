"""One function for each kernel: calls it on fresh outputs and returns them.

The only place where tests write out a kernel's arguments. Inputs that a kernel overwrites are
copied, and outputs begin as rubbish, so that a kernel that forgets to write some does not pass.
"""
# ruff: noqa: PLR0913, PLR0917  (as many as the kernels have)

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    Layer,
    Nodes,
    Splits,
    TreeArrays,
)
from rebelboost.base.kernel_arrays import CodedColumns, CodedTrees, StepArrays

RUBBISH = 85


class Layers(NamedTuple):
    """What a search of one layer found, and how its samples were then shared out."""

    splits: Splits
    samples: NDArray[np.int32]
    child_starts: NDArray[np.int32]


def rubbish(shape, dtype):
    return np.full(shape, RUBBISH, dtype=dtype)


def bin_values(module, X, edges, n_threads=1):
    """Bins of (N, d) X by a list of d arrays of edges."""
    offsets = np.cumsum([0, *map(len, edges)], dtype=np.int32)
    missing = np.array([len(own) + 1 for own in edges], dtype=np.uint8)
    blocks = rubbish((-(-X.shape[1] // 16), len(X), 16), np.uint8)
    module.bin_values(X, np.concatenate([*edges, np.empty(0)]), offsets, missing, blocks, n_threads)
    return blocks


def class_sums(module, bins, allowed, values, samples, n_threads=1):
    # Zeros: the kernel adds.
    sums = np.zeros((bins.offsets[-1], values.shape[1]), dtype=np.int32)
    module.class_sums(bins, allowed, values, samples, sums, n_threads)
    return sums


def search_root(module, bins, allowed, vectors, nodes, n_threads=1):
    """Find the best stump by `vectors`, a pair of (N, padded K) signed values and (K,) totals."""
    right = rubbish(256, np.uint8)
    feature, criterion, _ = module.search_root(bins, allowed, *vectors, nodes, right, n_threads)
    return feature, criterion, right


def empty_splits(n_nodes):
    return Splits(
        rubbish(n_nodes, np.int32),
        rubbish((n_nodes, 256), np.uint8),
        rubbish((n_nodes, 2), np.int64),
        rubbish(n_nodes, np.float64),
    )


def sort_bins(module, bins, n_threads=1):
    order = rubbish((len(bins.categorical), bins.blocks.shape[1]), np.uint32)
    module.sort_bins(bins, order, n_threads)
    return order


def search_layer(module, bins, allowed, values, nodes, options, parent_sums=None, n_threads=1):
    n_nodes, n_bins = len(nodes.cuts), bins.offsets[-1]
    if parent_sums is None:
        parent_sums = np.empty((0, n_bins), dtype=np.int64)
    sums = rubbish((n_nodes, n_bins), np.int64)
    splits = empty_splits(n_nodes)
    module.search_layer(bins, allowed, values, nodes, parent_sums, sums, options, splits, n_threads)
    return splits, sums


def node_sums(module, bins, values, nodes, chosen, n_threads=1):
    sums = rubbish((len(chosen), bins.offsets[-1]), np.int64)
    module.node_sums(bins, values, nodes, chosen, sums, n_threads)
    return sums


def choose_splits(module, bins, allowed, sums, totals, counts, options, n_threads=1):
    splits = empty_splits(len(totals))
    module.choose_splits(bins, allowed, sums, totals, counts, options, splits, n_threads)
    return splits


def prune_layer(module, bins, allowed, values, nodes, options, n_threads=1):
    """Search without keeping sums: features that cannot win are dropped after each subset."""
    splits = empty_splits(len(nodes.cuts))
    module.prune_layer(bins, allowed, values, nodes, options, splits, n_threads)
    return splits


def prune_classes(module, bins, allowed, values, n_classes, nodes, options, n_threads=1):
    splits = empty_splits(len(nodes.cuts))
    module.prune_classes(bins, allowed, values, n_classes, nodes, options, splits, n_threads)
    return splits


def choose_by_classes(module, bins, allowed, sums, counts, options, n_threads=1):
    splits = empty_splits(len(counts))
    module.choose_by_classes(bins, allowed, sums, counts, options, splits, n_threads)
    return splits


def heaviest_first(module, keys, samples, starts, shares, n_threads=1):
    samples = samples.copy()
    cuts = rubbish((len(starts) - 1, len(shares) + 2), np.int32)
    module.heaviest_first(keys, samples, starts, shares, cuts, n_threads)
    return samples, cuts


def grow_tree(module, bins, allowed, values, nodes, options, depth, *, sort=True, n_threads=1):
    """Grow a tree on one node's samples: how many layers it has, its nodes, the samples."""
    order = sort_bins(module, bins)[: None if sort else 0]
    samples, n_nodes = nodes.samples.copy(), 2**depth - 1
    grown = Layer(rubbish(n_nodes, np.int32), rubbish((n_nodes, 256), np.uint8))
    scratch = rubbish((-(-3 * 2**depth // 4), bins.offsets[-1]), np.int64)
    n_layers = module.grow_tree(
        bins, order, allowed, values, samples, options, grown, scratch, n_threads
    )
    return n_layers, grown, samples


def split_samples(module, bins, layer, samples, starts, n_threads=1):
    samples = samples.copy()
    child_starts = rubbish(2 * len(starts) - 1, np.int32)
    module.split_samples(bins, layer, samples, starts, child_starts, n_threads)
    return samples, child_starts


def route(module, bins, nodes, n_threads=1):
    regions = rubbish(bins.blocks.shape[1], np.uint16)
    module.route(bins, nodes, regions, n_threads)
    return regions


def descend(module, bins, layer, regions, n_threads=1):
    regions = regions.copy()
    module.descend(bins, layer, regions, n_threads)
    return regions


def fix_weights(module, weights, samples, scale, n_threads=1):
    """Signed weights, keys and totals."""
    n_samples, n_classes = weights.shape[1:]
    signed = rubbish((n_samples, -(-n_classes // 8) * 8), np.int32)
    keys, totals = rubbish(n_samples, np.int64), rubbish(n_classes, np.int64)
    module.fix_weights(weights, samples, scale, signed, keys, totals, n_threads)
    return signed, keys, totals


def project(module, weights, projection, n_threads=1):
    values = rubbish(weights.shape[1], np.int64)
    module.project(weights, projection, values, n_threads)
    return values


def region_sums(module, weights, regions, scales, n_regions, n_threads=1):
    """Sums that are added to others, all of them `RUBBISH`."""
    sums = rubbish((n_regions, 2, weights.shape[2]), np.int64)
    module.region_sums(weights, regions, scales, sums, n_threads)
    return sums


def logistic_sums(module, line, regions, n_threads=1):
    # Zeros: the kernel adds.
    sums = np.zeros((len(line.up), 2, len(line.scales)), dtype=np.int64)
    module.logistic_sums(line, regions, sums, n_threads)
    return sums


def advance(module, weights, scores, regions, step, n_threads=1):
    """New weights, scores, totals (added to `RUBBISH`) and decisions."""
    weights, scores = weights.copy(), scores.copy()
    totals = rubbish(weights.shape[2], np.int64)
    decided = rubbish(len(scores), np.int32)
    module.advance(weights, scores, regions, step, totals, decided, n_threads)
    return weights, scores, totals, decided


def predict(module, X, trees: TreeArrays, first, last, n_threads=1):
    """Outputs that are added to others, all of them `RUBBISH`."""
    scores = rubbish((len(X), trees.outputs.shape[1]), np.float64)
    module.predict(X, trees, first, last, scores, n_threads)
    return scores


def score_row(module, x, columns: CodedColumns, trees: CodedTrees, first, last):
    """Outputs that are added to others, all of them `RUBBISH`."""
    scores = rubbish(trees.outputs.shape[1], np.float64)
    module.score_row(x, columns, trees, first, last, scores)
    return scores


def predict_coded(module, X, columns: CodedColumns, trees: CodedTrees, first, last, n_threads=1):
    """Outputs that are added to others, all of them `RUBBISH`."""
    scores = rubbish((len(X), trees.outputs.shape[1]), np.float64)
    module.predict_coded(X, columns, trees, first, last, scores, n_threads)
    return scores


def add_steps(module, X, steps: StepArrays, n_threads=1):
    """Outputs that are added to others, all of them `RUBBISH`."""
    scores = rubbish((len(X), steps.outputs.shape[1]), np.float64)
    module.add_steps(X, steps, scores, n_threads)
    return scores


def apply(module, X, trees: TreeArrays, tree, n_threads=1):
    regions = rubbish(len(X), np.uint16)
    module.apply(X, trees, tree, regions, n_threads)
    return regions


def squared_distances(module, blocks, points, n_samples, n_threads=1):
    out = rubbish((len(points), n_samples), np.float32)
    module.squared_distances(blocks, points, out, n_threads)
    return out


def compare(module, anchor, rival, kind, apart, n_threads=1):
    levels = rubbish(len(anchor), np.uint16)
    module.compare(anchor, rival, kind, apart, levels, n_threads)
    return levels


def compare_points(module, blocks, points, kind, apart, n_rows, n_threads=1):
    levels = rubbish(n_rows, np.uint16)
    module.compare_points(blocks, points, kind, apart, levels, n_threads)
    return levels


def pair_sums(module, from_anchors, from_rivals, pairs, kind, values, n_threads=1):
    """Sums by `values`, a pair of (K, n) signed values and masses."""
    sums = rubbish((len(pairs.apart), 3, len(values[0])), np.float64)
    module.pair_sums(from_anchors, from_rivals, pairs, kind, *values, sums, n_threads)
    return sums


def nearest_rivals(module, distances, anchor_values, values, n_rivals):
    nearest = rubbish((len(distances), n_rivals), np.int32)
    module.nearest_rivals(distances, anchor_values, values, nearest)
    return nearest


def best_isolated(module, weights, totals, signed_totals, n_threads=1):
    return module.best_isolated(weights, totals, signed_totals, n_threads)


def add_similarities(module, distances, tau, outputs, offset, n_threads=1):
    """What is added to scores that are all `RUBBISH`."""
    scores = rubbish((distances.shape[1], outputs.shape[1]), np.float64)
    module.add_similarities(distances, tau, outputs, offset, scores, n_threads)
    return scores


def add_comparisons(module, distances, comparisons, values, first, last, n_threads=1):
    """What is added to scores that are all `RUBBISH`."""
    scores = rubbish((distances.shape[1], comparisons.outputs.shape[1]), np.float64)
    module.add_comparisons(distances, comparisons, values, first, last, scores, n_threads)
    return scores


def integrate(module, images, n_planes, n_threads=1):
    n, height, width = images.shape
    sums = rubbish((n * n_planes, height + 1, width + 1), np.uint32)
    module.integrate(images, sums, n_threads)
    return sums


def window_scales(module, sums, n_windows, n_threads=1):
    scales = rubbish((n_windows, 2), np.float64)
    module.window_scales(sums, scales, n_threads)
    return scales


def window_values(module, sums, scales, rectangles, n_threads=1):
    values = rubbish((len(scales), len(rectangles.planes)), np.float64)
    module.window_values(sums, scales, rectangles, values, n_threads)
    return values


def scan_windows(module, sums, grid, rectangles, trees, floors, n_threads=1):
    """Score of each window, and the number of trees used."""
    n_rows = (sums.shape[1] - 1 - grid.height) // grid.step + 1
    n_cols = (sums.shape[2] - 1 - grid.width) // grid.step + 1
    scores, used = rubbish((n_rows, n_cols), np.float64), rubbish((n_rows, n_cols), np.int32)
    module.scan_windows(sums, grid, rectangles, trees, floors, scores, used, n_threads)
    return scores, used


def leave_early(module, X, trees, spaces, values, checks, n_threads=1):
    """Scores, added to `RUBBISH`, and the check at which each sample leaves."""
    scores = rubbish((len(X), trees.outputs.shape[1]), np.float64)
    stage = rubbish(len(X), np.int32)
    module.leave_early(X, trees, spaces, values, checks, scores, stage, n_threads)
    return scores, stage


def grow_by_layers(
    module, bins, allowed, values, nodes, options, depth, *, siblings=True, n_threads=1
):
    """Search layer after layer, as `grow_tree` does; with `siblings`, by the sums of parents."""
    layers, sums = [], None
    for _ in range(depth):
        parent_sums = sums if siblings else None
        splits, sums = search_layer(
            module, bins, allowed, values, nodes, options, parent_sums, n_threads
        )
        layer = Layer(splits.features, splits.right)
        starts = np.append(nodes.cuts[:, 0], nodes.cuts[-1, -1])
        samples, child_starts = split_samples(module, bins, layer, nodes.samples, starts, n_threads)
        layers.append(Layers(splits, samples, child_starts))
        nodes = Nodes(samples, np.stack([child_starts[:-1], child_starts[1:]], axis=1))
    return layers


def assert_same(ours, theirs):
    """Compare arrays, numbers and tuples of them: the same dtypes and the same bits."""
    if isinstance(ours, tuple | list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
        return
    np.testing.assert_array_equal(ours, theirs, strict=isinstance(ours, np.ndarray))


def exponentials(module, x):
    out = rubbish(len(x), np.float64)
    module.exponentials(x, out)
    return out


def logarithms(module, x):
    out = rubbish(len(x), np.float64)
    module.logarithms(x, out)
    return out


def random_numbers(module, key, first, n):
    out = rubbish(n, np.uint64)
    module.random_numbers(key, first, out)
    return out


def random_normals(module, key, first, n):
    out = rubbish(n, np.float64)
    module.random_normals(key, first, out)
    return out


def exact_cut(module, order, cuts, values, totals, least=np.inf):
    """The best threshold of one feature: place, missing right, loss."""
    return module.exact_cut(order, cuts, values, totals, least)
