"""Interpret a table that is larger than memory: its columns by a sample of the rows, its counts by all."""

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
from rebelboost.tables.columns import Column, as_text
from rebelboost.tables.files import Table
from rebelboost.tables.finite import infinite_message
from rebelboost.tables.held_out import LeftOutRule, hold_out, row_keys
from rebelboost.tables.informative import frequent_levels
from rebelboost.tables.options import ColumnOptions
from rebelboost.tables.pieces import GROUP, TARGET, Classes, TablePiece, pieces_of, target_of
from rebelboost.tables.schema import ODD_CELLS, Understanding, known, pooled_notes, understand
from rebelboost.tables.schema_reader import ODD
from rebelboost.tables.target import check_classes, find_target, whole_numbers

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


class Survey(NamedTuple):
    """A large table, looked through."""

    understanding: Understanding
    pieces: list[TablePiece]
    held: HeldRows
    rule: LeftOutRule


def surveyed(
    table: Table, target: str | None, options: ColumnOptions, scratch: Path, tell: Tell
) -> Survey:
    """Interpret a table, and look through all its rows."""
    target = find_target(table, target)
    tell("drawing a sample of the rows")
    sample = _sample(table, target)
    understanding, _ = understand(sample, target, options)
    tell("dividing the files")
    pieces = pieces_of(table, understanding, scratch)
    rule = hold_out(sum(piece.n_rows for piece in pieces), understanding.group)
    found = _looked_through(pieces, understanding, rule, tell)
    if lacking := found.lacking():
        rule = rule._replace(spared=lacking)
        found = _looked_through(pieces, understanding, rule, tell)
    told = found.told()
    classes = None if told.predicts_numbers else found.classes()
    trained = [
        replace(piece.with_rows(kept), understanding=told, classes=classes)
        for piece, kept in zip(pieces, found.kept, strict=True)
    ]
    return Survey(told, trained, found.rows(classes), rule)


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
    pieces: Sequence[TablePiece], understanding: Understanding, rule: LeftOutRule, tell: Tell
) -> "_Tally":
    found = _Tally(understanding)
    for i, piece in enumerate(pieces):
        tell(f"looking through {piece.name} ({i + 1:,} of {len(pieces):,} pieces)")
        found.look_through(piece, rule)
    return found


@dataclass
class _Tally:
    """Counts of all rows, and the rows that are left out."""

    understanding: Understanding
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

    def look_through(self, piece: TablePiece, rule: LeftOutRule) -> None:
        """Count the cells of a piece, and draw the rows that are left out."""
        told = self.understanding
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
        if not self.understanding.predicts_numbers:
            self.labels.update(dict(values.drop_nulls().value_counts().iter_rows()))
            return
        self._check_numbers(values.alias(self.understanding.target), piece)
        least, most = values.min(), values.max()
        if isinstance(least, float) and isinstance(most, float):
            self.ends = min(self.ends[0], least), max(self.ends[1], most)

    def lacking(self) -> tuple[str, ...]:
        """Classes all of whose rows are left out."""
        return tuple(sorted(text for text, n in self.labels.items() if self.out[text] == n))

    def _check_finite(self, frame: pl.DataFrame, piece: TablePiece) -> None:
        for column in self.understanding.columns:
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

    def told(self) -> Understanding:
        """The interpretation, with the counts of all rows."""
        counts, spread = self._counts(), self.understanding.spread
        if self.understanding.predicts_numbers:
            spread = self.ends[0], spread[1], self.ends[1]
        columns = tuple(map(self._with_levels, self.understanding.columns))
        of_sample = pooled_notes(self.understanding.columns)
        notes = [n for n in self.understanding.notes if n not in of_sample and ODD_CELLS not in n]
        return replace(
            self.understanding,
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
        if self.understanding.predicts_numbers:
            return {}
        classes = self.classes()
        counts: Counter[Any] = Counter()
        for text, label in zip(classes.texts, classes.labels.tolist(), strict=True):
            counts[label] += self.labels[text]
        named = {str(label): n for label, n in sorted(counts.items())}
        check_classes(self.understanding.target, self.n_labelled, named)
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
        columns = tuple(map(self._with_levels, self.understanding.columns))
        order = np.lexsort((text.rank("dense").to_numpy(), row_keys(frame)))
        settled = frame.select(known(column) for column in columns)
        return HeldRows(settled[order], target_of(text, classes)[order], keys[order], test[order])
