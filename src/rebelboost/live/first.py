"""Before there is a model: the few rows with a label, and how near others are to them.

Cells that are numbers count in standard deviations, and others by whether they are equal.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from rebelboost.base.arrays import Floats, Ints
from rebelboost.data.spaces import distances_between

FEWEST = 12
"""Fewest labels for an exact model. Below, the nearest labelled rows err less (`benchmarks/live_few.py`)."""
WIDTH = 0.5
"""Width of the kernel, as a multiple of the median distance to the nearest other row."""
FLOOR = 0.05
"""What all rows together count at least, beside the nearest one: far from all, their frequencies decide."""


class FirstRows:
    """Rows with a label, as points."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._columns: list[tuple[str, float, float, tuple[str, ...]]] = []
        for column in frame.iter_columns():
            numbers = _numbers(column)
            if numbers is not None:
                spread = float(np.nanstd(numbers))
                if spread > 0:
                    self._columns.append((column.name, float(np.nanmean(numbers)), spread, ()))
            elif column.n_unique() > 1:
                levels = tuple(sorted(column.drop_nulls().unique().to_list()))
                self._columns.append((column.name, 0.0, 1.0, levels))
        self.points = self.place(frame)
        apart = distances_between(self.points, self.points)
        np.fill_diagonal(apart, np.inf)
        nearest = apart.min(axis=1) if len(apart) > 1 else np.zeros(0)
        usual = nearest[np.isfinite(nearest) & (nearest > 0)]
        self._width = WIDTH * float(np.median(usual)) if len(usual) else 1.0

    def place(self, frame: pl.DataFrame) -> Floats:
        """(N, D) points of rows of text."""
        found = [np.zeros((len(frame), 1))]
        for name, mean, spread, levels in self._columns:
            if levels:
                # Two categories that differ are as far apart as two typical numbers.
                cells = frame[name].to_list()
                found += [np.array([[cell == level for level in levels] for cell in cells]) * 1.0]
                continue
            numbers = frame[name].cast(pl.Float64, strict=False).to_numpy()
            values = np.where(np.isnan(numbers), mean, numbers)
            found.append(((values - mean) / spread)[:, np.newaxis])
        return np.hstack([each.reshape(len(frame), -1) for each in found])

    def shares(self, frame: pl.DataFrame) -> Floats:
        """(N, m) what each labelled row says in the answer for a row; sums of 1."""
        apart = distances_between(self.place(frame), self.points)
        kernel = np.exp((apart.min(axis=1, keepdims=True) - apart) / self._width) + FLOOR / len(
            self.points
        )
        found: Floats = kernel / kernel.sum(axis=1, keepdims=True)
        return found


def _numbers(column: pl.Series) -> Floats | None:
    """Cells as numbers, NaN where missing; None if some are none."""
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() > column.null_count() or numbers.null_count() == len(numbers):
        return None
    found: Floats = numbers.fill_null(np.nan).to_numpy().astype(np.float64)
    return found


def spread_out(points: Floats, known: Floats, n: int) -> Ints:
    """(n,) rows that are far from known ones and from one another: each is the farthest from all before."""
    if not len(points):
        return np.zeros(0, dtype=np.int64)
    if len(known):
        found: list[int] = []
        nearest = distances_between(points, known).min(axis=1)
    else:  # the first is the most typical
        found = [int(np.argmin(((points - points.mean(axis=0)) ** 2).sum(axis=1)))]
        nearest = distances_between(points, points[found]).min(axis=1)
    while len(found) < min(n, len(points)):
        nearest[found] = -1.0
        found.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, distances_between(points, points[found[-1:]])[:, 0])
    return np.array(found[:n], dtype=np.int64)


def question_places(frame: pl.DataFrame, n_known: int, n: int) -> Sequence[int]:
    """Rows to ask for first, given the cells of `n_known` labelled rows and, after them, of the others."""
    points = FirstRows(frame).points
    found: list[int] = spread_out(points[n_known:], points[:n_known], n).tolist()
    return found
