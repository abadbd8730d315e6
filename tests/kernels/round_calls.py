"""Like `calls`: one function for each kernel that does several rounds, or serves those that do."""
# ruff: noqa: PLR0913, PLR0917  (as many as the kernels have)

import copy

import numpy as np

from kernels.calls import rubbish
from kernels.tree_calls import rubbish_scratch, rubbish_tree
from rebelboost.base.arrays import LeafSums
from rebelboost.base.kernel_arrays import (
    LEVELS,
    PairQueue,
    PairTable,
    PairTerm,
    RoundLog,
    TreeMemory,
    TreeTable,
)


def _spoilt(arrays):
    """The same arrays, full of rubbish."""
    for array in arrays:
        array.fill(85)
    return arrays


def _done(n_done, log, *tables):
    """What was noted of the rounds that were done."""
    return n_done, *(column[:n_done] for each in (log, *tables) for column in each)


def total_up(module, weights, n_threads=1):
    totals = rubbish(weights.shape[2], np.float64)
    module.total_up(weights, totals, n_threads)
    return totals


def boost_trees(
    module, bins, data, held_bins, plan, training, held, depth, n_tables=200, n_threads=1
):
    """Number of rounds, what was noted of them, the trees, and the samples after them."""
    training, held = copy.deepcopy((training, held))
    n_rounds, n_classes = len(plan.keys), len(training.totals)
    leaves = LeafSums(*(rubbish((2**depth, n_classes), np.float64) for _ in range(3)))
    memory = TreeMemory(
        rubbish_tree(depth, bins.blocks.shape[1]), leaves, rubbish_scratch(bins, depth)
    )
    trees = _spoilt(TreeTable.empty(n_rounds, depth, n_classes, n_tables))
    log = _spoilt(RoundLog.empty(n_rounds, n_classes))
    n_done = module.boost_trees(
        bins, data, held_bins, plan, training, held, memory, trees, log, n_threads
    )
    return _done(n_done, log), trees, training[:4], held[:4]


def boost_pairs(module, space, others, plan, training, held, n_threads=1):
    """Number of rounds, what was noted of them, the terms, and the samples after them."""
    training, held = copy.deepcopy((training, held))
    n_rounds, n_classes, n_samples = len(plan.keys), len(training.totals), len(training.scores)
    queue = PairQueue(
        np.zeros(2, dtype=np.int32),
        np.zeros((plan.options.n_anchors, 2), dtype=np.int32),
        np.zeros((2 * plan.options.n_anchors, n_samples), dtype=np.float32),
    )
    shape = (len(LEVELS), n_classes)
    sums = (rubbish(each, np.float64) for each in (shape, shape, (2, n_classes)))
    memory = PairTerm(rubbish(n_samples, np.uint16), *sums)
    terms = _spoilt(PairTable.empty(n_rounds, n_classes))
    log = _spoilt(RoundLog.empty(n_rounds, n_classes))
    n_done = module.boost_pairs(
        space, others, plan, training, held, queue, memory, terms, log, n_threads
    )
    return _done(n_done, log, terms), training[:4], held[:4], queue[:2]


def uniform_posteriors(module, doubled, enough, n_threads=1):
    out = rubbish(doubled.shape, np.float64)
    module.uniform_posteriors(doubled, enough, out, n_threads)
    return out


def log_loss_and_slope(module, doubled, factor, labels, weight, enough, n_threads=1):
    return module.log_loss_and_slope(doubled, factor, labels, weight, enough, n_threads)
