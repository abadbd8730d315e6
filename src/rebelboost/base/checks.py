"""Validation of the arrays and metadata in a model file. Each is taken once and checked."""

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rebelboost.exceptions import ModelFileError


def require(condition: bool | np.bool_, fault: str) -> None:  # noqa: FBT001  (it reads as a rule)
    """Raise `ModelFileError` unless the condition holds."""
    if not condition:
        raise ModelFileError(f"has {fault}")


class Room:
    """Bytes that may be created from a file, by all steps of loading together."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, n_bytes: int, what: str) -> None:
        """Take so many bytes for `what`, before they are created."""
        self.left -= n_bytes
        require(self.left >= 0, f"{what} too large for the size of the file")


FREE, MOST_TIMES = 1 << 21, 64
"""Limit of what is created from a file: a fixed allowance, plus a multiple of the bytes in the file."""


def room(n_bytes: int) -> Room:
    """What may be created from a file of so many bytes."""
    return Room(FREE + MOST_TIMES * n_bytes)


class TensorReader:
    """The arrays of a file. Each can be taken once."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], room: Room) -> None:
        self._left = dict(arrays)
        self.room = room

    def any(self, name: str) -> NDArray[Any]:
        """Take an array of any type and shape."""
        if name not in self._left:
            raise ModelFileError(f"lacks the array {name!r}")
        return self._left.pop(name)

    def take(self, name: str, dtype: DTypeLike, *shape: int | None) -> NDArray[Any]:
        """Take an array of the given type and shape. None allows any length of an axis."""
        array = self.any(name)
        fits = array.ndim == len(shape) and all(
            n is None or n == found for n, found in zip(shape, array.shape, strict=True)
        )
        if array.dtype != np.dtype(dtype) or not fits:
            wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"
            raise ModelFileError(
                f"has array {name!r} of type {array.dtype} and shape {array.shape}, "
                f"not {np.dtype(dtype)} and {wanted}"
            )
        return array

    def numbers(self, name: str, *shape: int | None) -> NDArray[np.float64]:
        """Take an array of finite floats."""
        array = self.take(name, np.float64, *shape)
        require(np.isfinite(array).all(), f"{name!r} with numbers that are not finite")
        return array

    def indices(
        self, name: str, most: int, *shape: int | None, least: int = 0
    ) -> NDArray[np.int32]:
        """Take an array of integers from `least` to below `most`."""
        array = self.take(name, np.int32, *shape)
        inside = (array >= least).all() and (array < most).all()
        require(inside, f"{name!r} with numbers outside {least} to {most - 1}")
        return array

    def flags(self, name: str, *shape: int | None) -> NDArray[np.uint8]:
        """Take an array of zeros and ones."""
        array = self.take(name, np.uint8, *shape)
        require((array <= 1).all(), f"{name!r} with flags that are neither 0 nor 1")
        return array

    def has(self, name: str) -> bool:
        """Whether the array exists and has not been taken."""
        return name in self._left

    def end(self) -> None:
        """Raise an error if arrays are left."""
        require(not self._left, f"unexpected arrays: {sorted(self._left)[:3]}")


class Fields:
    """A JSON object of the metadata. Each field can be taken once."""

    def __init__(self, found: Any, where: str) -> None:
        require(isinstance(found, dict), f"{where} that is not an object")
        self._left: dict[str, Any] = dict(found)
        self._where = where

    def any(self, name: str) -> Any:
        """Take a field of any type."""
        if name not in self._left:
            raise ModelFileError(f"lacks {name!r} in {self._where}")
        return self._left.pop(name)

    def has(self, name: str) -> bool:
        """Whether the field exists and has not been taken."""
        return name in self._left

    def whole(self, name: str, least: int, most: int) -> int:
        """Take an integer from `least` to `most`, inclusive."""
        found = self.any(name)
        good = type(found) is int and least <= found <= most
        require(good, f"{self._named(name)} {_shown(found)}, not an integer {least} to {most}")
        return int(found)

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        """Take a finite number from `least` to `most`, inclusive."""
        found = self.any(name)
        good = type(found) in {int, float} and abs(found) < 1e308 and least <= found <= most
        require(good, f"{self._named(name)} {_shown(found)}, not a number {least:g} to {most:g}")
        return float(found)

    def word(self, name: str, choices: Collection[str]) -> str:
        """Take one of the given strings."""
        found = self.any(name)
        good = isinstance(found, str) and found in choices
        options = ", ".join(sorted(choices))
        require(good, f"{self._named(name)} {_shown(found)}, not one of {options}")
        return str(found)

    def list(self, name: str) -> list[Any]:
        """Take a list."""
        found = self.any(name)
        require(isinstance(found, list), f"{self._named(name)} {_shown(found)}, not a list")
        return list(found)

    def fields(self, name: str) -> "Fields":
        """Take an object."""
        return Fields(self.any(name), f"{name!r}")

    def end(self) -> None:
        """Raise an error if fields are left."""
        require(not self._left, f"{self._where} with unexpected fields: {sorted(self._left)[:3]}")

    def _named(self, name: str) -> str:
        return f"{name!r} in {self._where} as"


def _shown(found: Any) -> str:
    text = f"{found!r}" if isinstance(found, str | int | float | None) else type(found).__name__
    return text if len(text) <= 40 else f"{text[:40]}…"
