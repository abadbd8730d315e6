"""Fixed-point weights: sums of integers are exact, for any order and number of threads."""

import math

import numpy as np

from rebelboost.base.arrays import (
    ByClass,
    BySample,
    Ints,
)

COARSE_BITS = 30
"""Sums used to grow trees reach 2³⁰. With rounding they stay below 2³¹, and fit an int32."""


FINE_BITS = 50
"""Sums used to solve outputs reach 2⁵⁰."""


def fine_scales(totals: ByClass) -> ByClass:
    """Powers of two that scale each class's total to at most 2⁵⁰, which a float represents exactly."""
    _, exponents = np.frexp(totals)
    return np.ldexp(1.0, np.where(totals > 0, FINE_BITS - exponents, 0))


def coarse_scale(total: float) -> float:
    """Power of two that scales a total to at most 2³⁰."""
    if not total > 0:
        return 1.0
    _, exponent = math.frexp(total)
    return math.ldexp(1.0, COARSE_BITS - exponent)


def fixed_weights(weight: BySample | None) -> Ints | None:
    """Sample weights as integers, so that quantiles do not depend on the order of the samples."""
    if weight is None:
        return None
    scale = coarse_scale(float(weight.max()) * len(weight)) * 2.0**20
    return np.rint(weight * scale).astype(np.int64)
