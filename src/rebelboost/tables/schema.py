"""How a training table is interpreted: its columns, types, classes and missing values.

The model file stores this, in metadata whose size is limited, and other tables are matched with it, so that
they are read in the same way.
"""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from rebelboost.base.names import listed, shown_cell
from rebelboost.exceptions import TableError
from rebelboost.files.packed_schema import PACKED, unpacked_schema
from rebelboost.tables.columns import MONTH, WEEKDAY, WORD, Column, as_text, cells
from rebelboost.tables.feature_selection import is_nameless
from rebelboost.tables.files import Table
from rebelboost.tables.target import suggestion, target_values, whole_numbers

ROW = "\nrow"
"""A column name that does not occur in files."""


@dataclass(frozen=True)
class TableSchema:
    """Interpretation of a table."""

    source: str
    """Name of the file."""
    form: str
    target: str
    columns: tuple[Column, ...]
    """The features."""
    ignored: Mapping[str, str]
    """Ignored column → reason."""
    notes: tuple[str, ...]
    n_rows: int
    n_unlabelled: int
    """Number of rows without a value of the target, which are skipped."""
    counts: Mapping[str, int]
    """Class → number of rows; empty if the target consists of numbers."""
    missing: Mapping[str, int]
    """Column → number of missing cells, if there are any."""
    naming: str = ""
    """Ignored column whose values identify the rows, or an empty text."""
    group: str = ""
    """Column whose values are left out together when the model is evaluated, or an empty text."""
    time: str = ""
    """Column by which the model is evaluated on later rows than it is trained on, or an empty text."""
    warnings: tuple[str, ...] = ()
    """What may make the figures wrong."""
    readings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Column whose cells were converted → an example cell as it is written, and as it was read."""
    target_column: Column | None = None
    """How the target's numbers are read; None if its cells are classes."""
    cut: float | None = None
    """Number that divides the target's numbers into two classes."""
    spread: tuple[float, ...] = ()
    """Least, median and greatest number of the target; empty for classes."""

    @property
    def names_in_file(self) -> set[str]:
        """Names of all columns of the file, used or not, but the target."""
        return {column.origin for column in self.columns} | set(self.ignored)

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary, for the model file and for --json."""
        told = dict(vars(self))
        for name in ("ignored", "counts", "missing"):
            told[name] = dict(told[name])
        told["readings"] = {name: list(pair) for name, pair in self.readings.items()}
        return told | {
            "columns": [column.to_dict() for column in self.columns],
            "target_column": self.target_column and self.target_column.to_dict(),
            "spread": list(self.spread),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> "TableSchema":
        """Create from the dictionary in a model file; the inverse of `to_dict`."""
        columns = tuple(map(Column.from_dict, told["columns"]))
        texts = {name: tuple(told[name]) for name in ("notes", "warnings")}
        readings = {name: tuple(pair) for name, pair in told["readings"].items()}
        column = told["target_column"]
        goal = {
            "target_column": column and Column.from_dict(column),
            "spread": tuple(told["spread"]),
        }
        return TableSchema(**{**told, "columns": columns, "readings": readings, **texts, **goal})

    @property
    def predicts_numbers(self) -> bool:
        """Whether the target consists of numbers, not of classes."""
        return self.target_column is not None and self.cut is None

    @property
    def classes(self) -> list[Any]:
        """The classes, as integers if all are; empty if the target consists of numbers."""
        names = pl.Series(list(self.counts), dtype=pl.String)
        numbers = whole_numbers(names)
        return (names if numbers is None else numbers).to_list()

    def target_values(self, text: pl.Series) -> pl.Series:
        """Convert the target's cells, read as text, to its classes or numbers."""
        return target_values(text, self.target_column, self.cut)

    def of_kind(self, kind: str) -> list[str]:
        """Names of the columns of one kind; months and weekdays belong to their dates, words to texts."""
        return [
            c.name
            for c in self.columns
            if c.kind == kind and c.part not in (MONTH, WEEKDAY) and not c.is_of_text
        ]

    @property
    def texts(self) -> dict[str, int]:
        """Column of text → number of its words that are used."""
        return Counter(c.origin for c in self.columns if c.part.startswith(WORD))

    @property
    def missing_share(self) -> float:
        """Share of the cells of the used columns that are missing."""
        return sum(self.missing.values()) / (self.n_rows * self.n_columns)

    @property
    def n_columns(self) -> int:
        """Number of columns of the file that are used."""
        return len({column.origin for column in self.columns})


