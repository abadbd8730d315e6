"""Constants as they stand in C."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH = 100
TYPES = {
    "l": "int64_t",
    "i": "int32_t",
    "I": "uint32_t",
    "h": "int16_t",
    "H": "uint16_t",
    "B": "uint8_t",
    "f": "float",
    "d": "double",
}
"""C's names of NumPy's types."""


def array(name: str, values: NDArray[Any]) -> str:
    """A constant array; an empty one gets an element, since C has no arrays of none."""
    values = np.ravel(values)
    kind = values.dtype.char
    flat = ["0"] if len(values) == 0 else texts(values)
    return f"static const {TYPES[kind]} {name}[{len(flat)}] = {{\n{wrapped(flat)}}};\n"


def texts(values: NDArray[Any]) -> list[str]:
    """Numbers as they stand in C."""
    if values.dtype.char == "f":
        return [f"{x}f" for x in values.astype(str).tolist()]
    if values.dtype.char == "I":
        return [f"{x}u" for x in values.tolist()]
    return list(map(number, values.tolist()))


def number(x: float) -> str:
    """A number as it stands in C, with all its bits."""
    if math.isinf(x):
        return "(double)INFINITY" if x > 0 else "-(double)INFINITY"
    return repr(x)


def wrapped(items: Iterable[str]) -> str:
    """Items with commas, in lines."""
    lines, line = [], ""
    for item in items:
        if len(line) + len(item) >= WIDTH:
            lines.append(line)
            line = ""
        line += f"{item},"
    return "\n".join([*lines, line])


def constant(name: str, value: float) -> str:
    """A constant of type double."""
    return f"static const double {name} = {number(value)};"


def enum(values: dict[str, int]) -> str:
    """Integer constants."""
    return f"enum {{ {', '.join(f'{name} = {value}' for name, value in values.items())} }};\n"


def string(text: str) -> str:
    """A string literal in UTF-8: everything but letters, digits and spaces is escaped."""
    plain = "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or byte in b" _-." else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogatepass")
    )
    return f'"{plain}"'


def strings(name: str, given: Iterable[str]) -> str:
    """A public array of strings."""
    return f"const char* const {name}[] = {{\n{wrapped(map(string, given))}}};\n"
