"""Columns that predict the target alone: identifiers of groups of rows, and leaks of the target.

A column is judged by a rule of its own: each row is predicted from the other rows with the same value or,
for numbers, with the nearest values, as the class that is over-represented most among them.
"""

import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Labels

FEWEST_GROUPS = 20
"""Minimum number of values of a column that identifies groups of rows."""
FEWEST_TOGETHER, LEAST_TOGETHER = 20, 0.5
"""Minimum number and share of the rows that share their value with another row."""
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
MOST_BY_CHANCE = 0.01
"""Maximum number of columns without meaning that are expected to be as accurate as a leak."""
NEIGHBOURS = 2
"""Rows with numbers are predicted from this many rows with the next lower and higher ones."""
FEWEST_ROWS = 20
"""Minimum number of rows in which a leak is looked for."""
MOST_ROWS = 50_000
"""Larger tables are judged by their first rows."""
GROUP_NAME = re.compile(
    r"(.*[ _.-])?(patient|subject|participant|individual|person|customer|client|user|member|household|"
    r"family|animal|machine|device|sensor|id|uuid|guid|key|nr)([ _.-]?(id|nr|no|number|code|key|name))?",
    re.IGNORECASE,
)


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
    """Balanced accuracy."""


def find_leaks(columns: Iterable[pl.Series], y: NDArray[Any]) -> list[Leak]:
    """Return the columns that predict the target nearly alone, the most accurate first.

    Among many columns of few rows, some do so by chance; these are not returned.
    """
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
    if not values.dtype.is_numeric():
        counts = _counts(values.fill_null("\nmissing"), labels, n_classes)
        return 0.0 if counts is None else _left_one_out(counts)
    return _by_neighbours(values.head(MOST_ROWS), labels[:MOST_ROWS], n_classes)


def _by_neighbours(values: pl.Series, labels: Labels, n_classes: int) -> float:
    """Balanced accuracy of predicting each row from those with the nearest numbers."""
    # Shuffled first, because the order of the file among equal numbers may follow the classes.
    order = np.random.default_rng(0).permutation(len(labels))
    numbers = values.cast(pl.Float64).fill_null(float("inf")).to_numpy()[order]
    labels = labels[order][np.argsort(numbers, kind="stable")]
    own = np.eye(n_classes)[labels]
    near = np.zeros_like(own)
    for step in range(1, NEIGHBOURS + 1):
        near[step:] += own[:-step]
        near[:-step] += own[step:]
    of_class = own.sum(axis=0)
    credit = _credit(near / of_class)[np.arange(len(labels)), labels]
    return float((np.bincount(labels, credit, n_classes) / of_class).mean())


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
    if together.sum() < FEWEST_TOGETHER:
        return None
    accuracy = _left_one_out(together)
    decides = _skill(accuracy, n_classes) >= GROUP_SKILL
    named = GROUP_NAME.fullmatch(values.name) is not None
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
    present = of_class > 0
    right = np.zeros(counts.shape[1])
    for k in np.flatnonzero(present):
        others = counts.copy()
        others[:, k] -= 1
        credit = _credit(others / np.maximum(of_class, 1))[:, k]
        right[k] = (counts[:, k] * credit).sum() / of_class[k]
    return float(right[present].mean())


def _skill(accuracy: float, n_classes: int) -> float:
    return (accuracy - 1 / n_classes) / (1 - 1 / n_classes)


def _codes(y: NDArray[Any]) -> tuple[Labels, int]:
    classes, labels = np.unique(y, return_inverse=True)
    return labels.astype(np.int32), len(classes)
