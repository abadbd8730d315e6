"""Columns that predict the target alone: identifiers of groups of rows, and leaks of the target.

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
from rebelboost.tables.feature_selection import names_groups

FEWEST_GROUPS = 20
"""Minimum number of values of a column that identifies groups of rows."""
FEWEST_TOGETHER, LEAST_TOGETHER = 20, 0.5
"""Minimum number and share of the rows that share their value with another row, if the column's name does not
say that it identifies groups."""
GROUP_SKILL = 0.5
"""Minimum skill of a column that identifies groups; 0 is chance, 1 is no mistakes."""
LARGEST_GROUP, MOST_IN_GROUP = 0.1, 100
"""Maximum share of the rows in one group, and maximum mean number of rows of a group.

The names of 25 shops with a thousand rows each are categories: there will be no new ones.
"""
LEAST_ADJACENT = 0.5
"""Minimum share of the rows that follow or precede a row with the same number, if the column's name does
not say that it identifies groups."""
MOST_UNEVEN = 1.0
"""Maximum coefficient of variation of the sizes of groups. Some values of measurements are far more frequent
than others: 52 weeks is the end of the study, 0 minutes is no waiting."""
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


class GroupColumn(NamedTuple):
    """A column whose values identify groups of rows, such as the visits of a patient."""

    name: str
    n_groups: int
    accuracy: float
    """Balanced accuracy of predicting each row from the others with the same value."""
    decides: bool
    """Whether the groups nearly decide the target."""
    named: bool
    """Whether the column is named as identifiers are."""


def find_group(columns: Iterable[pl.Series], y: NDArray[Any]) -> GroupColumn | None:
    """Return the column of text or integers that identifies groups: by its name, or by deciding the target."""
    labels, n_classes = _codes(y)
    found = [group for column in columns if (group := _group(column, labels, n_classes))]
    return max(found, key=lambda group: (group.named, group.accuracy), default=None)


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
    labels, n_classes = _codes(y)
    if len(labels) < FEWEST_ROWS:
        return []
    found = [Leak(column.name, _accuracy(column, labels, n_classes)) for column in columns]
    found.sort(key=lambda leak: -leak.accuracy)
    leaks = [leak for leak in found if leak.accuracy >= LEAK_ACCURACY]
    if not leaks and found:
        first, *others = (_skill(leak.accuracy, n_classes) for leak in found)
        if first >= LEAK_SKILL and 1 - max(others, default=0.0) >= LEAK_LEAD * (1 - first):
            leaks = found[:1]
    log_chance = math.log(MOST_BY_CHANCE / len(found)) if found else 0.0
    return [leak for leak in leaks if _log_chance(labels, n_classes, leak.accuracy) <= log_chance]


def best_alone(
    columns: Iterable[pl.Series], y: NDArray[Any], groups: Ints | None = None
) -> list[Leak]:
    """Return the two columns that decide the most rows rightly, each alone, with their (plain) accuracy."""
    columns, y = _looked_at(columns, y, groups)
    labels, n_classes = _codes(y)
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
    counts = _counts(values.fill_null("\nmissing"), labels, len(weights))
    return np.zeros(len(weights)) if counts is None else _right_by_value(counts, weights)


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


def _group(values: pl.Series, labels: Labels, n_classes: int) -> GroupColumn | None:
    counts = _counts(values, labels, n_classes)
    if counts is None or len(counts) < FEWEST_GROUPS:
        return None
    sizes = counts.sum(axis=1)
    together = counts[sizes > 1]
    named = names_groups(values.name)
    if together.sum() < FEWEST_TOGETHER and not named:
        return None
    accuracy = _left_one_out(together)
    decides = together.sum() >= FEWEST_TOGETHER and _skill(accuracy, n_classes) >= GROUP_SKILL
    if sizes.max() > LARGEST_GROUP * sizes.sum() or sizes.mean() > MOST_IN_GROUP:
        return None
    if not named:
        if not decides or together.sum() < LEAST_TOGETHER * sizes.sum():
            return None
        if values.dtype.is_numeric() and _is_measured(values, counts):
            return None
    return GroupColumn(values.name, len(counts), accuracy, decides, named)


def _counts(values: pl.Series, labels: Labels, n_classes: int) -> Floats | None:
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


def _is_measured(values: pl.Series, counts: Floats) -> bool:
    """Whether numbers are measurements rather than numbers of patients or machines.

    Some measurements are far more frequent than others, equal ones are not adjacent in the file, or
    neighbouring ones have similar classes. Patients often have the same number of rows each.
    """
    sizes = counts.sum(axis=1)
    if len(np.unique(sizes)) == 1:
        return False
    if sizes.std() > MOST_UNEVEN * sizes.mean() or _adjacent(values) < LEAST_ADJACENT:
        return True
    beside = np.zeros_like(counts)
    beside[1:] += counts[:-1]
    beside[:-1] += counts[1:]
    of_class = np.maximum(counts.sum(axis=0), 1)
    decided = np.argmax(beside / of_class, axis=1)
    right = counts[np.arange(len(counts)), decided]
    shares = np.bincount(decided, right, counts.shape[1]) / of_class
    n_classes = counts.shape[1]
    return _skill(float(shares.mean()), n_classes) >= GROUP_SKILL / 2


def _adjacent(values: pl.Series) -> float:
    """Share of the rows that follow or precede a row with the same value."""
    same = (values == values.shift()).fill_null(value=False)
    before = same.shift(-1).fill_null(value=False)
    return float((same | before).mean() or 0.0)  # type: ignore[arg-type]


def _left_one_out(counts: Floats) -> float:
    """Balanced accuracy of predicting each row from the others with the same value."""
    of_class = counts.sum(axis=0)
    weights = 1 / np.maximum(of_class, 1)
    return float((_right_by_value(counts, weights) * weights)[of_class > 0].mean())


def _right_by_value(counts: Floats, weights: Floats) -> Floats:
    """(K,) rows of each class that are predicted rightly from the others with the same value."""
    right = np.zeros(len(weights))
    for k in np.flatnonzero(counts.sum(axis=0)):
        others = counts.copy()
        others[:, k] -= 1
        right[k] = (counts[:, k] * _credit(others * weights)[:, k]).sum()
    return right


def _skill(accuracy: float, n_classes: int) -> float:
    return (accuracy - 1 / n_classes) / (1 - 1 / n_classes)


def _codes(y: NDArray[Any]) -> tuple[Labels, int]:
    classes, labels = np.unique(y, return_inverse=True)
    return labels.astype(np.int32), len(classes)
