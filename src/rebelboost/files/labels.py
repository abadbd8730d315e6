"""Class labels ↔ the arrays of a file: numbers, truth values and texts come back as they were."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Fields, Shelf, require
from rebelboost.exceptions import ModelFileError
from rebelboost.files.safetensors import NAMES, TYPES
from rebelboost.files.texts import take_texts, text_arrays

NUMBERS, FLAGS, TEXTS, WIDE, DATES = "numbers", "flags", "texts", "fixed_width_texts", "dates"
LAST_CHARACTER = 0x10FFFF
SURROGATES = 0xD800, 0xDFFF
UNITS = {"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"}


def class_arrays(classes: NDArray[Any]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays, and what kind of labels they are."""
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
        f"the classes are of type {dtype}, which a model file does not hold: turn the labels into "
        "text, whole numbers or truth values"
    )


def take_classes(shelf: Shelf, fields: Fields, n_classes: int) -> NDArray[Any]:
    """The labels, rising, each once."""
    kind = fields.word("kind", (NUMBERS, FLAGS, TEXTS, WIDE, DATES))
    swapped = fields.any("swapped")
    require(isinstance(swapped, bool), "classes of an unknown order of bytes")
    classes = _take(shelf, fields, kind, n_classes)
    fields.end()
    rising = (classes[:-1] < classes[1:]).all()
    require(rising, "classes that are not in order, each once")
    return classes.astype(classes.dtype.newbyteorder("S")) if swapped else classes


def _take(shelf: Shelf, fields: Fields, kind: str, n: int) -> NDArray[Any]:
    if kind == TEXTS:
        return np.array(take_texts(shelf, "classes", n), dtype=object)
    if kind == WIDE:
        points = shelf.take("classes", np.uint32, n, None)
        require(points.shape[1] > 0, "classes without letters")
        _characters(points)
        return points.copy().view(f"U{points.shape[1]}").reshape(n)
    if kind == FLAGS:
        return shelf.flags("classes", n).astype(np.bool_)
    if kind == DATES:
        days = shelf.take("classes", np.int64, n)
        require((days != np.iinfo(np.int64).min).all(), "classes that are no dates")
        return days.astype(f"datetime64[{_unit(fields)}]")
    found = shelf.take("classes", TYPES[fields.word("type", TYPES)], n)
    require(np.isfinite(found).all(), "classes that are not finite")
    return found.copy()


def _unit(fields: Fields) -> str:
    unit = fields.list("unit")
    sound = len(unit) == 2 and unit[0] in UNITS and type(unit[1]) is int and 0 < unit[1] < 10**6
    require(sound, "classes of an unknown unit of time")
    return f"{unit[1]}{unit[0]}"


def _characters(points: NDArray[np.uint32]) -> None:
    lone = (points >= SURROGATES[0]) & (points <= SURROGATES[1])
    require(not lone.any() and (points <= LAST_CHARACTER).all(), "classes of no known letters")
