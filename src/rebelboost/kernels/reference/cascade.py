"""Scores of samples that leave as soon as a check decides them [THESIS 2.2]."""
# ruff: noqa: PLR0913, PLR0917  (n_threads; arrays cross borders, objects do not)

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    Checks,
    ComparedPoints,
    Floats,
    Scores,
    TreeArrays,
    Values,
    lead_of,
)
from rebelboost.kernels.reference.prediction import predict
from rebelboost.kernels.reference.similarity import add_comparisons, squared_distances


def leave_early(
    X: Values,
    trees: TreeArrays,
    spaces: Sequence[ComparedPoints],
    values: Floats,
    checks: Checks,
    scores: Scores,
    stage: NDArray[np.int32],
    n_threads: int,
) -> None:
    """Add terms to the scores until a check lets a sample leave; write the number of the check to `stage`.

    Samples that no check lets leave get the number of checks. Within a check, trees are added first, then
    the comparisons of each space.
    """
    stage[:] = len(checks.low)
    alive = np.arange(len(X))
    done = [0] * (1 + len(spaces))
    for i, stops in enumerate(checks.stops.tolist()):
        sums = scores[alive]
        predict(X[alive], trees, done[0], stops[0], sums, n_threads)
        for space, first, last in zip(spaces, done[1:], stops[1:], strict=True):
            distances = np.empty((len(space.points), len(alive)), dtype=np.float32)
            # One sample in each block of the layout.
            squared_distances(space.placed[alive][:, :, np.newaxis], space.points, distances, 1)
            add_comparisons(distances, space.comparisons, values, first, last, sums, n_threads)
        scores[alive] = sums
        value = lead_of(sums)
        leaves = (value < checks.low[i]) | (value > checks.high[i])
        stage[alive[leaves]] = i
        alive, done = alive[~leaves], stops
