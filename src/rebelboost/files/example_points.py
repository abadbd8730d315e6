"""Points of training rows that a large file leaves out, because they follow from the rows' values.

The members of a blend compare with the same rows in spaces of their own. Their values are stored once, for
explanations, and the points of each space are computed from them on loading, to the last bit.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Indices, Points
from rebelboost.base.checks import require
from rebelboost.data.spaces import Embedding
from rebelboost.files.packing import room
from rebelboost.model.comparisons import Comparisons
from rebelboost.model.fitted import Provenance
from rebelboost.model.smooth import SmoothFunction

AT_ONCE = 1 << 16
"""Number of coordinates computed at a time: copies in double precision stay small."""


class StoredRows:
    """The stored training rows, from which points are computed, and the memory that these may take."""

    def __init__(self, kept: Provenance, n_bytes: int) -> None:
        self._values = kept.example_values
        self._place = {row: i for i, row in enumerate(kept.example_classes)}
        self._left = room(n_bytes)

    def points(self, space: Embedding, rows: Indices, name: str) -> Points:
        """(E, D) the points of rows in a space."""
        known = self._values is not None and self._place.keys() >= set(rows.tolist())
        require(known, f"{name} without points, and without the rows that they follow from")
        self._left -= 4 * len(rows) * len(space.offset)
        require(self._left >= 0, f"{name} with more points than fit the size of the file")
        return points_of(space, self._values, [self._place[row] for row in rows.tolist()])


def points_of(space: Embedding, values: Any, places: Sequence[int]) -> Points:
    """(E, D) the points of some rows of encoded values."""
    points = np.empty((len(places), len(space.offset)), dtype=np.float32)
    step = max(1, AT_ONCE // max(1, points.shape[1]))
    with np.errstate(invalid="ignore", over="ignore"):  # as a file may say; points are checked then
        for first in range(0, len(places), step):
            here = slice(first, first + step)
            points[here] = space.place(np.asarray(values[places[here]], dtype=np.float64))
    return points


def without_points(
    arrays: Mapping[str, NDArray[Any]],
    spaces: Sequence[Comparisons | SmoothFunction],
    kept: Provenance,
) -> dict[str, NDArray[Any]]:
    """The arrays without the points that follow from the values of the rows, bit for bit."""
    if kept.example_values is None:
        return dict(arrays)
    place = {row: i for i, row in enumerate(kept.example_classes)}
    left = dict(arrays)
    for i, each in enumerate(spaces):
        rows = each.rows.tolist()
        if isinstance(each.space, Embedding) and place.keys() >= set(rows):
            found = points_of(each.space, kept.example_values, [place[row] for row in rows])
            if found.tobytes() == np.ascontiguousarray(each.points).tobytes():
                del left[f"spaces.{i}.points"]
    return left
