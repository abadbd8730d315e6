"""Calls of the kernels of similarities on fresh outputs, like those of `calls`."""
# ruff: noqa: PLR0913, PLR0917  (as many as the kernels have)

import numpy as np

from kernels.calls import rubbish
from rebelboost.base.kernel_arrays import LEVELS, LevelSums, PairQueue, PairTerm


def leading_eigenvector(module, matrix):
    q = rubbish(len(matrix), np.float64)
    module.leading_eigenvector(matrix, q)
    return q


def binarize(module, weights, totals, n_threads=1):
    values = rubbish(weights.shape[1], np.int64)
    module.binarize(weights, totals, values, n_threads)
    return values


def _level_sums(n_classes):
    shape = (len(LEVELS), n_classes)
    return LevelSums(*(rubbish(each, np.float64) for each in (shape, shape, (2, n_classes))))


def solve_levels(module, weights, totals, regions, rule, n_threads=1):
    """The loss, the sums of the levels and the outputs."""
    out = _level_sums(len(totals))
    loss = module.solve_levels(weights, totals, regions, rule, out, n_threads)
    return loss, *out


def exact_distances(module, placed, points, n_threads=1):
    out = rubbish((len(points), len(placed)), np.float64)
    module.exact_distances(placed, points, out, n_threads)
    return out


def best_response(module, responses, weights, least=np.inf, equal=1e-10, n_threads=1):
    """Place, loss and output of the best response; the output is rubbish if there is none."""
    output = rubbish(weights.shape[2], np.float64)
    best = module.best_response(responses, weights, least, equal, output, n_threads)
    return *best, output


def solve_responses(module, responses, weights):
    """The outputs of each response, and the losses with them."""
    found = [best_response(module, f[np.newaxis], weights) for f in responses]
    return np.stack([output for *_, output in found]), np.array([loss for _, loss, _ in found])


def propose_pair(module, weights, totals, space, samples, options, key, n_rounds=1, n_threads=1):
    """What the rounds find one after the other, for the same weights, and what then waits."""
    n_samples = weights.shape[1]
    waiting = np.zeros(2, dtype=np.int32)
    pairs = np.zeros((options.n_anchors, 2), dtype=np.int32)
    rows = np.zeros((2 * options.n_anchors, n_samples), dtype=np.float32)
    queue = PairQueue(waiting, pairs, rows)
    found = []
    for i in range(n_rounds):
        out = PairTerm(rubbish(n_samples, np.uint16), *_level_sums(len(totals)))
        proposed = module.propose_pair(
            weights, totals, space, samples, options, key + i, queue, out, n_threads
        )
        found.append((*out, proposed, *(each.copy() for each in queue)))
    return found
