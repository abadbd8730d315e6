"""Rows as text, as they stand in a CSV file, and the table that is made of them.

A project keeps cells as text, so that a fit reads them as `rebel train` reads a file with the same cells.
"""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rebelboost.base.cells import MISSING
from rebelboost.base.names import listed, shown_cell
from rebelboost.data.encoder import as_frame
from rebelboost.exceptions import ProjectError
from rebelboost.live.store import Row
from rebelboost.tables.columns import as_text
from rebelboost.tables.files import Source, Table, opened_source, source_of
from rebelboost.tables.target import suggestion

MISSING_TYPES = ("NAType", "NaTType")
"""Names of the types of pandas' missing values."""
OTHERS = (dt.date, dt.time)
"""Types of cells that are written in ISO 8601; moments are dates too."""


class Cells(NamedTuple):
    """Rows of text."""

    names: tuple[str, ...]
    """Columns."""
    rows: list[tuple[str | None, ...]]


def cells_of(given: Any) -> Cells:
    """Rows of a file, a folder, a data frame, a dict or a sequence of dicts, as text."""
    if isinstance(given, Cells):
        return given
    if isinstance(given, Source):
        return _of_source(given)
    if isinstance(given, str | PathLike):
        return _of_source(source_of([Path(given)]))
    if isinstance(given, Mapping):
        return _of_records([given])
    if isinstance(given, Sequence) and all(isinstance(row, Mapping) for row in given):
        return _of_records(given)
    frame = as_frame(given)
    if frame is None:
        raise ProjectError(
            f"rows are a {type(given).__name__}: give dicts of column and cell, a data frame, or a file"
        )
    return _of_frame(frame)


def cell_text(cell: Any) -> str | None:
    """A cell as it stands in a CSV file; None if it is missing."""
    if cell is None or type(cell).__name__ in MISSING_TYPES:
        return None
    if isinstance(cell, str):
        return None if cell.strip() in MISSING else cell
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell)).lower()
    if isinstance(cell, Integral):
        return str(int(cell))
    if isinstance(cell, Real):
        return _number_text(float(cell))
    if isinstance(cell, OTHERS):
        return str(cell)
    raise ProjectError(
        f"{shown_cell(repr(cell))} is a {type(cell).__name__}: give text, a number, a date or None"
    )


def _number_text(number: float) -> str | None:
    if math.isnan(number):
        return None
    if math.isinf(number):
        raise ProjectError(f"{number} is infinite: leave the cell empty, or give a large number")
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def _of_source(source: Source) -> Cells:
    with opened_source(source) as table:
        read = table.frame.select(as_text(name, dtype) for name, dtype in table.types.items())
        return _of_texts(read.collect(engine="streaming"))


def _of_texts(frame: pl.DataFrame) -> Cells:
    return Cells(tuple(frame.columns), frame.rows())


def _of_frame(frame: Any) -> Cells:
    native = frame.to_native()
    if isinstance(native, pl.DataFrame):
        texts = native.select(as_text(name, dtype) for name, dtype in native.schema.items())
        return _of_texts(texts)
    columns = [list(map(cell_text, column.to_list())) for column in frame.iter_columns()]
    return Cells(tuple(map(str, frame.columns)), list(zip(*columns, strict=True)))


def _of_records(records: Sequence[Mapping[Any, Any]]) -> Cells:
    names = tuple(dict.fromkeys(str(name) for record in records for name in record))
    rows = []
    for record in records:
        texts = {str(name): cell_text(cell) for name, cell in record.items()}
        rows.append(tuple(texts.get(name) for name in names))
    return Cells(names, rows)


class Arranged(NamedTuple):
    """Rows in the order of the columns of a project."""

    columns: tuple[str, ...]
    """All columns, with new ones at the end."""
    rows: list[tuple[str | None, ...]]
    labels: list[str | None]
    names: list[str | None]
    notes: list[str]


def arranged(cells: Cells, columns: Sequence[str], target: str, naming: str) -> Arranged:
    """Put cells into the order of the project's columns, without the target and the identifiers."""
    place = {name: i for i, name in enumerate(cells.names)}
    known = [*columns, target, *([naming] if naming else [])]
    new = [name for name in cells.names if name not in known]
    lacking = [name for name in columns if name not in place]
    if columns and len(lacking) == len(columns):
        raise ProjectError(
            f"the rows have none of the project's columns: they have {listed(cells.names, 8)}, the project "
            f"has {listed(columns, 8)}"
        )
    if naming and naming not in place:
        raise ProjectError(
            f"the rows have no column {naming!r}, which identifies rows of this project: "
            f"{suggestion(naming, cells.names)}"
        )
    notes = []
    if columns and new:
        free = [name for name in columns if name not in place]
        meant = [
            f"; {name!r} may be a misspelt {found[0]!r}"
            for name in new
            if (found := [n for n in free if n.lower() == name.lower()])
        ]
        notes.append(
            f"new columns are left out until the next exact fit reads the table anew: {listed(new, 8)}"
            + "".join(meant[:1])
        )
    if lacking:
        notes.append(f"missing columns are empty in these rows: {listed(lacking, 8)}")
    every = (*columns, *new)

    def column(name: str) -> list[str | None]:
        if name not in place:
            return [None] * len(cells.rows)
        return [row[place[name]] for row in cells.rows]

    ordered = [
        tuple(None if (i := place.get(name)) is None else row[i] for name in every)
        for row in cells.rows
    ]
    nameless: list[str | None] = [None] * len(cells.rows)
    names = column(naming) if naming else nameless
    return Arranged(every, ordered, column(target), names, notes)


def frame_of(rows: Sequence[Row], columns: Sequence[str]) -> pl.DataFrame:
    """The cells of rows as a table of text."""
    n = len(columns)
    padded = [row.cells + (None,) * (n - len(row.cells)) for row in rows]
    by_column = list(zip(*padded, strict=True)) if padded else [()] * n
    return pl.DataFrame(
        [
            pl.Series(name, cells, dtype=pl.String)
            for name, cells in zip(columns, by_column, strict=True)
        ]
    )


def table_of(rows: Sequence[Row], columns: Sequence[str], target: str, source: str) -> Table:
    """The table that a fit reads: cells and labels of rows."""
    labels = pl.Series(target, [row.label for row in rows], dtype=pl.String)
    # Columns that only other rows have are none of this table's.
    own = [column for column in frame_of(rows, columns) if column.null_count() < len(rows)]
    frame = pl.DataFrame([*own, labels])
    return Table(Path(source), frame.lazy(), dict(frame.schema), "project")