def known(column: Column) -> pl.Expr:
    """Expression for the column in which categories that are not in the training data are null."""
    if column.kind != "category":
        return pl.col(column.name)
    text = pl.col(column.name)
    return pl.when(text.is_in(column.categories)).then(text).otherwise(None).alias(column.name)


def row_names(column: str, values: Sequence[Any], rows: Sequence[int]) -> list[Any]:
    """Names of rows by their identifiers; numbers of rows where these are the same, or missing."""
    pairs = list(zip(values, rows, strict=True))
    if all(str(value) == str(row) for value, row in pairs):
        return list(rows)
    return [row if value is None else row_name(column, value) for value, row in pairs]


def row_name(column: str, value: Any) -> str:
    """Name of a row by its identifier; a number gets the column's name, so as not to be a row number."""
    text = str(value)
    if is_nameless(column):
        column = "id"
    return f"{column} {text}" if text.removeprefix("-").isdigit() else text


MOST_PLAIN, MOST_PACKED = 100_000, 400_000
"""Maximum number of characters of a description as it is, and of a packed one."""
MOST_TEXT = 50_000
"""Maximum number of characters of the categories in a long description. The model has those that it
distinguishes, too."""
DATES = ("date", "time")
UNDESCRIBED = "the model file does not store how its table was read: train the model again"


def packed_schema(schema: TableSchema) -> dict[str, Any]:
    """The description for the metadata of a model; packed, if it is long."""
    told = schema.to_dict()
    if _length(told) <= MOST_PLAIN:
        return told
    # Explanations look for dates here.
    dates = [column for column in told["columns"] if column["kind"] in DATES]
    for texts in ("pooled", "categories"):
        if sum(len(text) for column in told["columns"] for text in column[texts]) > MOST_TEXT:
            told["columns"] = [{**column, texts: []} for column in told["columns"]]
    packed = base64.b64encode(zlib.compress(_json(told).encode(), 9)).decode()
    if len(packed) > MOST_PACKED:
        raise TableError(
            f"a model file has no room for the description of {len(schema.columns):,} columns: leave "
            "some out, or shorten their names"
        )
    return {"source": told["source"], "target": told["target"], "columns": dates, PACKED: packed}


def stored_schema(model: Any) -> TableSchema | None:
    """The description of the table that a model was trained on; None if it was trained in Python."""
    told = (getattr(model, "metadata_", None) or {}).get("table")
    if told is None:
        return None
    try:
        found = TableSchema.from_dict(unpacked_schema(told))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise TableError(UNDESCRIBED) from error
    levels = model.model_.encoder.levels
    columns = tuple(
        replace(column, categories=tuple(map(str, levels.get(f, ()))))
        if column.kind == "category" and not column.categories
        else column
        for f, column in enumerate(found.columns)
    )
    return replace(found, columns=columns)


def _length(told: Mapping[str, Any]) -> int:
    return len(_json(told))


def _json(told: Mapping[str, Any]) -> str:
    return json.dumps(told, separators=(",", ":"))


ODD, ASIDE = "\nodd", "\naside"
"""Suffixes of column names that do not occur in files."""


@dataclass
class Tally:
    """Counts, over all batches, of cells that do not match the training table."""

    n_rows: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    """Column → cells with categories that are not in the training data."""
    examples: dict[str, str] = field(default_factory=dict)
    """Column → one of these categories."""
    pooled: Counter[str] = field(default_factory=Counter)
    """Column → cells with categories that are too rare in the training data to be distinguished."""
    odd: Counter[str] = field(default_factory=Counter)
    """Column → cells in another format than in the training data."""
    extra: tuple[str, ...] = ()
    """Columns that the model does not use."""

    def of_categories(self) -> list[str]:
        """Notes on categories that count as missing."""
        notes = [
            f"{name}: {n:,} cell(s) with categories that training never saw, such as "
            f"{shown_cell(self.examples[name])}, count as missing"
            for name, n in self.unknown.items()
            if n
        ]
        notes += [
            f"{name}: {n:,} cell(s) with categories that were pooled in training, because they are "
            "rare, count as missing"
            for name, n in self.pooled.items()
            if n
        ]
        return notes

    def of_formats(self) -> list[str]:
        """Notes on cells that could not be read."""
        return [
            f"{name}: {n:,} cell(s) in another format than in the training data count as missing"
            for name, n in self.odd.items()
            if n
        ]

    def notes(self) -> list[str]:
        """Return the counts as notes."""
        notes = [*self.of_categories(), *self.of_formats()]
        if self.extra:
            notes.append(f"not used by the model: {listed(self.extra, 12)}")
        return notes


