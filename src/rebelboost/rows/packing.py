"""Packing of answers for the way from a worker: of sums that are mostly 0, only the others are sent."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SMALLEST = 1024
"""Entries below which packing is not worth it."""
SPARSE = 0.6
"""An entry with its place takes 12 bytes instead of 8: packing pays below this share of entries."""


class Packed(NamedTuple):
    """The entries of an array of integers that are not 0, and their places."""

    shape: tuple[int, ...]
    places: NDArray[np.uint32]
    entries: NDArray[np.int64]


def pack(answer: Any) -> Any:
    """Pack the large arrays of integers of an answer."""
    if not isinstance(answer, tuple):
        return answer
    return tuple(_packed(item) for item in answer)


def unpack(answer: Any) -> Any:
    """Undo `pack`."""
    if not isinstance(answer, tuple):
        return answer
    return tuple(_unpacked(item) if isinstance(item, Packed) else item for item in answer)


def _packed(item: Any) -> Any:
    if not isinstance(item, np.ndarray) or item.dtype != np.int64 or item.size < SMALLEST:
        return item
    flat = item.ravel()
    places = np.flatnonzero(flat)
    if len(places) > SPARSE * item.size or item.size > 2**32:
        return item
    return Packed(item.shape, places.astype(np.uint32), flat[places])


def _unpacked(packed: Packed) -> NDArray[np.int64]:
    flat = np.zeros(int(np.prod(packed.shape)), dtype=np.int64)
    flat[packed.places] = packed.entries
    return flat.reshape(packed.shape)
