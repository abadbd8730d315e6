"""Values by row number, found by bisection.

Row numbers in a model file may be chosen so that they collide in a dict, which then takes quadratic time.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from rebelboost.base.arrays import Ints

V = TypeVar("V")


class ByRow(Mapping[int, V]):
    """A mapping from distinct row numbers to values, in the given order."""

    def __init__(self, rows: Collection[int] | Ints, values: Sequence[V]) -> None:
        self._rows: Ints = np.array(list(rows), dtype=np.int64)
        self._order = np.argsort(self._rows, kind="stable")
        self._sorted: list[int] = self._rows[self._order].tolist()
        self._values = values

    def __getitem__(self, row: int) -> V:
        if isinstance(row, int | np.integer):
            at = bisect_left(self._sorted, row)
            if at < len(self._sorted) and self._sorted[at] == row:
                return self._values[int(self._order[at])]
        raise KeyError(row)

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows.tolist())

    def __len__(self) -> int:
        return len(self._sorted)

    def __repr__(self) -> str:
        return repr(dict(self.items()))

    def places(self, rows: Any) -> Ints:
        """Places of rows in the given order; −1 for those that are not there."""
        wanted = np.asarray(rows, dtype=np.int64)
        if not self._sorted:
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(self._sorted, wanted), len(self) - 1)
        return np.where(self._rows[self._order[at]] == wanted, self._order[at], -1)
