"""Points of training rows that a large file leaves out, because they follow from the rows' values.

The members of a blend compare with the same rows in spaces of their own. Their values are stored once, for
explanations, and the points of each space are computed from them on loading, to the last bit.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Indices, Points
from rebelboost.base.by_row import ByRow
from rebelboost.base.checks import Room, require
from rebelboost.data.spaces import Embedding
from rebelboost.model.comparisons import Comparisons
from rebelboost.model.fitted import Provenance
from rebelboost.model.smooth import SmoothFunction

AT_ONCE = 1 << 16
"""Number of coordinates computed at a time: copies in double precision stay small."""


class StoredRows:
    """The stored training rows, from which points are computed, and the memory that these may take."""

    def __init__(self, kept: Provenance, room: Room) -> None:
        self._values = kept.example_values
        self._rows = _by_row(kept)
        self._room = room

    def has(self, rows: Sequence[int]) -> bool:
        """Whether all these rows are stored."""
        return bool((self._rows.places(rows) >= 0).all())

    def points(self, space: Embedding, rows: Indices, name: str) -> Points:
        """(E, D) the points of rows in a space."""
        places = self._rows.places(rows)
        known = self._values is not None and (places >= 0).all()
        require(known, f"{name} without points, and without the rows that they follow from")
        self._room.take(4 * len(rows) * len(space.offset), f"points of {name}, which are")
        return points_of(space, self._values, places.tolist())


def _by_row(kept: Provenance) -> ByRow[int]:
    return ByRow(list(kept.example_classes), range(len(kept.example_classes)))


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
    known = _by_row(kept)
    left = dict(arrays)
    for i, each in enumerate(spaces):
        places = known.places(each.rows)
        if isinstance(each.space, Embedding) and (places >= 0).all():
            found = points_of(each.space, kept.example_values, places.tolist())
            if found.tobytes() == np.ascontiguousarray(each.points).tobytes():
                del left[f"spaces.{i}.points"]
    return left
