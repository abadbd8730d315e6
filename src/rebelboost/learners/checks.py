"""Checks of learners' options."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def check_number(name: str, value: Any, least: int, most: int, word: str | None = None) -> None:
    """Refuse what is neither a whole number in the range nor the word."""
    if word is not None and value == word:
        return
    if not isinstance(value, int | np.integer) or not least <= value <= most:
        either = "" if word is None else f"{word!r} or "
        raise ValueError(f"{name} is {value!r}: give {either}a whole number from {least} to {most}")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse what is not one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}: give {' or '.join(map(repr, choices))}")
