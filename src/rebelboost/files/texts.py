"""Lists of texts, and of what JSON can say, as arrays."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Shelf, require
from rebelboost.base.names import plain
from rebelboost.exceptions import ModelFileError

Scalar = str | int | float | bool


def text_arrays(name: str, texts: Iterable[str]) -> dict[str, NDArray[Any]]:
    """All texts in one, and where each ends."""
    try:
        pieces = [text.encode() for text in texts]
    except UnicodeEncodeError as error:
        raise ModelFileError(
            f"{name} has the text {error.object!r}, which Unicode has no way to write: rename it"
        ) from None
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    joined = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    return {f"{name}.text": joined, f"{name}.ends": ends}


def take_texts(shelf: Shelf, name: str, n: int | None = None) -> list[str]:
    """The texts, `n` of them."""
    joined = shelf.take(f"{name}.text", np.uint8, None).tobytes()
    ends = shelf.take(f"{name}.ends", np.int64, n)
    bounds = np.concatenate([[0], ends])
    sound = bounds[-1] == len(joined) and (bounds[1:] >= bounds[:-1]).all()
    require(sound, f"{name!r} with texts that do not end where they should")
    try:
        first = 0
        found = []
        for last in ends.tolist():
            found.append(joined[first:last].decode())
            first = last
    except UnicodeDecodeError:
        raise ModelFileError(f"has {name!r} with texts that are not UTF-8") from None
    return found


def scalar_arrays(name: str, scalars: Sequence[Any], remedy: str) -> dict[str, NDArray[Any]]:
    """Texts, numbers and truth values."""
    found = [plain(scalar) for scalar in scalars]
    for scalar in found:
        if not isinstance(scalar, Scalar):
            raise ModelFileError(
                f"{name} has {scalar!r} of type {type(scalar).__name__}, which a model file does "
                f"not hold: {remedy}"
            )
    return text_arrays(name, [json.dumps(scalar, ensure_ascii=False) for scalar in found])


def take_scalars(shelf: Shelf, name: str, n: int | None = None) -> list[Scalar]:
    """The texts, numbers and truth values, `n` of them."""
    return [_scalar(text, name) for text in take_texts(shelf, name, n)]


def _scalar(text: str, name: str) -> Scalar:
    found: Any
    try:
        found = json.loads(text) if text[:1] not in {"[", "{"} else None
    except ValueError:
        found = None
    sound = isinstance(found, Scalar) and (not isinstance(found, float) or math.isfinite(found))
    require(sound, f"{name!r} with {text[:40]!r}, which is no text or number")
    return found
