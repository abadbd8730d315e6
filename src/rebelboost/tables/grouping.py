"""How rows are left out when a model is evaluated: one by one, in whole groups, or in the order of time.

A column that groups the rows is given by the user, or found by its name or because it decides the target.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints, Labels
from rebelboost.base.text import percent
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import NO_GROUP, Column, ColumnOptions, as_word
from rebelboost.tables.feature_selection import names_groups
from rebelboost.tables.leaks import class_codes, counts_by_value, right_by_value, skill_of

GROUPS_ROWS = (
    f"groups the rows, which are tested together (use --group {NO_GROUP} if they are independent)"
)

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
Mask = NDArray[np.bool_]
HELD_OUT = 0.2
"""Share of the rows that are held out to evaluate a model that was not cross-validated in training."""
FEWEST_TO_HOLD_OUT = 10
"""Tables with fewer rows are not evaluated."""


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


class SplitBy(NamedTuple):
    """How rows are left out: together if they have the same number in `groups`, or in order of `times`."""

    group: str = ""
    groups: Ints | None = None
    """(N,) number of each row's group."""
    time: str = ""
    times: NDArray[np.float64] | None = None
    """(N,) time of each row."""
    warnings: tuple[str, ...] = ()
    found: bool = False
    """Whether `group` was found, not given."""

    def ignored(self, options: ColumnOptions) -> dict[str, str]:
        """Columns that are no features, unless the user keeps them, with the reason."""
        grouped = GROUPS_ROWS if self.found else "groups the rows"
        reasons = {self.group: grouped, self.time: "orders the rows in time"}
        return {
            name: reason for name, reason in reasons.items() if name and name not in options.keep
        }


def find_split(
    path: Path,
    columns: Sequence[Column],
    frame: pl.DataFrame,
    aside: pl.DataFrame,
    y: NDArray[Any],
    options: ColumnOptions,
) -> SplitBy:
    """Read the columns of --group and --time; without them, look for a column that groups the rows."""
    if options.time:
        if options.group not in ("", NO_GROUP):
            raise TableError("--group and --time cannot be used together: give one of them")
        return SplitBy(time=options.time, times=_times(path, columns, frame, options.time))
    if options.group == NO_GROUP:
        return SplitBy()
    if options.group:
        return SplitBy(options.group, group_numbers(aside[options.group], path))
    names = [c.name for c in columns if c.kind in ("number", "category")]
    suspects = [frame[name] for name in names if name not in (*options.keep, *options.categorical)]
    found = find_group(suspects, y)
    if found is None:
        return SplitBy(warnings=_ignored_group(aside, y))
    warnings = (_warning(found),) if found.decides else ()
    return SplitBy(
        found.name, group_numbers(frame[found.name], path), warnings=warnings, found=True
    )


def _ignored_group(aside: pl.DataFrame, y: NDArray[Any]) -> tuple[str, ...]:
    """Warn of a column that the user ignores, but that is named as identifiers of groups are."""
    found = find_group((column for column in aside if names_groups(column.name)), y)
    if found is None:
        return ()
    name = found.name
    told = f"{name} is ignored, but several rows have the same value of it"
    remedy = f"use --group {as_word(name)} if the model is for new values of {name}"
    return (f"{told}: {remedy}, or its figures may be too good",)


def _warning(found: GroupColumn) -> str:
    return (
        f"{found.name} alone predicts {percent(found.accuracy)} of the rows from others with the same "
        f"value, so the model is tested on new values of {found.name}. Confirm with "
        f"--group {as_word(found.name)}, or use --group {NO_GROUP} if rows are independent"
    )


def group_numbers(values: pl.Series, path: Path) -> Ints:
    """(N,) number of each row's group; a row with an empty cell is a group of its own."""
    if values.drop_nulls().n_unique() < 2:
        raise TableError(
            f"--group: column {values.name!r} of {path} has fewer than two different values: "
            "name a column with several groups"
        )
    numbers = values.rank("dense").cast(pl.Int64).to_numpy(writable=True).astype(np.float64)
    empty = np.isnan(numbers)
    numbers[empty] = np.nanmax(numbers) + 1 + np.arange(empty.sum())
    return numbers.astype(np.int64)


