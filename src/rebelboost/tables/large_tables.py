"""Tables that are larger than memory: columns by a sample of the rows, counts by all, training in pieces."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.hashing import Keys
from rebelboost.base.names import listed
from rebelboost.exceptions import TableError
from rebelboost.rows.block import ROWS_AT_ONCE, Raw
from rebelboost.tables.columns import Column, ColumnOptions, as_text, cells
from rebelboost.tables.feature_selection import frequent_levels
from rebelboost.tables.files import PARQUET, Table, infinite_message
from rebelboost.tables.held_out import HoldOutRule, hold_out_rule, row_keys
from rebelboost.tables.schema import ODD, TableSchema, known
from rebelboost.tables.schema_inference import ODD_CELLS, infer_schema, pooled_notes
from rebelboost.tables.target import check_classes, find_target, whole_numbers

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
    schema: TableSchema
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
        told = self.schema
        return self._collected(reading(told, self.types) if self.types else [pl.all()])

    def read(self) -> Raw:
        """Rows that are trained on."""
        features = self._features(self.schema.columns)
        wanted = [*features, *self._target()]
        table = self._trained_on(wanted)
        values = self.schema.target_values(table[TARGET])
        return Raw(self._known(table), target_of(values, self.classes))

    def columns(self, features: Sequence[int] | None, *, every: bool = False) -> pl.DataFrame:
        """Some features, or all, of the rows that are trained on, or of every row."""
        chosen = self.schema.columns
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
        return table.select(known(column) for column in self.schema.columns)

    def _features(self, columns: Sequence[Column]) -> list[pl.Expr]:
        if self.types is None:
            return [pl.col(column.name) for column in columns]
        return [column.read(self.types[column.origin]) for column in columns]

    def _target(self) -> list[pl.Expr]:
        name = self.schema.target
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


def pieces_of(table: Table, schema: TableSchema, scratch: Path) -> list[TablePiece]:
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
            frame.select(reading(schema, table.types)).sink_parquet(path)
        n_rows = int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
        found += [
            TablePiece(
                str(file),
                path,
                first,
                min(ROWS_AT_ONCE, n_rows - first),
                schema,
                types,
                cast,
            )
            for first in range(0, n_rows, ROWS_AT_ONCE)
        ]
    return found


def reading(schema: TableSchema, types: dict[str, Any]) -> list[pl.Expr]:
    """Expressions for features, target and group, and for cells that do not have the format of their column."""
    columns = schema.columns
    odd = [
        (cells(c.origin, numbers=True).is_not_null() & c.read(pl.String()).is_null()).alias(
            c.name + ODD
        )
        for c in columns
        if c.kind != "category" and types[c.origin] == pl.String and not c.is_derived
    ]
    group = [_text(schema.group, GROUP, types)] if schema.group else []
    return [
        *(column.read(types[column.origin]) for column in columns),
        *odd,
        _text(schema.target, TARGET, types),
        *group,
    ]


def _text(name: str, alias: str, types: dict[str, Any]) -> pl.Expr:
    return as_text(name, types[name]).alias(alias)


SAMPLE, LEAST = 100_000, 1_000
"""Rows of the sample, and rows of each class in it, if there are so many."""
MOST_CLASSES = 10_000
"""A target with more different cells consists of numbers."""
KEY = "\nkey"
"""A column name that does not occur in files."""
LARGE = (
    "a large table: trained on in pieces; the kinds of columns were found by a sample of the rows"
)
Tell = Callable[[str], None]


class HeldRows(NamedTuple):
    """Rows that are left out, in an order that does not depend on the files."""

    frame: pl.DataFrame
    y: NDArray[Any]
    keys: Keys
    """(N,) equal for rows that were drawn together."""
    test: NDArray[np.bool_]
    """(N,) whether a row tests the model; the others choose the number of rounds."""


class LargeTable(NamedTuple):
    """A table that is larger than memory, after all rows were read once."""

    schema: TableSchema
    pieces: list[TablePiece]
    held: HeldRows
    rule: HoldOutRule


def read_large_table(
    table: Table, target: str | None, options: ColumnOptions, scratch: Path, tell: Tell
) -> LargeTable:
    """Interpret a table, and look through all its rows."""
    target = find_target(table, target)
    tell("drawing a sample of the rows")
    sample = _sample(table, target)
    schema, _ = infer_schema(sample, target, options)
    tell("dividing the files")
    pieces = pieces_of(table, schema, scratch)
    rule = hold_out_rule(sum(piece.n_rows for piece in pieces), schema.group)
    found = _looked_through(pieces, schema, rule, tell)
    if lacking := found.lacking():
        rule = rule._replace(spared=lacking)
        found = _looked_through(pieces, schema, rule, tell)
    told = found.told()
    classes = None if told.predicts_numbers else found.classes()
    trained = [
        replace(piece.with_rows(kept), schema=told, classes=classes)
        for piece, kept in zip(pieces, found.kept, strict=True)
    ]
    return LargeTable(told, trained, found.rows(classes), rule)


# ---- the sample


def _sample(table: Table, target: str) -> Table:
    """Draw rows by their values: the same ones, however they are divided into files."""
    text = as_text(target, table.types[target]).alias(TARGET)
    tally = table.frame.select(text).group_by(TARGET).len().collect(engine="streaming")
    n_rows = int(tally["len"].sum())
    if n_rows == 0:
        raise TableError(f"{table.path} has columns but no rows: add the rows to train on")
    share, most = min(1.0, SAMPLE / n_rows), 2.0**64
    least = min(LEAST, SAMPLE / len(tally))
    rare = {c: min(1.0, least / n) for c, n in tally.iter_rows() if c is not None}
    rare = {c: own for c, own in rare.items() if own > share and len(rare) <= MOST_CLASSES}
    limit = (
        text.replace_strict(
            list(rare),
            [own * most for own in rare.values()],
            default=share * most,
            return_dtype=pl.Float64,
        )
        if rare
        else pl.lit(share * most)
    )
    drawn = (
        table.frame.with_columns(_values(table).hash(0).alias(KEY))
        .filter(pl.col(KEY).cast(pl.Float64) <= limit)
        .collect(engine="streaming")
        .sort(KEY)
        .drop(KEY)
    )
    return replace(table, frame=drawn.lazy(), parts=(), is_sample=True)


def _values(table: Table) -> pl.Expr:
    """All values of a row; codes of categories differ from file to file."""
    plain = {n: t for n, t in table.types.items() if not t.is_nested() and t != pl.Object}
    return pl.struct(
        pl.col(n).cast(pl.String) if t in (pl.Categorical, pl.Enum) else pl.col(n)
        for n, t in plain.items()
    )


# ---- all rows


def _looked_through(
    pieces: Sequence[TablePiece], schema: TableSchema, rule: HoldOutRule, tell: Tell
) -> "_Tally":
    found = _Tally(schema)
    for i, piece in enumerate(pieces):
        tell(f"looking through {piece.name} ({i + 1:,} of {len(pieces):,} pieces)")
        found.look_through(piece, rule)
    return found


@dataclass
class _Tally:
    """Counts of all rows, and the rows that are left out."""

    schema: TableSchema
    labels: Counter[str] = field(default_factory=Counter)
    out: Counter[str] = field(default_factory=Counter)
    """Class → rows that are left out."""
    unlabelled: Counter[str] = field(default_factory=Counter)
    """File → rows without a class."""
    missing: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)
    n_labelled: int = 0
    ends: tuple[float, float] = math.inf, -math.inf
    """Least and greatest number of a target of numbers."""
    levels: dict[str, Counter[str]] = field(default_factory=dict)
    kept: list[NDArray[np.bool_]] = field(default_factory=list)
    held: list[tuple[pl.DataFrame, pl.Series, Keys, NDArray[np.bool_]]] = field(
        default_factory=list
    )

    def look_through(self, piece: TablePiece, rule: HoldOutRule) -> None:
        """Count the cells of a piece, and draw the rows that are left out."""
        told = self.schema
        frame = piece.frame()
        self._check_finite(frame, piece)
        text = told.target_values(frame[TARGET])
        self._count_target(text, piece)
        if n := text.null_count():
            self.unlabelled[piece.name] += n
        labelled = text.is_not_null()
        for column in told.columns:
            values = frame[column.name].filter(labelled)
            if column.kind == "category":
                own = dict(values.drop_nulls().value_counts().iter_rows())
                self.levels.setdefault(column.name, Counter()).update(own)
            if not column.is_derived:
                self.missing[column.origin] += values.null_count()
            if column.name + ODD in frame.columns:
                self.odd[column.name] += int(frame[column.name + ODD].sum())
        features = frame.select(column.name for column in told.columns)
        drawn = rule.draw(features, text, frame[GROUP] if rule.group else None)
        self.kept.append(~drawn.out & labelled.to_numpy())
        out = pl.Series(drawn.out)
        cells = text.filter(out)
        if not told.predicts_numbers:
            self.out.update(dict(cells.value_counts().iter_rows()))
        self.held.append(
            (features.filter(out), cells, drawn.keys[drawn.out], drawn.test[drawn.out])
        )

    def _count_target(self, values: pl.Series, piece: TablePiece) -> None:
        self.n_labelled += len(values) - values.null_count()
        if not self.schema.predicts_numbers:
            self.labels.update(dict(values.drop_nulls().value_counts().iter_rows()))
            return
        self._check_numbers(values.alias(self.schema.target), piece)
        least, most = values.min(), values.max()
        if isinstance(least, float) and isinstance(most, float):
            self.ends = min(self.ends[0], least), max(self.ends[1], most)

    def lacking(self) -> tuple[str, ...]:
        """Classes all of whose rows are left out."""
        return tuple(sorted(text for text, n in self.labels.items() if self.out[text] == n))

    def _check_finite(self, frame: pl.DataFrame, piece: TablePiece) -> None:
        for column in self.schema.columns:
            if column.kind != "category":
                self._check_numbers(frame[column.name], piece)

    @staticmethod
    def _check_numbers(values: pl.Series, piece: TablePiece) -> None:
        bad = values.is_infinite().fill_null(value=False).arg_true()
        if len(bad):
            raise TableError(infinite_message(values.name, *piece.place(bad[0])))

    def classes(self) -> Classes:
        """The classes, as integers if all are."""
        texts = sorted(self.labels)
        numbers = whole_numbers(pl.Series(texts, dtype=pl.String))
        return Classes(tuple(texts), np.array(texts) if numbers is None else numbers.to_numpy())

    def told(self) -> TableSchema:
        """The interpretation, with the counts of all rows."""
        counts, spread = self._counts(), self.schema.spread
        if self.schema.predicts_numbers:
            spread = self.ends[0], spread[1], self.ends[1]
        columns = tuple(map(self._with_levels, self.schema.columns))
        of_sample = pooled_notes(self.schema.columns)
        notes = [n for n in self.schema.notes if n not in of_sample and ODD_CELLS not in n]
        return replace(
            self.schema,
            columns=columns,
            n_rows=self.n_labelled,
            n_unlabelled=self.unlabelled.total(),
            counts=counts,
            spread=spread,
            missing={name: n for name, n in self.missing.items() if n},
            notes=(*notes, *pooled_notes(columns), *self._notes()),
        )

    def _counts(self) -> dict[str, int]:
        """Class → number of rows; empty for numbers."""
        if self.schema.predicts_numbers:
            return {}
        classes = self.classes()
        counts: Counter[Any] = Counter()
        for text, label in zip(classes.texts, classes.labels.tolist(), strict=True):
            counts[label] += self.labels[text]
        named = {str(label): n for label, n in sorted(counts.items())}
        check_classes(self.schema.target, self.n_labelled, named)
        return named

    def _with_levels(self, column: Column) -> Column:
        if column.kind != "category":
            return column
        used, pooled = frequent_levels(self.levels[column.name])
        return replace(column, categories=used, pooled=pooled)

    def _notes(self) -> list[str]:
        notes = [LARGE]
        notes += [
            f"{name}: {n:,} {ODD_CELLS} count as missing" for name, n in self.odd.items() if n
        ]
        if self.unlabelled:
            some = [f"{Path(name).name} ({n:,})" for name, n in self.unlabelled.items()]
            notes.append(f"rows without a value of the target are in {listed(some, 6)}")
        return notes

    def rows(self, classes: Classes | None) -> HeldRows:
        """The rows that are left out."""
        frame = pl.concat([features for features, *_ in self.held])
        text = pl.concat([text for _, text, *_ in self.held])
        keys = np.concatenate([keys for _, _, keys, _ in self.held])
        test = np.concatenate([test for *_, test in self.held])
        columns = tuple(map(self._with_levels, self.schema.columns))
        order = np.lexsort((text.rank("dense").to_numpy(), row_keys(frame)))
        settled = frame.select(known(column) for column in columns)
        return HeldRows(settled[order], target_of(text, classes)[order], keys[order], test[order])
