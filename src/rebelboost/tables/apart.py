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
from rebelboost.tables.columns import Column
from rebelboost.tables.identifiers import names_groups
from rebelboost.tables.leaks import GroupColumn, find_group
from rebelboost.tables.options import NO_GROUP, ColumnOptions, as_word

GROUPS_ROWS = (
    f"groups the rows, which are tested together (use --group {NO_GROUP} if they are independent)"
)


class LeaveOut(NamedTuple):
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


def tell_apart(
    path: Path,
    columns: Sequence[Column],
    frame: pl.DataFrame,
    aside: pl.DataFrame,
    y: NDArray[Any],
    options: ColumnOptions,
) -> LeaveOut:
    """Read the columns of --group and --time; without them, look for a column that groups the rows."""
    if options.time:
        if options.group not in ("", NO_GROUP):
            raise TableError("--group and --time cannot be used together: give one of them")
        return LeaveOut(time=options.time, times=_times(path, columns, frame, options.time))
    if options.group == NO_GROUP:
        return LeaveOut()
    if options.group:
        return LeaveOut(options.group, group_numbers(aside[options.group], path))
    names = [c.name for c in columns if c.kind in ("number", "category")]
    suspects = [frame[name] for name in names if name not in (*options.keep, *options.categorical)]
    found = find_group(suspects, y)
    if found is None:
        return LeaveOut(warnings=_ignored_group(aside, y))
    warnings = (_warning(found),) if found.decides else ()
    return LeaveOut(
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
