"""Stumps at exact thresholds [ADA, Alg. 3.1]."""

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Indices, Ints, RootTotals
from rebelboost.base.fixed_point import root_losses


def exact_cut(
    order: Indices, cuts: Ints, values: NDArray[np.int32], totals: RootTotals, least: float
) -> tuple[int, bool, float]:
    """The threshold of one feature with the least loss, if that is below `least`; the first one of several.

    `order` are the samples with a value, by increasing value; thresholds are after the places `cuts`.
    `values` (N, K) are fixed-point signed weights. If samples are missing, thresholds are tried with them on
    the left, then on the right, where all samples with a value may be on the left. Returns the place (−1:
    none), whether missing samples are on the right, and the loss.
    """
    best = (-1, False, least)
    if len(order) == 0:
        return best
    left = np.cumsum(values[order], axis=0, dtype=np.int64)
    missing = len(order) < len(values)
    for missing_right in (False, True) if missing else (False,):
        ends = np.append(cuts, len(order) - 1) if missing_right else cuts
        side = left[ends]
        if missing and not missing_right:
            side += totals.total - left[-1]
        losses = root_losses(totals, side)
        at = int(np.argmin(losses)) if len(losses) else 0
        if len(losses) and losses[at] < best[2]:
            best = (int(ends[at]), missing_right, float(losses[at]))
    return best
