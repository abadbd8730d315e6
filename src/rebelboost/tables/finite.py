"""Infinite cells, which no column of numbers may have. Every command finds the same ones."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from rebelboost.exceptions import TableError
from rebelboost.tables.columns import Column
from rebelboost.tables.files import Table


def check_columns(table: Table, columns: Sequence[Column]) -> None:
    """Raise an error if a number in any row of the file is infinite."""
    reading = [c.read(table.types[c.origin]).alias(c.name) for c in columns if c.kind != "category"]
    if reading:
        # Collected first: a query that ends in one cell for each of many columns takes long.
        numbers = table.frame.select(reading).collect(engine="streaming").cast(pl.Float64)
        for name, is_bad in numbers.select(pl.all().is_infinite().any()).row(0, named=True).items():
            if is_bad:
                check_values(numbers[name], table)


def check_values(values: pl.Series, table: Table, first: int = 1) -> None:
    """Raise an error if a number is infinite; `first` is the number of the first row."""
    rows = values.is_infinite().fill_null(value=False).arg_true()
    if len(rows):
        raise TableError(infinite_message(values.name, *table.place(first + rows[0])))


def infinite_message(name: str, row: int, path: Path) -> str:
    """Say which cell is infinite."""
    return (
        f"row {row:,} of {path} has an infinite value in column {name!r}: leave the cell empty, or write "
        "a large number"
    )
