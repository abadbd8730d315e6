"""Data frames as they stand in a table: they are read as the table that the command trained a model on.

`rebelboost.export.records` reads single rows, which are dicts.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import polars as pl

from rebelboost.base.names import shown_cell
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import Column
from rebelboost.tables.files import Table
from rebelboost.tables.schema import Match, TableSchema

GIVEN = Path("the table")
"""What messages call rows that are in no file."""
TEXT, NUMBER, BOOLEAN = "text", "number", "boolean"
LARGEST_WHOLE = 2**63
"""Larger integers are read as floating-point numbers."""
KINDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), TEXT),
    ((bool, np.bool_), BOOLEAN),
    ((Real, Decimal), NUMBER),
    ((dt.datetime,), "moment"),
    ((dt.date,), "date"),
    ((dt.time,), "time"),
)
"""Types of cells; the first that fits counts."""
AS: dict[str, tuple[Any, Any]] = {TEXT: (str, pl.String), BOOLEAN: (bool, pl.Boolean)}
PANDAS_MISSING = ("NAType", "NaTType")
"""Names of the types of pandas' missing values."""


class Read(NamedTuple):
    """Rows as the model expects them."""

    frame: pl.DataFrame
    """The features: numbers, and categories as text."""
    of_categories: tuple[str, ...]
    """Notes on categories that count as missing."""
    of_formats: tuple[str, ...]
    """Notes on other cells that count as missing."""


@dataclass(frozen=True)
class _Rows(Table):
    """Some of the rows that were given."""

    numbers: Sequence[int] = ()
    """Their positions; empty if these are all."""

    def place(self, row: int) -> tuple[int, Path]:
        """Number of a row among all that were given."""
        return (self.numbers[row - 1] + 1 if self.numbers else row), self.path


class FrameReader:
    """Reads data frames as the command reads a table."""

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        # Frames of features, as `Match` returns them: what remains to be read are the categories.
        plain = tuple(
            replace(column, source="", part="", form="")
            if column.kind == "category"
            else Column(column.name, "number", "plain")
            for column in schema.columns
        )
        self._as_features = replace(schema, columns=plain)
        self.names = [column.name for column in schema.columns]

    def read(self, given: Any) -> Read:
        """Read a data frame of any library."""
        frame = nw.from_native(given)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        if len(frame) == 0:
            raise TableError("the table has no rows: give one at least")
        schema = self._as_features if self._has_features(frame) else self.schema
        needed = {column.origin for column in schema.columns}
        names = [name for name in frame.columns if name in needed]
        if isinstance(frame.to_native(), pl.DataFrame):
            return _matched(frame.select(names).to_native(), schema, frame.columns)
        columns = {name: frame[name].to_list() for name in names}
        return self._columns(columns, schema, frame.columns)

    def _has_features(self, frame: Any) -> bool:
        """Whether a frame has the features themselves: the numbers of dates, for example."""
        types = frame.schema
        return list(frame.columns) == self.names and all(
            types[column.name].is_numeric()
            for column in self.schema.columns
            if column.kind != "category"
        )

    def _columns(
        self, columns: Mapping[str, list[Any]], schema: TableSchema, names: Sequence[str]
    ) -> Read:
        """Read lists of cells; rows whose cells have other types than in other rows are read apart."""
        kinds = {
            name: [_kind(cell, n, name) for n, cell in enumerate(cells, 1)]
            for name, cells in columns.items()
        }
        mixed = [found for found in kinds.values() if len({*found} - {None}) > 1]
        alike: dict[tuple[Any, ...], list[int]] = {}
        for n in range(len(next(iter(kinds.values())))):
            alike.setdefault(tuple(found[n] for found in mixed), []).append(n)
        parts = [
            _matched(
                pl.DataFrame([
                    _series(name, [cells[n] for n in rows], [kinds[name][n] for n in rows])
                    for name, cells in columns.items()
                ]),
                schema,
                names,
                rows,
            )
            for rows in alike.values()
        ]  # fmt: skip
        if len(parts) == 1:
            return parts[0]
        order = np.argsort([n for rows in alike.values() for n in rows], kind="stable")
        frame = pl.concat([part.frame for part in parts])[order]
        told = (
            _once(part.of_categories for part in parts),
            _once(part.of_formats for part in parts),
        )
        return Read(frame, *told)


def _once(notes: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for each in notes for note in each))


def _matched(
    frame: pl.DataFrame, schema: TableSchema, names: Iterable[str], rows: Sequence[int] = ()
) -> Read:
    # The other columns are named too: one of them may be a misspelt one.
    types = dict(frame.schema) | {n: pl.Null() for n in names if n not in frame.columns}
    match = Match(_Rows(GIVEN, frame.lazy(), types, "", numbers=rows), schema)
    features, _ = match.all()
    return Read(features, tuple(match.tally.of_categories()), tuple(match.tally.of_formats()))


def _kind(cell: Any, row: int, name: str) -> str | None:
    """Kind of a cell; None if it is missing."""
    if cell is None or (isinstance(cell, float) and cell != cell):  # noqa: PLR0124  (NaN)
        return None
    if type(cell).__name__ in PANDAS_MISSING:
        return None
    for types, kind in KINDS:
        if isinstance(cell, types):
            return kind
    raise TableError(
        f"row {row:,} of the table has {shown_cell(repr(cell))} in column {name!r}, a "
        f"{type(cell).__name__}: give text, a number, a date or None"
    )


def _series(name: str, cells: Sequence[Any], kinds: Sequence[str | None]) -> pl.Series:
    """Cells of one kind as a column."""
    kind = next((each for each in kinds if each is not None), TEXT)
    kept = [None if k is None else cell for k, cell in zip(kinds, cells, strict=True)]
    if kind in AS:
        make, dtype = AS[kind]
        return pl.Series(name, [None if c is None else make(c) for c in kept], dtype=dtype)
    if kind != NUMBER:  # dates and times
        return pl.Series(name, kept)
    if all(c is None or (isinstance(c, Integral) and abs(int(c)) < LARGEST_WHOLE) for c in kept):
        return pl.Series(name, [None if c is None else int(c) for c in kept], dtype=pl.Int64)
    return pl.Series(name, [None if c is None else _float(c) for c in kept], dtype=pl.Float64)


def _float(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:  # refused as infinite
        return float("inf")
