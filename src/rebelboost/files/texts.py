"""Storage of texts, scalars and class labels in a model file, with their types."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Fields, TensorReader, require
from rebelboost.base.names import plain
from rebelboost.exceptions import ModelFileError
from rebelboost.files.safetensors import NAMES, TYPES

Scalar = str | int | float | bool
NUMBERS, FLAGS, TEXTS, WIDE, DATES = "numbers", "flags", "texts", "fixed_width_texts", "dates"
LAST_CHARACTER = 0x10FFFF
SURROGATES = 0xD800, 0xDFFF
BYTES_OF_A_TEXT = 64
"""What Python needs for a text beyond its characters."""
UNITS = {"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"}


def text_arrays(name: str, texts: Iterable[str]) -> dict[str, NDArray[Any]]:
    """All texts joined into one array, and where each ends."""
    try:
        pieces = [text.encode() for text in texts]
    except UnicodeEncodeError as error:
        raise ModelFileError(
            f"{name} has the text {error.object!r}, which is not valid Unicode: rename it"
        ) from None
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    joined = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    return {f"{name}.text": joined, f"{name}.ends": ends}


def take_texts(reader: TensorReader, name: str, n: int | None = None) -> list[str]:
    """Read texts, `n` of them if given."""
    joined = reader.take(f"{name}.text", np.uint8, None).tobytes()
    ends = reader.take(f"{name}.ends", np.int64, n)
    reader.room.take(BYTES_OF_A_TEXT * len(ends) + 2 * len(joined), f"{name!r}, whose texts are")
    bounds = np.concatenate([[0], ends])
    sound = bounds[-1] == len(joined) and (bounds[1:] >= bounds[:-1]).all()
    require(sound, f"{name!r} with inconsistent text boundaries")
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
    """Arrays of texts, numbers and Booleans."""
    found = [plain(scalar) for scalar in scalars]
    for scalar in found:
        if not is_storable(scalar):
            raise ModelFileError(
                f"{name} has {scalar!r} of type {type(scalar).__name__}, which a model file cannot "
                f"store: {remedy}"
            )
    return text_arrays(name, [json.dumps(scalar, ensure_ascii=False) for scalar in found])


def is_storable(scalar: Any) -> bool:
    """Whether this is a text, a Boolean or a finite number."""
    finite = not isinstance(scalar, float) or math.isfinite(scalar)
    return isinstance(scalar, Scalar) and finite


def take_scalars(reader: TensorReader, name: str, n: int | None = None) -> list[Scalar]:
    """Read texts, numbers and Booleans, `n` of them if given."""
    return [_scalar(text, name) for text in take_texts(reader, name, n)]


def _scalar(text: str, name: str) -> Scalar:
    if text.isascii() and text.isprintable():  # most are plain, and parsing takes long
        if text.isdigit() and len(text) < 19 and (text[0] != "0" or text == "0"):
            return int(text)
        if len(text) > 1 and text[0] == text[-1] == '"' and not set('"\\') & set(text[1:-1]):
            return text[1:-1]
    found: Any
    try:
        found = json.loads(text) if text[:1] not in {"[", "{"} else None
    except ValueError:
        found = None
    sound = is_storable(found) and (not isinstance(found, str) or _is_unicode(found))
    require(sound, f"{name!r} with {text[:40]!r}, which is not text or a number")
    return found


def _is_unicode(text: str) -> bool:
    """Whether the text has no halves of characters, which JSON can spell but no file can store."""
    return not any(SURROGATES[0] <= ord(character) <= SURROGATES[1] for character in text)


# ---- class labels


def class_arrays(classes: NDArray[Any]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays of class labels, and a JSON object with their type."""
    dtype = classes.dtype
    swapped = not dtype.isnative
    native = classes.astype(dtype.newbyteorder("="))
    if dtype.kind == "U":
        width = dtype.itemsize // 4
        points = np.ascontiguousarray(native).view(np.uint32).reshape(len(classes), width)
        _characters(points)
        return {"classes": points}, {"kind": WIDE, "swapped": swapped}
    if dtype.kind == "O" and all(isinstance(label, str) for label in classes):
        return text_arrays("classes", classes.tolist()), {"kind": TEXTS, "swapped": False}
    if dtype.kind == "b":
        return {"classes": native.view(np.uint8)}, {"kind": FLAGS, "swapped": False}
    if dtype.kind == "M" and np.datetime_data(dtype)[0] in UNITS:
        return {"classes": native.view(np.int64)}, {
            "kind": DATES,
            "unit": list(np.datetime_data(dtype)),
            "swapped": swapped,
        }
    if native.dtype in NAMES:
        kind = {"kind": NUMBERS, "type": NAMES[native.dtype], "swapped": swapped}
        return {"classes": native}, kind
    raise ModelFileError(
        f"the classes are of type {dtype}, which a model file cannot store: convert the labels to "
        "text, integers or Booleans"
    )


def take_classes(reader: TensorReader, fields: Fields, n_classes: int) -> NDArray[Any]:
    """Read the class labels, and check that they are sorted and unique."""
    kind = fields.word("kind", (NUMBERS, FLAGS, TEXTS, WIDE, DATES))
    swapped = fields.any("swapped")
    require(isinstance(swapped, bool), "classes with an unknown byte order")
    classes = _take_labels(reader, fields, kind, n_classes)
    fields.end()
    rising = (classes[:-1] < classes[1:]).all()
    require(rising, "classes that are not sorted and unique")
    return classes.astype(classes.dtype.newbyteorder("S")) if swapped else classes


def _take_labels(reader: TensorReader, fields: Fields, kind: str, n: int) -> NDArray[Any]:
    if kind == TEXTS:
        return np.array(take_texts(reader, "classes", n), dtype=object)
    if kind == WIDE:
        points = reader.take("classes", np.uint32, n, None)
        require(points.shape[1] > 0, "classes without characters")
        _characters(points)
        return points.copy().view(f"U{points.shape[1]}").reshape(n)
    if kind == FLAGS:
        return reader.flags("classes", n).astype(np.bool_)
    if kind == DATES:
        days = reader.take("classes", np.int64, n)
        require((days != np.iinfo(np.int64).min).all(), "classes that are not dates")
        return days.astype(f"datetime64[{_unit(fields)}]")
    found = reader.take("classes", TYPES[fields.word("type", TYPES)], n)
    require(np.isfinite(found).all(), "classes that are not finite")
    return found.copy()


def _unit(fields: Fields) -> str:
    unit = fields.list("unit")
    sound = len(unit) == 2 and isinstance(unit[0], str) and unit[0] in UNITS
    sound = sound and type(unit[1]) is int and 0 < unit[1] < 10**6
    require(sound, "classes with an unknown unit of time")
    return f"{unit[1]}{unit[0]}"


def _characters(points: NDArray[np.uint32]) -> None:
    lone = (points >= SURROGATES[0]) & (points <= SURROGATES[1])
    require(not lone.any() and (points <= LAST_CHARACTER).all(), "classes with invalid characters")
