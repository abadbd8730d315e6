"""Find the target column and read its classes or numbers."""

import difflib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.names import listed, shown
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import CLASSES, NUMBERS, Column, ColumnOptions, as_text, as_word
from rebelboost.tables.files import Table
from rebelboost.tables.type_detection import detect_types

USUAL = ("class", "label", "labels", "target", "y", "outcome", "species", "diagnosis")
"""Common names of target columns."""
MOST_CODES, MOST_FRACTIONS = 30, 10
"""Numbers with more different values than this are amounts, not classes; the second if some have decimals."""


def find_target(table: Table, target: str | None) -> str:
    """Return the name of the target column; if it is missing or wrong, raise an error with a guess."""
    if target in table.types:
        _check_type(table, target)
        return target
    likely = next((n for n in table.names if n.lower() in USUAL), table.names[-1])
    if target is None:
        raise TableError(
            f"no target given: {table.path} has the columns {listed(table.names, 12)}; "
            f"add --target with the column to predict, for example --target {as_word(likely)}"
        )
    raise TableError(f"{table.path} has no column {target!r}: {suggestion(target, table.names)}")


def _check_type(table: Table, target: str) -> None:
    """Raise an error for a type that has no classes: lists, structs, bytes, durations."""
    dtype = table.types[target]
    if dtype.is_nested() or dtype in (pl.Binary, pl.Duration, pl.Object):
        raise TableError(
            f"column {target!r} of {table.path} is of type {dtype}, which cannot be predicted: convert it "
            "to text or numbers, or choose another --target"
        )


def suggestion(name: str, names: Sequence[str]) -> str:
    """Suggest a similar name, or list all names."""
    lower = {known.lower(): known for known in names}
    close = difflib.get_close_matches(name.lower(), list(lower), 1, cutoff=0.6)
    if close:
        return f"did you mean {lower[close[0]]!r}?"
    return f"it has {listed(names, 12)}"


class Target(NamedTuple):
    """The column to predict, read: classes or numbers."""

    name: str
    y: NDArray[Any]
    """(N,) classes or numbers of the rows that have one."""
    labelled: pl.Series
    """Whether each row of the file has one."""
    counts: dict[str, int]
    """Class → number of rows; empty for numbers."""
    column: Column | None = None
    """How the numbers are read; None if cells are classes as they are written."""
    cut: float | None = None
    """Number that divides the cells into two classes."""

    @property
    def classes(self) -> NDArray[Any]:
        """(N,) classes by which columns are examined; quarters of the range, for numbers."""
        if self.counts:
            return self.y
        limits = np.quantile(self.y, [0.25, 0.5, 0.75])
        return np.searchsorted(np.unique(limits), self.y, side="left")


def read_target(table: Table, name: str, options: ColumnOptions) -> Target:
    """Read the target as classes or, if they are amounts, as numbers."""
    _check_task(options)
    text = table.frame.select(as_text(name, table.types[name]).alias(name))
    labels = text.collect(engine="streaming").to_series()
    _check_present(labels, table.path)
    column = _number_column(table, name, options)
    if column is None:
        y, counts = class_labels(labels, sure=options.task == CLASSES)
        return Target(name, y, labels.is_not_null(), counts)
    values = target_values(labels, column, options.cut_at)
    labelled = values.is_not_null()
    if options.cut_at is None:
        return Target(name, values.drop_nulls().to_numpy(), labelled, {}, column)
    y, counts = class_labels(values)
    return Target(name, y, labelled, counts, column, options.cut_at)


def target_values(text: pl.Series, column: Column | None, cut: float | None) -> pl.Series:
    """Convert the cells of a target, which are text, to its numbers or to the two classes of `cut`."""
    if column is None:
        return text
    read = replace(column, name=text.name, source="").read(pl.String())
    values = text.to_frame().select(read).to_series()
    if cut is None:
        return values
    below, above = f"< {cut:.15g}", f"≥ {cut:.15g}"
    is_below = pl.col(text.name) < cut  # null where there is no number
    divided = pl.when(is_below).then(pl.lit(below)).when(~is_below).then(pl.lit(above))
    return values.to_frame().select(divided.alias(text.name)).to_series()


