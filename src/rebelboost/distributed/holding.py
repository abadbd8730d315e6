"""Rows that are held out of training, for early stopping."""

import math
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.random_keys import key_of
from rebelboost.distributed.rows import HoldOut
from rebelboost.distributed.seam import SpreadRows


class SpreadInput(NamedTuple):
    """How the parts were given."""

    weighted: bool
    """Whether samples have weights."""
    by_sample: bool
    """Whether they have costs of their own."""
    validation: tuple[Any, Any] | None = None
    deadline: float = math.inf
    """Time on the clock of `time.monotonic` at which training ends."""


class HeldSize(NamedTuple):
    """Number and weight of the rows that are held out."""

    n_rows: int
    weight: float


def hold_rows_out(
    spread: SpreadRows, fraction: float, seed: int, n_classes: int, unit: float
) -> HeldSize | None:
    """Hold out rows by their values; None if there are none."""
    number = key_of(seed, 1)
    spared: tuple[int, ...] = ()
    for _ in range(2):
        kept, n_held, weight = spread.ask(HoldOut(fraction, number, spared, n_classes, unit))
        spared = tuple(np.flatnonzero(kept == 0).tolist())
        if not spared:
            break
    return HeldSize(int(n_held), float(weight * unit)) if n_held else None
