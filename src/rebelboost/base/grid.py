"""Multiples of a power of two. Their sums are exact, in any order, while they stay below 2⁵³ units."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints

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
