"""Random numbers by counter: the i-th number of a key is a hash of both.

Any of them can be computed alone, in any order and on any thread.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats

Bits = NDArray[np.uint64]
GOLDEN = 0x9E3779B97F4A7C15


def random_numbers(key: int, first: int, out: Bits) -> None:
    """Fill `out` with the numbers `first`, `first` + 1, … of the key: SplitMix64 [Steele et al. 2014]."""
    out[:] = _numbers(key, first, len(out))


def random_normals(key: int, first: int, out: Floats) -> None:
    """Nearly normal numbers with mean 0 and variance 1: sums of twelve uniform numbers, less 6.

    Integers of 32 bits are added, so that the sums are exact.
    """
    bits = _numbers(key, 6 * first, 6 * len(out)).reshape(-1, 6)
    sums = (bits >> np.uint64(32)).sum(axis=1) + (bits & np.uint64(2**32 - 1)).sum(axis=1)
    out[:] = sums * 2.0**-32 - 6


def below(number: Any, bound: int) -> Any:
    """A random number, or each of several, as an integer below a bound of at most 2⁵³.

    It is a share of the bound, so that a bound that is a little different gives the same number or a neighbour.
    """
    share = (np.asarray(number, dtype=np.uint64) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (share * float(bound)).astype(np.int64)


def _numbers(key: int, first: int, n: int) -> Bits:
    counters = np.arange(1, n + 1, dtype=np.uint64) + np.uint64(first % 2**64)
    return mix(np.uint64(key) + counters * np.uint64(GOLDEN))


def mix(z: Bits) -> Bits:
    """Mix the bits of each number."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