def _check_task(options: ColumnOptions) -> None:
    if options.task not in ("", CLASSES, NUMBERS):
        raise TableError(f"--task is {options.task!r}: use {CLASSES} or {NUMBERS}")
    if options.cut_at is not None and options.task:
        raise TableError("--cut-at makes two classes of numbers: leave --task out")


def _check_present(text: pl.Series, path: Path) -> None:
    if len(text) == 0:
        raise TableError(f"{path} has a header but no rows: add the rows to train on")
    if text.null_count() == len(text):
        raise TableError(
            f"column {text.name!r} of {path} is empty in all {len(text):,} rows: "
            "fill in the classes, or choose another --target"
        )


def _number_column(table: Table, name: str, options: ColumnOptions) -> Column | None:
    """Return how the target's numbers are read, if it is to be predicted as numbers or to be cut."""
    if options.task == CLASSES:
        return None
    column = detect_types(table, [name], ColumnOptions(decimal=options.decimal)).columns[0]
    forced = options.task == NUMBERS or options.cut_at is not None
    if column.kind != "number" or column.part:
        if forced:
            asked = f"--task {NUMBERS}" if options.cut_at is None else "--cut-at"
            raise TableError(
                f"{asked}: column {name!r} of {table.path} does not consist of numbers"
            )
        return None
    values = table.frame.select(column.read(table.types[name])).collect(engine="streaming")
    table.check_finite(values.to_series())
    numbers = values.to_series().drop_nulls()
    if options.cut_at is not None:
        _check_cut(numbers, options.cut_at)
    return column if forced or _are_amounts(numbers) else None


def _are_amounts(numbers: pl.Series) -> bool:
    """Whether numbers are amounts rather than codes of classes."""
    n_different = numbers.n_unique()
    if n_different > MOST_CODES:
        return True
    return n_different > MOST_FRACTIONS and not (numbers == numbers.floor()).all()


def _check_cut(numbers: pl.Series, cut: float) -> None:
    if not (numbers < cut).any() or not (numbers >= cut).any():
        least, most = (f"{each:.10g}" for each in np.quantile(numbers.to_numpy(), [0, 1]))
        raise TableError(
            f"--cut-at {cut:.15g} leaves one side empty: {numbers.name!r} has values from {least} to {most}"
        )


def class_labels(text: pl.Series, *, sure: bool = False) -> tuple[NDArray[Any], dict[str, int]]:
    """Return the labels that are present, as integers if all are, and the rows of each class.

    `sure` says that they are classes, however many there are.
    """
    present = text.drop_nulls()
    values = whole_numbers(present)
    tally = (present if values is None else values).value_counts(sort=True)
    counts = {str(label): int(n) for label, n in sorted(tally.iter_rows())}
    check_classes(text.name, len(present), counts, sure=sure)
    return (np.array(present.to_list()) if values is None else values.to_numpy()), counts


def whole_numbers(present: pl.Series) -> pl.Series | None:
    """Convert labels such as 3 or 3.0 to integers; None for text and for codes such as 007."""
    if present.str.contains(r"^[-+]?0\d").any():
        return None
    numbers = present.str.replace(r"\.0*$", "").cast(pl.Int64, strict=False)
    return None if numbers.null_count() else numbers


def check_classes(name: str, n_rows: int, counts: dict[str, int], *, sure: bool = False) -> None:
    """Raise an error if there is but one class, or nearly as many as rows, unless that is `sure`."""
    n_classes = len(counts)
    if n_classes == 1:
        raise TableError(
            f"column {name!r} has only one class, {shown(next(iter(counts)))}, in all "
            f"{n_rows:,} labelled rows: training needs at least two classes"
        )
    if n_rows > 4 and n_classes > n_rows / 2 and not sure:
        raise TableError(
            f"column {name!r} has {n_classes:,} different values in {n_rows:,} rows: each class "
            "needs several rows; choose another --target, or say --task classes"
        )
