"""A large table in pieces: some rows of a file at a time, read as a model needs them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.distributed.files import ROWS_AT_ONCE
from rebelboost.rows.block import Raw
from rebelboost.tables.columns import Column, as_text, cells
from rebelboost.tables.files import PARQUET, Table
from rebelboost.tables.schema import Understanding, known
from rebelboost.tables.schema_reader import ODD

TARGET, GROUP = "\ntarget", "\ngroup"
"""Column names that do not occur in files."""


class Classes(NamedTuple):
    """The classes of a target."""

    texts: tuple[str, ...]
    """Cells, as they are written."""
    labels: NDArray[Any]
    """The class of each."""

    def of(self, cells_: pl.Series) -> NDArray[Any]:
        """(N,) classes of cells."""
        codes = cells_.replace_strict(self.texts, range(len(self.texts)), return_dtype=pl.Int64)
        found: NDArray[Any] = self.labels[codes.to_numpy()]
        return found


def target_of(values: pl.Series, classes: Classes | None) -> NDArray[Any]:
    """(N,) classes, or numbers."""
    return values.to_numpy() if classes is None else classes.of(values)


@dataclass(frozen=True, eq=False)
class TablePiece:
    """Some rows of a file, from `first` on."""

    name: str
    """The file as the user knows it."""
    path: Path
    """The file, or a copy as Parquet."""
    first: int
    n_rows: int
    understanding: Understanding
    types: dict[str, Any] | None
    """Types as which columns are read; None if the file is a copy, whose columns are features already."""
    cast: tuple[str, ...] = ()
    """Columns that have another type in this file."""
    classes: Classes | None = None
    """None before they are known, and if numbers are predicted."""
    kept: NDArray[np.uint8] | None = None
    """(N,) bits: whether a row is trained on."""

    def frame(self) -> pl.DataFrame:
        """All rows: features, cells in another format, target and group."""
        told = self.understanding
        return self._collected(reading(told, self.types) if self.types else [pl.all()])

    def read(self) -> Raw:
        """Rows that are trained on."""
        features = self._features(self.understanding.columns)
        wanted = [*features, *self._target()]
        table = self._trained_on(wanted)
        values = self.understanding.target_values(table[TARGET])
        return Raw(self._known(table), target_of(values, self.classes))

    def columns(self, features: Sequence[int] | None, *, every: bool = False) -> pl.DataFrame:
        """Some features, or all, of the rows that are trained on, or of every row."""
        chosen = self.understanding.columns
        if features is not None:
            chosen = tuple(chosen[f] for f in features)
        read = self._collected if every else self._trained_on
        return read(self._features(chosen)).select(known(c) for c in chosen)

    def place(self, row: int) -> tuple[int, Path]:
        """Number of a row of the piece, counted from 0, in its file, from 1; and the file."""
        return self.first + row + 1, Path(self.name)

    def with_rows(self, kept: NDArray[np.bool_]) -> "TablePiece":
        """The same piece, of which some rows are trained on."""
        return replace(self, kept=np.packbits(kept))

    def _known(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.select(known(column) for column in self.understanding.columns)

    def _features(self, columns: Sequence[Column]) -> list[pl.Expr]:
        if self.types is None:
            return [pl.col(column.name) for column in columns]
        return [column.read(self.types[column.origin]) for column in columns]

    def _target(self) -> list[pl.Expr]:
        name = self.understanding.target
        return [pl.col(TARGET) if self.types is None else _text(name, TARGET, self.types)]

    def _trained_on(self, wanted: Sequence[pl.Expr]) -> pl.DataFrame:
        table = self._collected(wanted)
        if self.kept is None:
            return table
        kept = np.unpackbits(self.kept, count=self.n_rows).astype(bool)
        return table.filter(pl.Series(kept))

    def _collected(self, wanted: Sequence[pl.Expr]) -> pl.DataFrame:
        scanned = pl.scan_parquet(self.path, glob=False).slice(self.first, self.n_rows)
        if self.types is not None and self.cast:
            scanned = scanned.with_columns(pl.col(n).cast(self.types[n]) for n in self.cast)
        return scanned.select(wanted).collect()


def pieces_of(table: Table, understanding: Understanding, scratch: Path) -> list[TablePiece]:
    """Divide a table; files that are not Parquet are first copied as such, which can be read in pieces."""
    parts = table.parts or ((table.path, table.frame),)
    found: list[TablePiece] = []
    path: Path
    types: dict[str, Any] | None
    cast: tuple[str, ...]
    for i, (file, frame) in enumerate(parts):
        path, types, cast = file, table.types, ()
        if file.suffix.lower() in PARQUET:
            own = pl.scan_parquet(file, glob=False).collect_schema()
            cast = tuple(name for name, dtype in table.types.items() if own[name] != dtype)
        else:
            path, types = scratch / f"{i}.parquet", None
            frame.select(reading(understanding, table.types)).sink_parquet(path)
        n_rows = int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
        found += [
            TablePiece(
                str(file),
                path,
                first,
                min(ROWS_AT_ONCE, n_rows - first),
                understanding,
                types,
                cast,
            )
            for first in range(0, n_rows, ROWS_AT_ONCE)
        ]
    return found


def reading(understanding: Understanding, types: dict[str, Any]) -> list[pl.Expr]:
    """Expressions for features, target and group, and for cells that do not have the format of their column."""
    columns = understanding.columns
    odd = [
        (cells(c.origin, numbers=True).is_not_null() & c.read(pl.String()).is_null()).alias(
            c.name + ODD
        )
        for c in columns
        if c.kind != "category" and types[c.origin] == pl.String and not c.is_derived
    ]
    group = [_text(understanding.group, GROUP, types)] if understanding.group else []
    return [
        *(column.read(types[column.origin]) for column in columns),
        *odd,
        _text(understanding.target, TARGET, types),
        *group,
    ]


def _text(name: str, alias: str, types: dict[str, Any]) -> pl.Expr:
    return as_text(name, types[name]).alias(alias)
