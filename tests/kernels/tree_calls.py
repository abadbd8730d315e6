"""Like `calls`: one function for each kernel that does a whole step with trees."""
# ruff: noqa: PLR0913, PLR0917  (as many as the kernels have)

import numpy as np

from kernels.calls import rubbish
from rebelboost.base.arrays import GrownTree, LeafSums, TreeScratch


def draw_direction(module, totals, key):
    direction, squares = rubbish(len(totals), np.float64), rubbish(len(totals), np.float64)
    return module.draw_direction(totals, key, direction, squares), direction, squares


def rubbish_tree(depth, n_samples):
    n_nodes = 2**depth - 1
    return GrownTree(
        rubbish(n_nodes, np.int32),
        rubbish((n_nodes, 256), np.uint8),
        rubbish(n_nodes, np.float64),
        rubbish(n_nodes, np.uint8),
        rubbish(n_nodes, np.int32),
        rubbish(n_nodes + 1, np.float64),
        rubbish(n_samples, np.uint16),
    )


def rubbish_scratch(bins, depth):
    rows = -(-3 * 2**depth // 4)
    return TreeScratch(
        rubbish(bins.blocks.shape[1], np.int64), rubbish((rows, bins.offsets[-1]), np.int64)
    )


def grow_term(module, bins, data, focus, values, options, depth, n_threads=1):
    tree, scratch = rubbish_tree(depth, len(values)), rubbish_scratch(bins, depth)
    n_layers = module.grow_term(bins, data, focus, values, options, tree, scratch.sums, n_threads)
    return n_layers, tree


def propose_tree(module, bins, data, focus, weights, totals, options, depth, n_threads=1):
    """Number of layers, edge, the tree and its sums."""
    tree, scratch = rubbish_tree(depth, weights.shape[1]), rubbish_scratch(bins, depth)
    leaves = LeafSums(*(rubbish((2**depth, len(totals)), np.float64) for _ in range(3)))
    found = module.propose_tree(
        bins, data, focus, weights, totals, options, tree, leaves, scratch, n_threads
    )
    return found, tree, leaves


def propose_on_slopes(module, bins, data, focus, slopes, options, depth, n_threads=1):
    """Number of layers, edge, the tree and its sums."""
    tree, scratch = rubbish_tree(depth, len(slopes.mass)), rubbish_scratch(bins, depth)
    leaves = LeafSums(*(rubbish((2**depth, len(slopes.totals)), np.float64) for _ in range(3)))
    found = module.propose_on_slopes(
        bins, data, focus, slopes, options, tree, leaves, scratch, n_threads
    )
    return found, tree, leaves


def take_number_step(module, scores, regions, outputs, target, weight):
    """Sums, new scores and slopes."""
    scores, slopes = scores.copy(), rubbish(scores.shape, np.float64)
    sums = module.take_number_step(scores, regions, outputs, target, weight, slopes)
    return sums, scores, slopes


def rate(module, decided, judged):
    return module.rate(decided, judged)


def take_step(module, weights, scores, regions, outputs, totals, judged, n_threads=1):
    """Shift, looseness and rates; new weights, scores, totals and decisions."""
    weights, scores, totals = weights.copy(), scores.copy(), totals.copy()
    decided = rubbish(len(scores), np.int32)
    taken = module.take_step(weights, scores, regions, outputs, totals, decided, judged, n_threads)
    return taken, weights, scores, totals, decided
