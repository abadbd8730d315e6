"""Rows that are held out of training, for early stopping."""

import math
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.random_keys import key_of
from rebelboost.distributed.reading import HoldOut
from rebelboost.rows.base import Rows


class SpreadInput(NamedTuple):
    """How the parts were given."""

    weighted: bool
    """Whether samples have weights."""
    by_sample: bool
    """Whether they have costs of their own."""
    validation: tuple[Any, Any] | None = None
    deadline: float = math.inf
    """Time on the clock of `time.monotonic` at which training ends."""


def hold_rows_out(rows: Rows, fraction: float, seed: int, n_classes: int) -> bool:
    """Hold out rows by their values; return whether there are any."""
    number = key_of(seed, 1)
    spared: tuple[int, ...] = ()
    for _ in range(2):
        kept, n_held = rows.ask(HoldOut(fraction, number, spared, n_classes))
        spared = tuple(np.flatnonzero(kept == 0).tolist())
        if not spared:
            break
    return bool(n_held)
