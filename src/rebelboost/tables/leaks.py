"""Columns that predict the target alone, and so may be leaks of it.

A column is judged by a rule of its own: each row is predicted from the other rows with the same value or,
for numbers, with the nearest values, as the class that is over-represented most among them.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints, Labels

LEAK_ACCURACY = 0.98
"""Minimum balanced accuracy of a column that may be a leak, whatever the others do."""
LEAK_SKILL, LEAK_LEAD = 0.8, 4.0
"""A column with this skill may be a leak too, if the next best one is so many times further from 1."""
ALONE, FAR = 1.1, 2.0
"""A column may be a leak if it makes at most so many times the mistakes of the model, and the next best column,
or a constant decision, so many times its mistakes or more."""
MOST_BY_CHANCE = 0.01
"""Maximum number of columns without meaning that are expected to be as accurate as a leak."""
NEIGHBOURS, MORE_NEIGHBOURS = 2, 10
"""Rows with numbers are predicted from this many rows with the next lower and higher ones; the second where a
column is compared with a model."""
FEWEST_ROWS = 20
"""Minimum number of rows in which a leak is looked for."""
MOST_ROWS = 50_000
"""Larger tables are judged by their first rows."""


class Leak(NamedTuple):
    """A column that predicts the target nearly alone."""

    name: str
    accuracy: float


def find_leaks(
    columns: Iterable[pl.Series], y: NDArray[Any], groups: Ints | None = None
) -> list[Leak]:
    """Return the columns that predict the target nearly alone, the most accurate first.

    Among many columns of few rows, some do so by chance; these are not returned. `groups` are the numbers of
    the groups that rows belong to: the age of a patient does not predict the outcome of other patients.
    """
    columns, y = _looked_at(columns, y, groups)
    labels, n_classes = class_codes(y)
    if len(labels) < FEWEST_ROWS:
        return []
    found = [Leak(column.name, _accuracy(column, labels, n_classes)) for column in columns]
    found.sort(key=lambda leak: -leak.accuracy)
    leaks = [leak for leak in found if leak.accuracy >= LEAK_ACCURACY]
    if not leaks and found:
        first, *others = (skill_of(leak.accuracy, n_classes) for leak in found)
        if first >= LEAK_SKILL and 1 - max(others, default=0.0) >= LEAK_LEAD * (1 - first):
            leaks = found[:1]
    log_chance = math.log(MOST_BY_CHANCE / len(found)) if found else 0.0
    return [leak for leak in leaks if _log_chance(labels, n_classes, leak.accuracy) <= log_chance]


def best_alone(
    columns: Iterable[pl.Series], y: NDArray[Any], groups: Ints | None = None
) -> list[Leak]:
    """Return the two columns that decide the most rows rightly, each alone, with their (plain) accuracy."""
    columns, y = _looked_at(columns, y, groups)
    labels, n_classes = class_codes(y)
    alike = np.ones(n_classes)
    found = [
        Leak(c.name, _right(c, labels, alike, MORE_NEIGHBOURS).sum() / len(labels)) for c in columns
    ]
    return sorted(found, key=lambda leak: -leak.accuracy)[:2]


def decides_alone(best: Sequence[Leak], accuracy: float, constant: float) -> Leak | None:
    """Return the first of two columns if it decides as many rows alone as a model does with all columns.

    `accuracy` and `constant` are those of the model, and of always deciding the same.
    """
    if len(best) < 2:
        return None
    error, others = 1 - best[0].accuracy, 1 - best[1].accuracy
    if error > ALONE * (1 - accuracy) or max(error, 1e-9) * FAR > min(others, 1 - constant):
        return None
    return best[0]


def _looked_at(
    columns: Iterable[pl.Series], y: NDArray[Any], groups: Ints | None
) -> tuple[Iterable[pl.Series], NDArray[Any]]:
    """One row of each group, and at most `MOST_ROWS` at random: the first rows may be of one class."""
    rows = np.arange(len(y)) if groups is None else one_of_each(groups)
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:MOST_ROWS])
    if len(rows) == len(y):
        return columns, y
    return (column.gather(rows) for column in columns), y[rows]


def one_of_each(groups: Ints) -> Ints:
    """Numbers of a random row of each group, in ascending order; shape (groups,)."""
    order = np.random.default_rng(0).permutation(len(groups))
    _, first = np.unique(groups[order], return_index=True)
    rows: Ints = np.sort(order[first])
    return rows


def _log_chance(labels: Labels, n_classes: int, accuracy: float) -> float:
    """Logarithm of the probability that a random order of the rows divides the classes so well.

    Of the N!/ΠN_k! orders of the labels, K! have no mistakes, and each of m mistakes can be any row.
    """
    sizes, n = np.bincount(labels, minlength=n_classes), len(labels)
    log_orders = math.lgamma(n + 1) - sum(math.lgamma(size + 1) for size in sizes)
    m = round((1 - accuracy) * n)
    log_places = math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)
    return math.lgamma(n_classes + 1) + log_places - log_orders


def _accuracy(values: pl.Series, labels: Labels, n_classes: int) -> float:
    """Balanced accuracy."""
    values, labels = values.head(MOST_ROWS), labels[:MOST_ROWS]
    of_class = np.bincount(labels, minlength=n_classes)
    weights = 1 / np.maximum(of_class, 1)
    right = _right(values, labels, weights, NEIGHBOURS)
    return float((right * weights)[of_class > 0].mean())


def _right(values: pl.Series, labels: Labels, weights: Floats, reach: int) -> Floats:
    """(K,) rows of each class that are predicted rightly; `weights`, (K,), are those of rows of each class."""
    if values.dtype.is_numeric():
        return _right_by_neighbours(values, labels, weights, reach)
    counts = counts_by_value(values.fill_null("\nmissing"), labels, len(weights))
    return np.zeros(len(weights)) if counts is None else right_by_value(counts, weights)


def _right_by_neighbours(values: pl.Series, labels: Labels, weights: Floats, reach: int) -> Floats:
    """(K,) rows that are predicted rightly from those with the nearest numbers, `reach` on each side."""
    # Shuffled first, because the order of the file among equal numbers may follow the classes.
    order = np.random.default_rng(0).permutation(len(labels))
    numbers = values.cast(pl.Float64).fill_null(float("inf")).to_numpy()[order]
    labels = labels[order][np.argsort(numbers, kind="stable")]
    own = np.eye(len(weights))[labels]
    near = np.zeros_like(own)
    for step in range(1, reach + 1):
        near[step:] += own[:-step]
        near[:-step] += own[step:]
    credit = _credit(near * weights)[np.arange(len(labels)), labels]
    return np.asarray(np.bincount(labels, credit, len(weights)), dtype=np.float64)


def _credit(rates: Floats) -> Floats:
    """1 for the class with the highest rate; a tie, also of no other rows at all, is right by chance."""
    tied = rates == rates.max(axis=1, keepdims=True)
    return tied / tied.sum(axis=1, keepdims=True)


def counts_by_value(values: pl.Series, labels: Labels, n_classes: int) -> Floats | None:
    """(values, K) rows of each value and class, in the order of the values; None for other types."""
    values, labels = values.head(MOST_ROWS), labels[:MOST_ROWS]
    there = values.is_not_null().to_numpy()
    present = values.drop_nulls()
    if present.dtype.is_float() and not (present == present.floor()).all():
        return None
    n_distinct = present.n_unique()
    if n_distinct == len(present):
        return None
    ranks = present.rank("dense").to_numpy().astype(np.int64) - 1
    cells = np.bincount(ranks * n_classes + labels[there], minlength=n_distinct * n_classes)
    return cells.reshape(-1, n_classes).astype(np.float64)


def right_by_value(counts: Floats, weights: Floats) -> Floats:
    """(K,) rows of each class that are predicted rightly from the others with the same value."""
    right = np.zeros(len(weights))
    for k in np.flatnonzero(counts.sum(axis=0)):
        others = counts.copy()
        others[:, k] -= 1
        right[k] = (counts[:, k] * _credit(others * weights)[:, k]).sum()
    return right


def skill_of(accuracy: float, n_classes: int) -> float:
    """0 for an accuracy by chance, 1 for no mistakes."""
    return (accuracy - 1 / n_classes) / (1 - 1 / n_classes)


def class_codes(y: NDArray[Any]) -> tuple[Labels, int]:
    """(N,) codes of the classes, and their number."""
    classes, labels = np.unique(y, return_inverse=True)
    return labels.astype(np.int32), len(classes)
