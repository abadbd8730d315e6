"""What several rounds of boosting in one call need, whatever finds the terms.

Such calls are for fits that nobody watches between the rounds.
"""

import math

import numpy as np

from rebelboost.base.arrays import ByClass, Outputs, Planes, Regions
from rebelboost.base.fixed_point import fine_scales, in_order
from rebelboost.base.kernel_arrays import Boosted, RoundLog
from rebelboost.kernels.reference.weights import region_sums, take_step


def total_up(weights: Planes, totals: ByClass, n_threads: int) -> None:
    """Recompute the totals of the weights: first with a scale from an upper bound, then from the sum."""
    everywhere = np.zeros(weights.shape[1], dtype=np.uint16)
    totals[:] = np.abs(weights).max(axis=(0, 1), initial=0.0) * weights.shape[1]
    for _ in range(2):
        scales = fine_scales(totals)
        sums = np.zeros((1, 2, len(totals)), dtype=np.int64)
        region_sums(weights, everywhere, scales, sums, n_threads)
        signed, mass = sums[0]
        totals[:] = (mass + signed) / (2 * scales) + (mass - signed) / (2 * scales)


def add_term(
    to: Boosted, regions: Regions, outputs: Outputs, log: RoundLog, t: int, kind: int
) -> int:
    """Add a term to samples, note its effect, and return the exponent of the weights' scale."""
    shift, loose, rates = take_step(
        to.weights, to.scores, regions, outputs, to.totals, to.decided, to.judged, 1
    )
    if loose:
        total_up(to.weights, to.totals, 1)
    log.shifts[t, kind], log.totals[t, kind], log.rates[t, kind] = shift, to.totals, rates
    return shift


def sum_exceeds(training: Boosted, exponent: int, least_total: float) -> bool:
    """Whether the weights of training samples, before they were divided by 2^exponent, sum to more."""
    return math.ldexp(in_order(training.totals), exponent) > least_total
