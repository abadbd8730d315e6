"""Which rows a project of limited size keeps: priority sampling [Duffield, Lund and Thorup 2007].

A row of worth w has the priority w/u, where u in (0, 1] is a hash of its number. The rows with the largest
priorities are kept, and count max(1, τ/w) rows each, where τ is the largest priority that was left out. Sums of
weights over any part of the rows are right on average: rows that teach much are kept more often, and no class
or region is made more frequent by it. With a half-life, the worth of older rows falls [Cormode et al. 2009].
"""

import hashlib
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample
from rebelboost.live.store import Row

LEAST_WORTH = 0.1
"""Worth of a row whose label was certain; one whose label was thought impossible has 1.1."""


class Kept(NamedTuple):
    """What is removed, and what the others stand for."""

    removed: list[int]
    """Numbers of rows."""
    threshold: float
    """τ: rows of less worth stand for others."""


def worth_of(probability: float) -> float:
    """Worth of a row whose label had this probability before it was known."""
    return LEAST_WORTH + 1.0 - probability


def thinned(rows: Sequence[Row], most: int, threshold: float, half_life: float | None) -> Kept:
    """Choose `most` labelled rows; `threshold` is that of the last time."""
    if len(rows) <= most:
        return Kept([], threshold)
    logs = priorities(rows, half_life)
    order = np.argsort(-logs, kind="stable")
    removed = [rows[i].id for i in order[most:].tolist()]
    largest = float(logs[order[most]])
    if half_life is not None:  # weights fall with age by themselves
        return Kept(removed, 0.0)
    return Kept(removed, max(threshold, math.exp(largest)))


def priorities(rows: Sequence[Row], half_life: float | None) -> BySample:
    """(N,) logarithms of the priorities; with a half-life, newer rows have larger ones."""
    found = np.array([math.log(max(row.worth, LEAST_WORTH) / lot(row.id)) for row in rows])
    if half_life is not None:
        newest = max(row.labelled or 0 for row in rows)
        age = np.array([newest - (row.labelled or 0) for row in rows], dtype=np.float64)
        found = found - age * math.log(2) / half_life
    return found


def lot(number: int) -> float:
    """A number in (0, 1] drawn by the number of a row."""
    digest = hashlib.blake2b(str(number).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") + 1) / 2.0**64
