"""How rows are left out when a model is evaluated: one by one, in whole groups, or in the order of time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.arrays import Ints
from rebelboost.base.text import percent
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import NO_GROUP, Column, ColumnOptions, as_word
from rebelboost.tables.feature_selection import names_groups
from rebelboost.tables.leaks import GroupColumn, find_group

GROUPS_ROWS = (
    f"groups the rows, which are tested together (use --group {NO_GROUP} if they are independent)"
)

Mask = NDArray[np.bool_]
HELD_OUT = 0.2
"""Share of the rows that are held out to evaluate a model that was not cross-validated in training."""
FEWEST_TO_HOLD_OUT = 10
"""Tables with fewer rows are not evaluated."""


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
