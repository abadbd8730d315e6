"""Weights as integers: sums of them are exact, whatever their order and the number of threads."""

import math

import numpy as np

from rebelboost.base.arrays import (
    ByClass,
    BySample,
    Ints,
)

COARSE_BITS = 30
"""Sums on which trees are grown reach 2³⁰: with rounding they stay below 2³¹, in an int32."""


FINE_BITS = 50
"""Sums from which outputs are solved reach 2⁵⁰."""


def fine_scales(totals: ByClass) -> ByClass:
    """Return powers of two that bring each class's total to at most 2⁵⁰: a float rounds that exactly."""
    _, exponents = np.frexp(totals)
    return np.ldexp(1.0, np.where(totals > 0, FINE_BITS - exponents, 0))


def coarse_scale(total: float) -> float:
    """Return the power of two that brings a total to at most 2³⁰."""
    if not total > 0:
        return 1.0
    _, exponent = math.frexp(total)
    return math.ldexp(1.0, COARSE_BITS - exponent)


def fixed_weights(weight: BySample | None) -> Ints | None:
    """Sample weights as integers, so that quantiles do not depend on the order of samples."""
    if weight is None:
        return None
    scale = coarse_scale(float(weight.max()) * len(weight)) * 2.0**20
    return np.rint(weight * scale).astype(np.int64)
