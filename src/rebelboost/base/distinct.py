"""Distinct values, found by sorting.

`np.unique` finds those of integers by hashing (since NumPy 2.3), in C++ that aborts the process if the
interpreter exits meanwhile in another thread (before Python 3.14). Training and prediction use this instead, so
that they can run in daemon threads.
"""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


def distinct(values: NDArray[T]) -> NDArray[T]:
    """All values in ascending order, each once; there must be no NaN."""
    ordered = np.sort(values, axis=None)
    return ordered[_is_first(ordered)]


def n_distinct_values(values: NDArray[Any]) -> int:
    """Count the values, equal ones once."""
    return int(np.count_nonzero(_is_first(np.sort(values, axis=None))))


def _is_first(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first
