"""Fixed-point weights: sums of integers are exact, for any order and number of threads."""

import math

import numpy as np

from rebelboost.base.arrays import (
    ByClass,
    BySample,
    Floats,
    Ints,
    Labels,
    Regions,
)

COARSE_BITS = 30
"""Sums used to grow trees reach 2³⁰. With rounding they stay below 2³¹, and fit an int32."""


FINE_BITS = 50
"""Sums used to solve outputs reach 2⁵⁰."""


MOST_EXPONENT = 1023
"""Of the largest power of two: weights of 0 times infinity would be NaN."""


def fine_scales(totals: ByClass) -> ByClass:
    """Powers of two that scale each class's total to at most 2⁵⁰, which a float represents exactly."""
    _, exponents = np.frexp(totals)
    bits = np.minimum(FINE_BITS - exponents, MOST_EXPONENT)
    return np.ldexp(1.0, np.where(totals > 0, bits, 0))


def coarse_scale(total: float) -> float:
    """Power of two that scales a total to at most 2³⁰."""
    if not total > 0:
        return 1.0
    _, exponent = math.frexp(total)
    return math.ldexp(1.0, min(COARSE_BITS - exponent, MOST_EXPONENT))


def in_order(numbers: Floats) -> float:
    """Sum of the numbers, one after the other, as the kernels add."""
    return float(np.add.accumulate(np.append(0.0, numbers))[-1])


def sum_of_sizes(values: BySample) -> float:
    """Σ |values|, in units that the largest allows: the order changes no bit."""
    scale = fine_scales(np.array([np.abs(values).max(initial=0.0) * len(values)]))[0]
    return float(np.rint(np.abs(values) * scale).astype(np.int64).sum() / scale)


def fixed_weights(weight: BySample | None) -> Ints | None:
    """Sample weights as integers, so that quantiles do not depend on the order of the samples."""
    if weight is None:
        return None
    return np.rint(weight * weight_scale(float(weight.max()), len(weight))).astype(np.int64)


def weight_scale(largest: float, n_samples: int) -> float:
    """Power of two that scales the sum of sample weights to at most 2⁵⁰."""
    return coarse_scale(largest * n_samples) * 2.0**20


COUNTED_BITS = 52
"""Sums of sample weights, as multiples of a unit, stay below 2⁵²: a float holds them exactly."""


def counting_unit(largest: float, n_samples: int) -> float:
    """Power of two, of which weights are counted as multiples: their sum is exact in any order."""
    if not largest > 0:
        return 1.0
    return math.ldexp(1.0, math.frexp(largest * n_samples)[1] - COUNTED_BITS)


def in_units(weight: BySample, unit: float) -> BySample:
    """(N,) weights as whole multiples of a unit, as floats."""
    return np.rint(weight / unit)


def exact_totals(weight: BySample | None, groups: Labels | Regions, n_groups: int) -> BySample:
    """(n_groups,) weight of the samples of each group, for any order of the samples."""
    if weight is None:
        return np.bincount(groups, minlength=n_groups).astype(np.float64)
    # Samples without weight count for nothing, also here.
    unit = counting_unit(float(weight.max(initial=0.0)), int(np.count_nonzero(weight)))
    return np.bincount(groups, in_units(weight, unit), n_groups).astype(np.float64) * unit


def exact_total(weight: BySample) -> float:
    """Sum of the weights, for any order of the samples."""
    unit = counting_unit(float(weight.max(initial=0.0)), len(weight))
    return float(in_units(weight, unit).sum() * unit)
