"""exp and log of arrays, with the same bits on every machine (`kernels.reference.elementary`)."""

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import Floats

NEAR = 0.125
"""Below it, five terms of the series of sinh have all bits."""


def portable_exp(x: Floats) -> Floats:
    """Compute eˣ."""
    result = np.empty(x.shape)
    kernels.active.exponentials(np.ravel(x), result.reshape(-1))
    return result


def portable_log(x: Floats) -> Floats:
    """Natural logarithm; −∞ at 0."""
    result = np.empty(x.shape)
    kernels.active.logarithms(np.ravel(x), result.reshape(-1))
    return result


def portable_sinh(x: Floats) -> Floats:
    """(eˣ − e⁻ˣ)/2; where the difference would cancel, the series x + x³/3! + x⁵/5! and so on."""
    square = x * x
    series = x * (1 + square / 6 * (1 + square / 20 * (1 + square / 42 * (1 + square / 72))))
    return np.where(np.abs(x) < NEAR, series, (portable_exp(x) - portable_exp(-x)) / 2)


def portable_log1p(x: Floats) -> Floats:
    """ln(1 + x) for x ≥ 0: the rounding error of 1 + x is divided out [Kahan]."""
    above = 1 + x
    rounded = above - 1
    return np.divide(portable_log(above) * x, rounded, out=x.copy(), where=rounded > 0)
