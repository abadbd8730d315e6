"""Matching of class names across tables, where a class may be written as 3, "3" or 3.0."""

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np


class ClassNames:
    """Finds classes by name: exactly, or else by their printed form."""

    def __init__(self, classes: Iterable[Any]) -> None:
        self.classes = tuple(plain(name) for name in classes)
        self._exact = {name: code for code, name in enumerate(self.classes)}
        self._printed: dict[str, int | None] = {}
        for code, name in enumerate(self.classes):
            # If both 1 and "1" are classes, the printed form is ambiguous and finds neither.
            self._printed[_key(name)] = None if _key(name) in self._printed else code

    def find(self, name: Any) -> int | None:
        """Code of the class called `name`; None if there is none."""
        if isinstance(name, Hashable) and name in self._exact:
            return self._exact[name]
        return self._printed.get(_key(name))

    def __len__(self) -> int:
        return len(self.classes)

    def __str__(self) -> str:
        return listed(self.classes)


def _key(name: Any) -> str:
    # Tables may convert the code 3 to 3.0, and that to text.
    return re.sub(r"^(-?\d+)\.0+$", r"\1", printed(name))


def plain(name: Any) -> Any:
    """Convert a NumPy scalar to a Python object."""
    return name.item() if isinstance(name, np.generic) else name


def printed(name: Any) -> str:
    """A name as text; integral floats without a decimal point."""
    name = plain(name)
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    return str(name)


def shown(name: Any) -> str:
    """A name as in a message, with quotes around text."""
    return repr(plain(name))


def shown_cell(cell: Any, most: int = 60) -> str:
    """A cell of a table as in a message: in quotes, and not longer than `most` characters."""
    text = str(plain(cell))
    return repr(text if len(text) <= most else f"{text[: most - 1]}…")


def listed(names: Sequence[Any], most: int = 6) -> str:
    """Names for a message, at most `most` of them."""
    some = ", ".join(map(printed, names[:most]))
    return f"{some}, …" if len(names) > most else some
