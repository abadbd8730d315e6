"""Exact sums and products of floats, scaled to integers.

Neither their order nor their distribution over threads changes a bit.
"""

import math
from collections.abc import Iterable

import numpy as np

from rebelboost.base.arrays import Floats, Values


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

    `left` is rounded to 2⁻¹⁴ of a standard deviation, `right` to 2⁻²¹ of its largest entry.
    """
    _, exponent = np.frexp(np.abs(right).max(initial=0.0))
    integers = np.rint(np.ldexp(left, 14)) @ np.rint(np.ldexp(right, 21 - exponent))
    return np.ldexp(integers, exponent - 35)
