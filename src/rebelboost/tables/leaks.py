"""Columns that predict the target alone: identifiers of groups of rows, and leaks of the target.

A column is judged by a rule of its own: each row is predicted from the other rows with the same value or,
for numbers, with the nearest values, as the class that is over-represented most among them.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Labels

FEWEST_GROUPS = 20
"""Minimum number of values of a column that identifies groups of rows."""
FEWEST_TOGETHER = 20
"""Minimum number of rows that share their value with another row."""
GROUP_SKILL = 0.5
"""Minimum skill of a column that identifies groups; 0 is chance, 1 is no mistakes."""
LEAK_ACCURACY = 0.98
"""Minimum balanced accuracy of a column that may be a leak."""
NEIGHBOURS = 2
"""Rows with numbers are predicted from this many rows with the next lower and higher ones."""
FEWEST_ROWS = 20
"""Minimum number of rows in which a leak is looked for."""
MOST_ROWS = 50_000
"""Larger tables are judged by their first rows."""
GROUP_NAME = re.compile(
    r"(.*[ _.-])?(patient|subject|participant|person|customer|client|user|member|household|family|"
    r"animal|machine|device|sensor|id|uuid|guid|key)([ _.-]?(id|nr|no|number|code|key|name))?",
    re.IGNORECASE,
)


class GroupColumn(NamedTuple):
    """A column whose values identify groups of rows, such as the visits of a patient."""

    name: str
    n_groups: int
    accuracy: float
    """Balanced accuracy of predicting each row from the others with the same value."""


def find_group(columns: Iterable[pl.Series], y: NDArray[Any]) -> GroupColumn | None:
    """Return the column of text or integers that identifies groups which nearly decide the target."""
    labels, n_classes = _codes(y)
    found = [group for column in columns if (group := _group(column, labels, n_classes))]
    return max(found, key=lambda group: group.accuracy, default=None)


class Leak(NamedTuple):
    """A column that predicts the target nearly alone."""

    name: str
    accuracy: float
    """Balanced accuracy."""


def find_leaks(columns: Iterable[pl.Series], y: NDArray[Any]) -> list[Leak]:
    """Return the columns that predict the target nearly alone, the most accurate first."""
    labels, n_classes = _codes(y)
    if len(labels) < FEWEST_ROWS:
        return []
    found = [Leak(column.name, _accuracy(column, labels, n_classes)) for column in columns]
    return sorted((f for f in found if f.accuracy >= LEAK_ACCURACY), key=lambda f: -f.accuracy)


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
    if counts[sizes > 1].sum() < FEWEST_TOGETHER:
        return None
    accuracy = _left_one_out(counts[sizes > 1])
    skill = _skill(accuracy, n_classes)
    if skill < GROUP_SKILL or (values.dtype.is_numeric() and _is_measured(values.name, counts)):
        return None
    return GroupColumn(values.name, len(counts), accuracy)


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


def _is_measured(name: str, counts: Floats) -> bool:
    """Whether neighbouring numbers have similar classes, as those of measurements do.

    Numbers of patients may have them too, if the table is sorted by class. They are recognised by their
    name, or by the same number of rows for each.
    """
    if GROUP_NAME.fullmatch(name) or len(np.unique(counts.sum(axis=1))) == 1:
        return False
    beside = np.zeros_like(counts)
    beside[1:] += counts[:-1]
    beside[:-1] += counts[1:]
    of_class = np.maximum(counts.sum(axis=0), 1)
    decided = np.argmax(beside / of_class, axis=1)
    right = counts[np.arange(len(counts)), decided]
    shares = np.bincount(decided, right, counts.shape[1]) / of_class
    n_classes = counts.shape[1]
    return _skill(float(shares.mean()), n_classes) >= GROUP_SKILL / 2


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
