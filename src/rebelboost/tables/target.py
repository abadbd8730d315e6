"""The column to learn: which one it is, and the classes in it."""

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
"""What people call the column of classes."""
MOST_AMOUNTS = 30
"""Different numbers with fractions beyond which a column is amounts, and no classes."""


def find_target(table: Table, target: str | None) -> str:
    """The name of the column to learn; where it is not given or wrong, say which it may be."""
    if target in table.types:
        return target
    likely = next((n for n in table.names if n.lower() in USUAL), table.names[-1])
    if target is None:
        raise TableError(
            f"which column is to be learned? {table.path} has {listed(table.names, 12)}: "
            f"add --target {_quoted(likely)}, if that is the one"
        )
    raise TableError(f"{table.path} has no column {target!r}: {hint(target, table.names)}")


def hint(name: str, names: Sequence[str]) -> str:
    """The name that was meant, perhaps."""
    lower = {known.lower(): known for known in names}
    close = difflib.get_close_matches(name.lower(), list(lower), 1, cutoff=0.6)
    if close:
        return f"did you mean {lower[close[0]]!r}?"
    return f"it has {listed(names, 12)}"


def class_labels(text: pl.Series, path: Path) -> tuple[NDArray[Any], dict[str, int]]:
    """Labels of the rows that have one, as whole numbers if they all are; and rows of each class."""
    present = text.drop_nulls()
    name = text.name
    if len(text) == 0:
        raise TableError(f"{path} has names but no rows: there is nothing to learn from")
    if len(present) == 0:
        raise TableError(
            f"column {name!r} of {path} is empty in all {len(text):,} rows: "
            "give the classes that are to be learned, or another --target"
        )
    values = _whole_numbers(present)
    tally = (present if values is None else values).value_counts(sort=True)
    counts = {str(label): int(n) for label, n in sorted(tally.iter_rows())}
    _check_classes(name, present, counts)
    return (np.array(present.to_list()) if values is None else values.to_numpy()), counts


def _whole_numbers(present: pl.Series) -> pl.Series | None:
    """Labels such as 3 or 3.0 as numbers; None for names, and for codes such as 007."""
    if present.str.contains(r"^[-+]?0\d").any():
        return None
    numbers = present.str.replace(r"\.0*$", "").cast(pl.Int64, strict=False)
    return None if numbers.null_count() else numbers


def _check_classes(name: str, present: pl.Series, counts: dict[str, int]) -> None:
    n_rows, n_classes = len(present), len(counts)
    if n_classes == 1:
        raise TableError(
            f"column {name!r} holds one class only, {shown(next(iter(counts)))}, in all "
            f"{n_rows:,} labelled rows: two classes at least are needed to tell apart"
        )
    amounts = present.cast(pl.Float64, strict=False).null_count() == 0
    if amounts and (n_classes > max(MOST_AMOUNTS, n_rows / 10)):
        raise TableError(
            f"column {name!r} holds {n_classes:,} different numbers in {n_rows:,} rows, which are "
            "amounts rather than classes: cut them into ranges first, or use RebelRegressor in Python"
        )
    if n_rows > 4 and n_classes > n_rows / 2:
        raise TableError(
            f"column {name!r} holds {n_classes:,} different values in {n_rows:,} rows: classes "
            "need several rows each, so give another --target"
        )


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name
