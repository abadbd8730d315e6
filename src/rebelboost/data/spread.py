"""How much the values of a column differ: the unit in which changes of a value are measured."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Bytes, Values

CATEGORY = 1.0
"""What a change to another category counts for."""
TOGETHER = 16
"""Columns that are copied together, because the values of a row are adjacent in memory."""


class Spreads(NamedTuple):
    """Of each column of the training rows."""

    sizes: tuple[float, ...]
    """(d,) interquartile range; if that is 0, the standard deviation; 1 for categories and for constants."""
    whole: tuple[bool, ...]
    """(d,) True for numbers that are all whole."""

    def of(self, feature: int) -> float:
        """The spread of a column."""
        return self.sizes[feature]

    def is_whole(self, feature: int) -> bool:
        """Whether a column has whole numbers only."""
        return self.whole[feature]


def sorted_columns(X: Values) -> list[Values]:
    """The values of each column of encoded samples, ascending, without missing ones."""
    columns: list[Values] = []
    for begin in range(0, X.shape[1], TOGETHER):
        ordered = np.sort(np.ascontiguousarray(X[:, begin : begin + TOGETHER].T), axis=1)
        columns += [own[: np.searchsorted(own, np.nan)] for own in ordered]  # NaN last
    return columns


def spreads_of(columns: Sequence[Values], categorical: Bytes) -> Spreads:
    """The spreads of `sorted_columns`. Quartiles are values of the column."""
    sizes, whole = [CATEGORY] * len(columns), [False] * len(columns)
    for i in np.flatnonzero(categorical == 0).tolist():
        if len(columns[i]) > 0:
            sizes[i] = _spread(columns[i])
            whole[i] = bool((columns[i] == np.floor(columns[i])).all())
    return Spreads(tuple(sizes), tuple(whole))


def _spread(column: Values) -> float:
    low, high = (float(column[(len(column) - 1) * q // 4]) for q in (1, 3))
    own = high - low
    if own == 0:
        with np.errstate(over="ignore", invalid="ignore"):
            own = float(column.astype(np.float64).std())  # sorted: no order of rows changes a bit
    return own if 0 < own < np.inf else CATEGORY
