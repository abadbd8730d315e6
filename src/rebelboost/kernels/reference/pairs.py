"""A round of similarities: the pair of training samples to compare with, and its output."""
# ruff: noqa: PLR0913, PLR0917  (arrays cross borders, objects do not)

import numpy as np

from rebelboost.base.arrays import COMPARISONS, ByClass, Indices, Planes, Regions
from rebelboost.base.kernel_arrays import (
    CONSTANT,
    LEVELS,
    SIGN,
    LevelSums,
    PairOptions,
    PairQueue,
    PairSpace,
    PairTerm,
    Proposed,
)
from rebelboost.kernels.reference.levels import solve_levels
from rebelboost.kernels.reference.pair_search import find_pairs, rows_from
from rebelboost.kernels.reference.similarity import best_isolated, compare

Found = tuple[int, int, int, float]


def propose_pair(
    weights: Planes,
    totals: ByClass,
    space: PairSpace,
    samples: Indices,
    options: PairOptions,
    key: int,
    queue: PairQueue,
    out: PairTerm,
    n_threads: int,
) -> Proposed:
    """Take the next pair of the queue, which is filled first if it is empty, and solve its output.

    If a constant or the hard isolating learner, which responds with 1 at one sample and with −1 at all
    others, has a lower loss, take that instead.
    """
    found = _propose(weights, totals, space, samples, options, key, queue, out, n_threads)
    P = np.add.accumulate(LEVELS[:, np.newaxis] * (out.plus - out.minus))[-1]
    S = np.add.accumulate(out.plus + out.minus)[-1]
    above, below = (float(np.add.accumulate(each)[-1]) for each in (np.abs(P), S))
    return *found, above / below if below > 0 else 0.0


def _propose(
    weights: Planes,
    totals: ByClass,
    space: PairSpace,
    samples: Indices,
    options: PairOptions,
    key: int,
    queue: PairQueue,
    out: PairTerm,
    n_threads: int,
) -> Found:
    if queue.waiting[1] <= 0:
        find_pairs(weights, totals, space, samples, options, key, queue, n_threads)
    everywhere = np.full(weights.shape[1], CONSTANT, dtype=np.uint16)
    constant: Found = (len(COMPARISONS), -1, -1, 1.0)
    if queue.waiting[1] > 0:
        best = _next_pair(space, options.kind, queue, out.regions)
        loss = solve_levels(weights, totals, out.regions, options.rule, _sums(out), n_threads)
        best, loss = _lower(weights, totals, everywhere, out, (best, loss), constant)
    else:
        best, out.regions[:] = constant, everywhere
        loss = solve_levels(weights, totals, everywhere, SIGN, _sums(out), n_threads)
    signed_totals = out.plus.sum(axis=0) - out.minus.sum(axis=0)
    sample, least = best_isolated(weights, totals, signed_totals, n_threads)
    if sample < 0 or not loss > least:
        return best
    (row,) = rows_from(space, np.array([sample], dtype=np.int32), None)
    tau = float(row[row > 0].min(initial=np.inf)) / 4
    tau = tau if np.isfinite(tau) else 1.0
    regions = np.empty_like(everywhere)
    compare(row, row, COMPARISONS["inside"], tau, regions, n_threads)
    isolating: Found = (COMPARISONS["inside"], sample, -1, tau)
    return _lower(weights, totals, regions, out, (best, loss), isolating)[0]


def _next_pair(space: PairSpace, kind: int, queue: PairQueue, regions: Regions) -> Found:
    next_ = int(queue.waiting[0])
    queue.waiting[:] += np.array([1, -1], dtype=np.int32)
    anchor, rival = queue.pairs[next_].tolist()
    r_i, r_j = (
        space.distances[[anchor, rival]]
        if len(space.distances)
        else queue.rows[2 * next_ : 2 * next_ + 2]
    )
    apart = float(r_i[rival])
    compare(r_i, r_j, kind, apart, regions, 1)
    return kind, anchor, rival, apart


def _lower(
    weights: Planes,
    totals: ByClass,
    regions: Regions,
    out: PairTerm,
    best: tuple[Found, float],
    other: Found,
) -> tuple[Found, float]:
    """The term with the lower loss: the best so far, or another one with responses of ±1."""
    own = LevelSums(*(np.empty_like(each) for each in _sums(out)))
    loss = solve_levels(weights, totals, regions, SIGN, own, 1)
    if not loss < best[1]:
        return best
    out.regions[:] = regions
    out.plus[:], out.minus[:], out.outputs[:] = own
    return other, loss


def _sums(out: PairTerm) -> LevelSums:
    return LevelSums(out.plus, out.minus, out.outputs)
