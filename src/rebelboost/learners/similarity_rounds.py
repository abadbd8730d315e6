"""Several rounds of boosting with similarities in one kernel call."""

from itertools import pairwise

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import Blocks
from rebelboost.base.pair_arrays import PairOptions, PairQueue, PairTerm
from rebelboost.base.round_arrays import HeldPoints, PairPlan, PairTable
from rebelboost.data.point_set import PointSet
from rebelboost.data.spaces import ABREAST
from rebelboost.learners.base import Ahead
from rebelboost.model.comparisons import NONE, Comparisons
from rebelboost.model.terms import Terms


def boost_pairs(
    points: PointSet, options: PairOptions, queue: PairQueue, memory: PairTerm, ahead: Ahead
) -> list[Terms]:
    """The terms of several rounds (kernels.boost_pairs)."""
    assert points.pair_space is not None
    table = PairTable.empty(len(ahead.keys), len(ahead.training.totals))
    n_done = kernels.active.boost_pairs(
        points.pair_space,
        HeldPoints(points.placed, _held_blocks(points, ahead)),
        PairPlan(ahead.samples, options, ahead.keys, ahead.shrinkage, ahead.least_total),
        ahead.training,
        ahead.held,
        queue,
        memory,
        table,
        ahead.log,
        points.n_threads,
    )
    is_constant = table.anchors[:n_done] == NONE
    ends = [0, *(np.flatnonzero(np.diff(is_constant)) + 1).tolist(), n_done]
    return [_terms(points, table, slice(*run)) for run in pairwise(ends) if n_done]


def _held_blocks(points: PointSet, ahead: Ahead) -> Blocks:
    if len(ahead.queries) > 0:
        blocks: Blocks = ahead.queries.laid(points.space)
        return blocks
    return np.empty((0, points.placed.shape[1], ABREAST), dtype=np.float32)


def _terms(points: PointSet, table: PairTable, run: slice) -> Terms:
    """The terms of rounds in a row that are all constants, or none of them is."""
    outputs = table.outputs[run]
    if table.anchors[run][0] == NONE:
        return Comparisons.constants(outputs)
    among_all = Comparisons(
        points.space,
        points.rows,
        points.placed,
        table.kinds[run],
        table.anchors[run],
        table.rivals[run],
        table.apart[run],
        outputs,
    )
    return among_all.take(np.arange(len(outputs)))  # with the points that they compare with only
