"""Find the target column and read its classes."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.names import listed, shown
from rebelboost.exceptions import TableError
from rebelboost.tables.files import Table

USUAL = ("class", "label", "labels", "target", "y", "outcome", "species", "diagnosis")
"""Common names of target columns."""
MOST_AMOUNTS = 30
"""A column of numbers with more distinct values than this, and than a tenth of the rows, is no class."""


def find_target(table: Table, target: str | None) -> str:
    """Return the name of the target column; if it is missing or wrong, raise an error with a guess."""
    if target in table.types:
        return target
    likely = next((n for n in table.names if n.lower() in USUAL), table.names[-1])
    if target is None:
        raise TableError(
            f"no target given: {table.path} has the columns {listed(table.names, 12)}; "
            f"add --target with the column to predict, for example --target {_quoted(likely)}"
        )
    raise TableError(f"{table.path} has no column {target!r}: {hint(target, table.names)}")


def hint(name: str, names: Sequence[str]) -> str:
    """Suggest a similar name, or list all names."""
    lower = {known.lower(): known for known in names}
    close = difflib.get_close_matches(name.lower(), list(lower), 1, cutoff=0.6)
    if close:
        return f"did you mean {lower[close[0]]!r}?"
    return f"it has {listed(names, 12)}"


def class_labels(text: pl.Series, path: Path) -> tuple[NDArray[Any], dict[str, int]]:
    """Return the labels that are present, as integers if all are, and the rows of each class."""
    present = text.drop_nulls()
    name = text.name
    if len(text) == 0:
        raise TableError(f"{path} has a header but no rows: add the rows to train on")
    if len(present) == 0:
        raise TableError(
            f"column {name!r} of {path} is empty in all {len(text):,} rows: "
            "fill in the classes, or choose another --target"
        )
    values = _whole_numbers(present)
    tally = (present if values is None else values).value_counts(sort=True)
    counts = {str(label): int(n) for label, n in sorted(tally.iter_rows())}
    _check_classes(name, present, counts)
    return (np.array(present.to_list()) if values is None else values.to_numpy()), counts


def _whole_numbers(present: pl.Series) -> pl.Series | None:
    """Convert labels such as 3 or 3.0 to integers; None for text and for codes such as 007."""
    if present.str.contains(r"^[-+]?0\d").any():
        return None
    numbers = present.str.replace(r"\.0*$", "").cast(pl.Int64, strict=False)
    return None if numbers.null_count() else numbers


def _check_classes(name: str, present: pl.Series, counts: dict[str, int]) -> None:
    n_rows, n_classes = len(present), len(counts)
    if n_classes == 1:
        raise TableError(
            f"column {name!r} has only one class, {shown(next(iter(counts)))}, in all "
            f"{n_rows:,} labelled rows: training needs at least two classes"
        )
    amounts = present.cast(pl.Float64, strict=False).null_count() == 0
    if amounts and (n_classes > max(MOST_AMOUNTS, n_rows / 10)):
        raise TableError(
            f"column {name!r} has {n_classes:,} different numbers in {n_rows:,} rows, which look like "
            "amounts, not classes: divide them into ranges, or use RebelRegressor in Python"
        )
    if n_rows > 4 and n_classes > n_rows / 2:
        raise TableError(
            f"column {name!r} has {n_classes:,} different values in {n_rows:,} rows: each class "
            "needs several rows; choose another --target"
        )


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name
