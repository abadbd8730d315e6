"""Initial values of a regression: its baseline, and the default of `huber_delta`."""

import math

import numpy as np

from rebelboost.base.arrays import BySample, Floats
from rebelboost.base.fixed_point import fixed_weights
from rebelboost.losses.numbers import medians_by_region

HUBER_SHARE = 0.9
"""Share of the weight whose residuals are at most huber_delta="auto"."""


def baseline(loss: str, y: BySample, weight: BySample | None) -> float:
    """Prediction before the first round: the mean for the squared loss, else the median."""
    weight = np.ones(len(y)) if weight is None else weight
    if loss != "squared":
        return _median(y, weight)
    # Relative to the largest value, so that the sum does not overflow.
    unit = math.ldexp(1.0, int(np.frexp(np.abs(y).max(initial=0.0))[1]))
    return unit * (math.fsum(weight * (y / unit)) / math.fsum(weight))


def huber_delta(residual: BySample, weight: BySample | None) -> float:
    """The residual size that HUBER_SHARE of the weight does not exceed; 1 if that is 0."""
    distance = np.abs(residual)
    order = np.argsort(distance, kind="stable")
    # Fixed point, so that the order of equal distances does not affect rounding.
    counts = fixed_weights(np.ones(len(residual)) if weight is None else weight)
    assert counts is not None
    below = np.cumsum(counts[order])
    at = np.searchsorted(below, huber_rank(int(below[-1])))
    return float(distance[order][at]) or 1.0


def huber_rank(total: int) -> int:
    """The weight that residuals up to huber_delta="auto" have at least, of a total in fixed point."""
    return math.ceil(HUBER_SHARE * total)


def _median(y: BySample, weight: Floats) -> float:
    return float(medians_by_region(y, weight, np.zeros(len(y), dtype=np.uint16), 1)[0])
