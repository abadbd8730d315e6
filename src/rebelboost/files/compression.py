"""Arrays compressed without loss by deflate, which every Python has as zlib.

The first bytes of all numbers are stored first, then the second bytes, and so on: those with the leading digits
are alike and become small.
"""

import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Room, require
from rebelboost.exceptions import ModelFileError
from rebelboost.files.safetensors import NAMES, Place, check_empty, placed_as

Arrays = dict[str, NDArray[Any]]
LEAST_BYTES, MOST_BYTES = 1 << 10, 1 << 22
"""Smaller arrays are left as they are, and larger ones, which would take longer to decompress than to read."""
LEAST_SHARE = 0.2
"""Share of its bytes that an array must save."""
LEVEL = 6


def compressed(arrays: Mapping[str, NDArray[Any]]) -> tuple[Arrays, dict[str, Any]]:
    """The arrays as they are stored, and the type and shape of those that are compressed."""
    stored, described = dict(arrays), dict[str, Any]()
    for name, array in arrays.items():
        if not LEAST_BYTES <= array.nbytes <= MOST_BYTES:
            continue
        packed = zlib.compress(_by_place(array), LEVEL)
        if len(packed) <= (1 - LEAST_SHARE) * array.nbytes:
            stored[name] = np.frombuffer(packed, dtype=np.uint8)
            described[name] = [NAMES[array.dtype], list(array.shape)]
    return stored, described


def _by_place(array: NDArray[Any]) -> bytes:
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return little.reshape(-1).view(np.uint8).reshape(-1, array.itemsize).T.tobytes()


def decompressed(arrays: Mapping[str, NDArray[Any]], described: Any, room: Room) -> Arrays:
    """The arrays as they were. Nothing is decompressed before it is known to fit the room."""
    require(isinstance(described, dict), "invalid compressed arrays")
    forms = {name: _form(name, said) for name, said in described.items()}
    require(forms.keys() <= arrays.keys(), "compressed arrays that are not there")
    sizes = {name: math.prod(form.shape) * form.dtype.itemsize for name, form in forms.items()}
    for form in forms.values():
        check_empty(form.shape, room.left)
    room.take(sum(sizes.values()), "compressed arrays that are")
    found = {
        name: _decompressed(name, arrays[name], form, sizes[name]) for name, form in forms.items()
    }
    return dict(arrays) | found


def _form(name: str, said: Any) -> Place:
    require(isinstance(said, list) and len(said) == 2, "invalid compressed arrays")
    return placed_as(name, {"dtype": said[0], "shape": said[1], "data_offsets": [0, 0]})


def _decompressed(name: str, array: NDArray[Any], form: Place, size: int) -> NDArray[Any]:
    require(array.dtype == np.uint8 and array.ndim == 1, f"{name!r} that is not compressed bytes")
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(array.tobytes(), size + 1)
    except zlib.error as error:
        raise ModelFileError(
            f"has compressed bytes of {name!r} that are damaged ({error})"
        ) from None
    whole = len(data) == size and stream.eof and not stream.unused_data
    require(whole, f"compressed bytes of {name!r} that do not match its shape")
    places = np.frombuffer(data, dtype=np.uint8).reshape(form.dtype.itemsize, -1)
    numbers = np.ascontiguousarray(places.T).view(form.dtype.newbyteorder("<"))
    return numbers.astype(form.dtype, copy=False).reshape(form.shape)
