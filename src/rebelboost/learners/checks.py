"""Checks of learners' options."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def check_number(name: str, value: Any, least: int, most: int) -> None:
    """Refuse what is not a whole number in the range."""
    if not isinstance(value, int | np.integer) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}: give a whole number from {least} to {most}")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse what is not one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}: give {' or '.join(map(repr, choices))}")
