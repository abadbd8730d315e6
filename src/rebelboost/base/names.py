"""Class names as people write them: 3 in one table, "3" or 3.0 in the next."""

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np


class ClassNames:
    """Find classes by name: as they are or, failing that, as they would be printed."""

    def __init__(self, classes: Iterable[Any]) -> None:
        self.classes = tuple(plain(name) for name in classes)
        self._exact = {name: code for code, name in enumerate(self.classes)}
        self._printed: dict[str, int | None] = {}
        for code, name in enumerate(self.classes):
            # Of 1 and "1" in one list, neither is found by print.
            self._printed[_key(name)] = None if _key(name) in self._printed else code

    def find(self, name: Any) -> int | None:
        """The code of the class called `name`."""
        if isinstance(name, Hashable) and name in self._exact:
            return self._exact[name]
        return self._printed.get(_key(name))

    def __len__(self) -> int:
        return len(self.classes)

    def __str__(self) -> str:
        return listed(self.classes)


def _key(name: Any) -> str:
    # Tables turn codes into 3.0, and that into text.
    return re.sub(r"^(-?\d+)\.0+$", r"\1", printed(name))


def plain(name: Any) -> Any:
    """NumPy's scalars as Python's."""
    return name.item() if isinstance(name, np.generic) else name


def printed(name: Any) -> str:
    """A name as text; whole numbers without a point."""
    name = plain(name)
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    return str(name)


def shown(name: Any) -> str:
    """A name as in a message: text in quotes."""
    return repr(plain(name))


def listed(names: Sequence[Any], most: int = 6) -> str:
    """Names in a message, not too many of them."""
    some = ", ".join(map(printed, names[:most]))
    return f"{some}, …" if len(names) > most else some
