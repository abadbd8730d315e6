"""Sums in fixed point, and of multiples of a power of two. They are exact, and so have no order."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    ByClass,
    BySample,
    Floats,
    Ints,
    Labels,
    Regions,
    RootTotals,
    Values,
)
from rebelboost.base.triangular import ordered_product

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


def root_losses(totals: RootTotals, left: Ints) -> Floats:
    """Σ_k rint √(S_k² − P_k²), or −Σ_k P_k²/S_k, of (n, K) left sides: P = total − 2·left. Lower is better."""
    P = (totals.total - left) - left
    losses = np.zeros(len(P))
    for k, S in enumerate(totals.mass.tolist()):
        if totals.second_order:
            losses -= P[:, k].astype(np.float64) ** 2 / max(S, 1)
        else:
            product = np.maximum(S - P[:, k], 0) * np.maximum(S + P[:, k], 0)
            losses += np.rint(np.sqrt(product.astype(np.float64)))
    return losses


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


# ---- exact sums and products of floats, scaled to integers


def exact_mean(X: Values, weight: Floats | None = None) -> Floats:
    """(d,) means of the values that are present, from integers that sum to less than 2⁶²."""
    present = ~np.isnan(X)
    values = X if present.all() else np.where(present, X, 0.0)
    values = values.astype(np.float64, copy=False)
    if weight is None:
        total = present.sum(axis=0).astype(np.float64)
    else:
        total = exact_sum(present * weight[:, np.newaxis])
        values = values * weight[:, np.newaxis]
    return np.divide(exact_sum(values), total, out=np.full(X.shape[1], np.nan), where=total > 0)


def exact_sum(values: Floats) -> Floats:
    """(d,) sums of columns, from integers that sum to less than 2⁶²."""
    largest = np.maximum(values.max(axis=0, initial=0.0), -values.min(axis=0, initial=0.0))
    exponent = 61 - len(values).bit_length() - np.frexp(largest)[1]
    integers = np.rint(np.ldexp(values, exponent)).astype(np.int64)
    return np.ldexp(integers.sum(axis=0).astype(np.float64), -exponent)


def exact_parts(values: Iterable[float]) -> list[float]:
    """A few floats with exactly the same sum: `math.fsum` of the parts of all places is that of all values."""
    rest, parts = list(values), []
    while (part := math.fsum(rest)) != 0:
        parts.append(part)
        rest.append(-part)
    return parts


def exact_gram(X: Floats, squares: Floats | None = None) -> Floats:
    """XᵀX, from integers whose squares sum to less than 2⁵²: every partial sum is exact in a float.

    `squares` (d,) are upper bounds of the sums of squares, if known.
    """
    if squares is None:
        squares = exact_mean(X**2) * len(X)
    exponent = 25 - (np.frexp(squares)[1] + 1) // 2
    integers = np.rint(np.ldexp(X, exponent))
    gram = integers.T @ integers
    return np.ldexp(gram, -(exponent[:, np.newaxis] + exponent))


def exact_product(left: Floats, right: Floats) -> Floats:
    """Matrix product of integers that sum to less than 2⁵³: its distribution over threads changes no bit.

    `left` is rounded to 2⁻¹⁴ of a standard deviation, `right` to 2⁻²¹ of its largest entry. Rows of `left`
    that are too far out for exact sums are multiplied term by term.
    """
    factors, exponent = product_factors(right)
    units = np.rint(np.ldexp(left, 14))
    product = units @ factors
    far = np.abs(units).max(axis=1, initial=0.0) * np.abs(factors).sum(axis=0).max() > 2.0**53
    product[far] = ordered_product(units[far], factors)
    return np.ldexp(product, exponent)


def product_factors(right: Floats) -> tuple[Floats, int]:
    """The matrix of `exact_product` as integers, and the exponent of the product's unit."""
    exponent = int(np.frexp(np.abs(right).max(initial=0.0))[1])
    return np.rint(np.ldexp(right, 21 - exponent)), exponent - 35


# ---- multiples of a power of two, whose sums are exact while they stay below 2⁵³ units

SMALL_ENOUGH = 2.0**52
"""Sums of numbers that together have at most so many units are exact, and so are differences of sums."""
FINEST = 51
"""A sum is rounded to a grid on which its bound has this many bits; rounding may add to the bound."""

FEW_BITS = 12
"""Of the largest number of a part: with a sign, they fit into 16 bits also when it is rounded up."""


def spacing(values: NDArray[Any]) -> float:
    """The largest power of two that divides all values; infinite if all are 0, and 0 if one is not finite."""
    if not np.isfinite(values).all():
        return 0.0
    mantissas, exponents = np.frexp(values[values != 0])
    if not len(mantissas):
        return math.inf
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = (whole & -whole).astype(np.float64)
    return float(np.ldexp(lowest, exponents - 53).min())


def coarsest(bound: float) -> float:
    """The grid that numbers whose absolute values sum to `bound` must be on, for sums that are exact."""
    mantissa, exponent = math.frexp(bound)
    ceiling = exponent - (mantissa == 0.5)  # ⌈log₂ bound⌉, which math libraries may round otherwise
    return math.ldexp(1.0, max(-1074, ceiling + 1 - math.frexp(SMALL_ENOUGH)[1]))


def unit_of(bound: float) -> float:
    """The grid for numbers whose absolute values sum to `bound`."""
    _, exponent = math.frexp(bound)
    return math.ldexp(1.0, exponent - FINEST)


def rounded(values: Floats, unit: float | Floats) -> Floats:
    """Round to multiples of a power of two, or of several that are broadcast; there is no −0."""
    units = values / unit
    np.rint(units, out=units)
    units *= unit
    units += 0.0
    return units


def rounded_parts(values: Floats, starts: Ints, unit: float) -> Floats:
    """Round (n, K) to multiples of a power of two: at least `unit`, and few bits of the largest of each part.

    The parts, such as the leaves of a tree, begin at `starts`. No number moves by more than 2⁻¹² of the
    largest of its part.
    """
    if len(starts) == 0:
        return values
    largest = np.maximum(values.max(axis=1), -values.min(axis=1))
    exponents = np.frexp(np.maximum.reduceat(largest, starts))[1] - FEW_BITS
    units = np.maximum(np.ldexp(1.0, exponents), unit)
    return rounded(values, np.repeat(units, np.diff(starts, append=len(values)))[:, np.newaxis])


def is_multiple(values: Floats, unit: float) -> bool:
    """Whether all values are multiples of a power of two."""
    units = values / unit
    return bool((np.rint(units) == units).all())