class Match:
    """A table matched with the columns that a model expects."""

    def __init__(self, table: Table, schema: TableSchema, aside: Sequence[str] = ()):
        self.table, self.columns, self.aside = table, schema.columns, tuple(aside)
        self._check(schema.target)
        expected = {*schema.ignored, schema.target, *aside}
        expected |= {column.origin for column in self.columns}
        self.tally = Tally(extra=tuple(n for n in table.names if n not in expected))
        self.raw = pl.DataFrame()
        """Features of the last batch, with categories that training never saw."""

    def _check(self, target: str) -> None:
        names = self.table.names
        needed = list(dict.fromkeys(column.origin for column in self.columns))
        lacking = [name for name in needed if name not in names]
        free = [name for name in names if name not in needed and name != target]
        if lacking:
            close = {name: told for name in lacking if (told := suggestion(name, free))[0] == "d"}
            meant = f"; for {next(iter(close))!r} {next(iter(close.values()))}" if close else ""
            raise TableError(
                f"{self.table.path} lacks {len(lacking)} of the {len(needed)} column(s) that the "
                f"model needs, {listed(lacking, 12)}: add them (cells may be empty){meant}"
            )
        for name in self.aside:
            if name not in names:
                raise TableError(
                    f"{self.table.path} has no column {name!r}: {suggestion(name, names)}"
                )

    def batches(self, size: int | None = None) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Yield the features and the columns to copy, in batches or all at once."""
        lazy = self.table.frame.select(self._reading())
        if size is None:
            yield self._settled(lazy.collect(engine="streaming"))
            return
        for batch in lazy.collect_batches(chunk_size=size, maintain_order=True):
            yield self._settled(batch)

    def all(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the features and the columns to copy of the whole table."""
        return next(self.batches())

    def _reading(self) -> list[pl.Expr]:
        types = self.table.types
        read = [column.read(types[column.origin]) for column in self.columns]
        odd = [
            (cells(c.origin, numbers=True).is_not_null() & c.read(pl.String()).is_null()).alias(
                c.name + ODD
            )
            for c in self._numbers_from_text()
        ]
        aside = [as_text(name, types[name]).alias(name + ASIDE) for name in self.aside]
        return [*read, *odd, *aside]

    def _numbers_from_text(self) -> list[Column]:
        types = self.table.types
        return [
            c
            for c in self.columns
            if c.kind != "category" and types[c.origin] == pl.String and not c.is_derived
        ]

    def _settled(self, batch: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        self.tally.n_rows += len(batch)
        for column in self._numbers_from_text():
            self.tally.odd[column.origin] += int(batch[column.name + ODD].sum())
        self.raw = batch.select(column.name for column in self.columns)
        frame = batch.select(known(column) for column in self.columns)
        for column in self.columns:
            if column.kind == "category":
                self._count_unknown(column, batch[column.name].filter(frame[column.name].is_null()))
            else:
                first = self.tally.n_rows - len(batch) + 1
                self.table.check_finite(frame[column.name], first)
        aside = batch.select(pl.col(name + ASIDE).alias(name) for name in self.aside)
        return frame, aside

    def _count_unknown(self, column: Column, unused: pl.Series) -> None:
        cells = unused.drop_nulls()
        unknown = cells.filter(~cells.is_in(column.pooled))
        self.tally.pooled[column.name] += len(cells) - len(unknown)
        self.tally.unknown[column.name] += len(unknown)
        if len(unknown):
            self.tally.examples.setdefault(column.name, unknown[0])


def schema_of(model: Any, table: Table) -> TableSchema:
    """Return how the model's training table was interpreted.

    For models trained in Python, this is derived from the names of the features.
    """
    kept = stored_schema(model)
    if kept is not None:
        return kept
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        n = model.n_features_in_
        if len(table.names) != n:
            raise TableError(
                f"the model was trained in Python on {n} columns without names, but {table.path} "
                f"has {len(table.names)}: give a table with these {n} columns, in the same order"
            )
        names = table.names
    levels = model.model_.encoder.levels
    columns = tuple(
        Column(str(name), "category", "", tuple(map(str, levels[f])))
        if f in levels
        else Column(str(name), "number", "plain")
        for f, name in enumerate(names)
    )
    return TableSchema("", "", "", columns, {}, (), 0, 0, {}, {})