def _times(
    path: Path, columns: Sequence[Column], frame: pl.DataFrame, name: str
) -> NDArray[np.float64]:
    kind = next((column.kind for column in columns if column.name == name), "category")
    if kind == "category":
        raise TableError(
            f"--time: column {name!r} of {path} holds neither dates nor numbers: name another column"
        )
    times = frame[name]
    if n := times.null_count():
        raise TableError(
            f"--time: column {name!r} of {path} is empty or unreadable in {n:,} row(s): "
            "fill in these cells, or remove the rows"
        )
    return times.cast(pl.Float64).to_numpy()


# ---- columns that group the rows


def find_group(columns: Iterable[pl.Series], y: NDArray[Any]) -> GroupColumn | None:
    """Return the column of text or integers that identifies groups: by its name, or by deciding the target."""
    labels, n_classes = class_codes(y)
    found = [group for column in columns if (group := _group(column, labels, n_classes))]
    return max(found, key=lambda group: (group.named, group.accuracy), default=None)


def _group(values: pl.Series, labels: Labels, n_classes: int) -> GroupColumn | None:
    counts = counts_by_value(values, labels, n_classes)
    if counts is None or len(counts) < FEWEST_GROUPS:
        return None
    sizes = counts.sum(axis=1)
    together = counts[sizes > 1]
    named = names_groups(values.name)
    if together.sum() < FEWEST_TOGETHER and not named:
        return None
    accuracy = _left_one_out(together)
    decides = together.sum() >= FEWEST_TOGETHER and skill_of(accuracy, n_classes) >= GROUP_SKILL
    if sizes.max() > LARGEST_GROUP * sizes.sum() or sizes.mean() > MOST_IN_GROUP:
        return None
    if not named:
        if not decides or together.sum() < LEAST_TOGETHER * sizes.sum():
            return None
        if values.dtype.is_numeric() and _is_measured(values, counts):
            return None
    return GroupColumn(values.name, len(counts), accuracy, decides, named)


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
    return skill_of(float(shares.mean()), n_classes) >= GROUP_SKILL / 2


def _adjacent(values: pl.Series) -> float:
    """Share of the rows that follow or precede a row with the same value."""
    same = (values == values.shift()).fill_null(value=False)
    before = same.shift(-1).fill_null(value=False)
    return float((same | before).mean() or 0.0)  # type: ignore[arg-type]


def _left_one_out(counts: Floats) -> float:
    """Balanced accuracy of predicting each row from the others with the same value."""
    of_class = counts.sum(axis=0)
    weights = 1 / np.maximum(of_class, 1)
    return float((right_by_value(counts, weights) * weights)[of_class > 0].mean())


# ---- rows that are held out


def held_out_rows(y: NDArray[Any], seed: int, split: SplitBy | None = None) -> Mask:
    """Select a fifth of the rows, as new ones will come; shape (N,)."""
    if len(y) < FEWEST_TO_HOLD_OUT:
        return np.zeros(len(y), dtype=bool)
    rng = np.random.default_rng(seed)
    if split is not None and split.times is not None:
        return np.asarray(split.times > np.quantile(split.times, 1 - HELD_OUT, method="lower"))
    if split is not None and split.groups is not None:
        names = rng.permutation(np.unique(split.groups))
        return np.isin(split.groups, names[: max(1, int(HELD_OUT * len(names)))])
    return _fifth_of_classes(y, rng)


def _fifth_of_classes(y: NDArray[Any], rng: np.random.Generator) -> Mask:
    """Select a random fifth of each class, but never all of its rows."""
    out = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        n = min(int(HELD_OUT * len(rows) + rng.uniform()), len(rows) - 1)
        out[rows[:n]] = True
    return out
