"""Read a table in the same way as the table that a model was trained on."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from rebelboost.base.names import listed, shown_cell
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import Column, as_text, cells
from rebelboost.tables.files import Table
from rebelboost.tables.finite import check_values
from rebelboost.tables.kept import kept_table
from rebelboost.tables.schema import Understanding, known
from rebelboost.tables.target import hint

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

    def notes(self) -> list[str]:
        """Return the counts as notes."""
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
        notes += [
            f"{name}: {n:,} cell(s) in another format than in the training data count as missing"
            for name, n in self.odd.items()
            if n
        ]
        if self.extra:
            notes.append(f"not used by the model: {listed(self.extra, 12)}")
        return notes


class Match:
    """A table matched with the columns that a model expects."""

    def __init__(self, table: Table, understanding: Understanding, aside: Sequence[str] = ()):
        self.table, self.columns, self.aside = table, understanding.columns, tuple(aside)
        self._check(understanding.target)
        expected = {*understanding.ignored, understanding.target, *aside}
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
            close = {name: told for name in lacking if (told := hint(name, free))[0] == "d"}
            meant = f"; for {next(iter(close))!r} {next(iter(close.values()))}" if close else ""
            raise TableError(
                f"{self.table.path} lacks {len(lacking)} of the {len(needed)} column(s) that the "
                f"model needs, {listed(lacking, 12)}: add them (cells may be empty){meant}"
            )
        for name in self.aside:
            if name not in names:
                raise TableError(f"{self.table.path} has no column {name!r}: {hint(name, names)}")

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
                check_values(frame[column.name], self.table, first)
        aside = batch.select(pl.col(name + ASIDE).alias(name) for name in self.aside)
        return frame, aside

    def _count_unknown(self, column: Column, unused: pl.Series) -> None:
        cells = unused.drop_nulls()
        unknown = cells.filter(~cells.is_in(column.pooled))
        self.tally.pooled[column.name] += len(cells) - len(unknown)
        self.tally.unknown[column.name] += len(unknown)
        if len(unknown):
            self.tally.examples.setdefault(column.name, unknown[0])


def understood_by(model: Any, table: Table) -> Understanding:
    """Return how the model's training table was interpreted.

    For models trained in Python, this is derived from the names of the features.
    """
    kept = kept_table(model)
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
    return Understanding("", "", "", columns, {}, (), 0, 0, {}, {})
