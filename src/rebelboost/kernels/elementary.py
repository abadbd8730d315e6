"""exp, log and powers, with the same bits on every machine (`kernels.reference.elementary`)."""

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


def exp_of(x: float) -> float:
    """Compute eˣ of a number."""
    return float(portable_exp(np.array([x], dtype=np.float64))[0])


def log_of(x: float) -> float:
    """Natural logarithm of a number; −∞ at 0."""
    return float(portable_log(np.array([x], dtype=np.float64))[0])


def portable_power(x: Floats, power: float) -> Floats:
    """Compute xᵖ = e^(p·ln x) for x ≥ 0 and p > 0; roots are exact where the processor computes them."""
    if power == 1:
        return x
    return np.sqrt(x) if power == 0.5 else portable_exp(power * portable_log(x))


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
