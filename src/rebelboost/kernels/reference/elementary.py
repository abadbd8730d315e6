"""exp and log from + − × / and bit operations: the same bits on every machine.

Math libraries, and NumPy's loops for different processors, round these functions differently. Errors
are below one unit in the last place.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats

Bits = NDArray[np.uint64]

LN2_HIGH = float.fromhex("0x1.62e42feep-1")
"""ln 2 in two parts. The first has 32 bits, so that its product with an exponent is exact."""
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
ONE_OVER_LN2 = float.fromhex("0x1.71547652b82fep0")
ROUND_MAGIC = np.float64(3 * 2.0**51)
"""Adding it rounds to an integer, which is then in the low bits."""
INVERSE_FACTORIALS = [1 / math.factorial(k) for k in range(2, 14)]
ROOT_HALF, ONE = np.uint64(0x3FE6A09E667F3BCD), np.uint64(0x3FF0000000000000)
"""Bits of √½ and 1."""
LOG_TERMS = 11


def exponentials(x: Floats, out: Floats) -> None:
    """eˣ = 2ⁿ·eʳ with |r| ≤ ½ ln 2, and the Taylor series of eʳ. Two factors reach all of 2ⁿ."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        clipped = np.clip(x, -800.0, 800.0)
        shifted = clipped * ONE_OVER_LN2 + ROUND_MAGIC
        n = shifted - ROUND_MAGIC
        r = (clipped - n * LN2_HIGH) - n * LN2_LOW
        series = np.full_like(r, INVERSE_FACTORIALS[-1])
        for coefficient in INVERSE_FACTORIALS[-2::-1]:
            series = series * r + coefficient
        y = 1 + (r + (r * r) * series)
        exponent = _integer_bits(shifted)
        half = _integer_bits(n * 0.5 + ROUND_MAGIC)
        out[:] = y * _power_of_two(half) * _power_of_two(exponent - half)


def logarithms(x: Floats, out: Floats) -> None:
    """Compute ln x = n·ln 2 + ln(1 + f) with √½ ≤ 1 + f < √2.

    With s = f/(2 + f), ln(1 + f) = 2 artanh s = f − s·(f − R), R = s²·(2/3 + s²·(2/5 + …)).
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        is_small = x < 2.0**-1000  # also denormal numbers
        bits = np.where(is_small, x * 2.0**100, x).view(np.uint64) + (ONE - ROOT_HALF)
        n = (bits >> np.uint64(52)).astype(np.int64) - 1023 - np.where(is_small, 100, 0)
        f = ((bits & np.uint64(2**52 - 1)) + ROOT_HALF).view(np.float64) - 1
        s = f / (2 + f)
        z = s * s
        series = np.full_like(z, 2 / (2 * LOG_TERMS + 1))
        for k in range(LOG_TERMS - 1, 0, -1):
            series = series * z + 2 / (2 * k + 1)
        out[:] = n * LN2_HIGH + (f - (s * (f - z * series) - n * LN2_LOW))
    out[~((x > 0) & (x < np.inf))] = np.nan
    out[x == 0] = -np.inf
    out[x == np.inf] = np.inf


def _integer_bits(shifted: Floats) -> Bits:
    """The integer that adding `ROUND_MAGIC` has left in the low bits, in two's complement."""
    return shifted.view(np.uint64) - ROUND_MAGIC.view(np.uint64)


def _power_of_two(exponent: Bits) -> Floats:
    return ((exponent + np.uint64(1023)) << np.uint64(52)).view(np.float64)
