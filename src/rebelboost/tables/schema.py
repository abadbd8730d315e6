"""What was understood of a table before anything is learned from it; kept in the model's file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.names import listed
from rebelboost.data.encoder import MOST_LEVELS
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import Column, as_text, tell_columns
from rebelboost.tables.files import Table
from rebelboost.tables.target import class_labels, find_target

FEWEST_ROWS = 10
"""With fewer, that all values differ says nothing."""
ID_NAME = re.compile(
    r"(.*[ _.-])?(id|uuid|guid|key|index|idx|rownames?|nr|no)|unnamed: 0", re.IGNORECASE
)
ROW = "\nrow"
"""A column name that no file has."""


@dataclass(frozen=True)
class Understanding:
    """What a table holds, in the words of the summary."""

    source: str
    """The file's name."""
    form: str
    target: str
    columns: tuple[Column, ...]
    """To learn from."""
    ignored: Mapping[str, str]
    """Column → why it is not among them."""
    notes: tuple[str, ...]
    n_rows: int
    n_unlabelled: int
    """Further rows, without a class, that were left out."""
    counts: Mapping[str, int]
    """Class → rows."""
    missing: Mapping[str, int]
    """Column → missing cells, where there are some."""
    naming: str = ""
    """The ignored column that names the rows, if one does."""

    def to_dict(self) -> dict[str, Any]:
        """For the model's file, and for --json."""
        told = dict(vars(self))
        for name in ("ignored", "counts", "missing"):
            told[name] = dict(told[name])
        return told | {
            "columns": [column.to_dict() for column in self.columns],
            "notes": list(self.notes),
        }

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> "Understanding":
        """Of a model's file."""
        columns = tuple(map(Column.from_dict, told["columns"]))
        return Understanding(**{**told, "columns": columns, "notes": tuple(told["notes"])})

    def of_kind(self, kind: str) -> list[str]:
        """Names of the columns of a kind."""
        return [column.name for column in self.columns if column.kind == kind]


class Wishes(NamedTuple):
    """What the user said of columns."""

    keep: Sequence[str] = ()
    """Not to be ignored."""
    ignore: Sequence[str] = ()
    categorical: Sequence[str] = ()
    """Codes, though they look like numbers."""


class TrainingTable(NamedTuple):
    """A table ready to be learned from."""

    frame: pl.DataFrame
    """Numbers, and categories as text."""
    y: NDArray[Any]
    rows: NDArray[np.int64]
    """Where each sample is among the rows of the file, from 1."""
    ids: tuple[str, list[Any]] | None
    """A column that names the samples, and its values."""


def understand(
    table: Table, target: str | None, wishes: Wishes | None = None
) -> tuple[Understanding, TrainingTable]:
    """Read a table to learn the classes in column `target`."""
    wishes = wishes or Wishes()
    _check_wishes(table, wishes)
    target = find_target(table, target)
    text = table.frame.select(as_text(target, table.types[target]).alias(target))
    labels = text.collect(engine="streaming").to_series()
    y, counts = class_labels(labels, table.path)
    labelled = labels.is_not_null()
    names, ignored = _candidates(table, target, wishes)
    columns, odd = tell_columns(table, names, wishes.categorical)
    frame = _collect(table, columns, labelled)
    chosen, useless, ids = _look(frame, columns, [*wishes.keep, *wishes.categorical])
    ignored |= useless
    if not chosen:
        raise TableError(
            f"{table.path} has no column to learn {target!r} from "
            f"({_reasons(ignored)}): --keep NAME keeps one all the same"
        )
    frame = _select(frame, chosen)
    understanding = Understanding(
        source=table.path.name,
        form=table.form,
        target=target,
        columns=tuple(chosen),
        ignored=ignored,
        notes=(*table.notes, *map(_told, odd), *_dates(chosen), *_many(chosen)),
        n_rows=len(frame),
        n_unlabelled=len(labels) - len(frame),
        counts=counts,
        naming=ids[0] if ids else "",
        missing={s.name: n for s in frame.iter_columns() if (n := s.null_count())},
    )
    rows = np.flatnonzero(labelled.to_numpy()) + 1
    return understanding, TrainingTable(frame, y, rows, ids)


def _check_wishes(table: Table, wishes: Wishes) -> None:
    for option, names in wishes._asdict().items():
        for name in names:
            if name not in table.types:
                raise TableError(
                    f"--{option} names column {name!r}, which {table.path} lacks: "
                    f"it has {listed(table.names, 12)}"
                )


def _candidates(table: Table, target: str, wishes: Wishes) -> tuple[list[str], dict[str, str]]:
    ignored = dict.fromkeys(wishes.ignore, "by --ignore")
    for name, dtype in table.types.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration, pl.Null):
            ignored.setdefault(name, f"of type {dtype}")
    names = [name for name in table.names if name != target and name not in ignored]
    return names, ignored


def _collect(table: Table, columns: Sequence[Column], labelled: pl.Series) -> pl.DataFrame:
    frame = table.frame
    if not labelled.all():
        kept = labelled.arg_true()
        frame = frame.with_row_index(ROW).filter(pl.col(ROW).is_in(kept.implode()))
    reading = [column.read(table.types[column.name]) for column in columns]
    return frame.select(reading).collect(engine="streaming")


def row_name(column: str, value: Any) -> str:
    """What to call a row by the column that names rows: a bare number would be taken for its place."""
    text = str(value)
    return f"{column} {text}" if text.removeprefix("-").isdigit() else text


# ---- looking at what was read


def _look(
    frame: pl.DataFrame, columns: Sequence[Column], keep: Sequence[str]
) -> tuple[list[Column], dict[str, str], tuple[str, list[Any]] | None]:
    """Columns that can tell something, and why the others cannot; the first that names samples."""
    chosen, useless = [], {}
    ids = None
    for column in columns:
        values = frame[column.name]
        _check_finite(values)
        reason, is_id = _uselessness(values, column)
        if reason and column.name not in keep:
            useless[column.name] = reason
            if is_id and ids is None:
                whole = column.kind == "number"
                ids = column.name, (values.cast(pl.Int64) if whole else values).to_list()
        else:
            levels = _levels(values) if column.kind == "category" else ()
            chosen.append(replace(column, categories=levels))
    return chosen, useless, ids


def _check_finite(values: pl.Series) -> None:
    if values.dtype == pl.Float64 and (n := int(values.is_infinite().sum())):
        raise TableError(
            f"column {values.name!r} has {n} infinite value(s): leave those cells empty, "
            "or write a large number"
        )


def _uselessness(values: pl.Series, column: Column) -> tuple[str, bool]:
    """Why a column says nothing of a class, or an empty text; and whether it names samples."""
    n, n_different = len(values), values.drop_nulls().n_unique()
    if n_different == 0:
        return "empty", False
    if n_different == 1 and values.null_count() == 0:
        return f"always {values[0]}", False
    if n_different == n >= FEWEST_ROWS:
        naming = _naming(values, column)
        return naming, bool(naming)
    if column.kind == "category" and n_different > max(FEWEST_ROWS, n / 2):
        return f"text: {n_different:,} different values in {n:,} rows", False
    return "", False


def _naming(values: pl.Series, column: Column) -> str:
    """How a column whose values all differ names the rows, or an empty text."""
    if column.kind == "category":
        return "a different text in every row"
    if column.kind != "number" or not (values == values.floor()).all():
        return ""
    numbers = values.to_numpy()
    if numbers.max() - numbers.min() == len(numbers) - 1:
        return "counts the rows"
    return "an id: a different number in every row" if ID_NAME.fullmatch(column.name) else ""


def _levels(values: pl.Series) -> tuple[str, ...]:
    """The most frequent categories, as many as can be told apart."""
    counts = dict(values.drop_nulls().value_counts().iter_rows())
    frequent = sorted(counts, key=lambda level: (-counts[level], level))[:MOST_LEVELS]
    return tuple(sorted(frequent))


def _select(frame: pl.DataFrame, columns: Sequence[Column]) -> pl.DataFrame:
    return frame.select(known(column) for column in columns)


def known(column: Column) -> pl.Expr:
    """The column as it is read, without categories that training did not see."""
    if column.kind != "category":
        return pl.col(column.name)
    text = pl.col(column.name)
    return pl.when(text.is_in(column.categories)).then(text).otherwise(None).alias(column.name)


# ---- telling


def _reasons(ignored: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {reason}" for name, reason in list(ignored.items())[:6])


def _told(odd: tuple[str, int, str]) -> str:
    name, n_cells, example = odd
    return (
        f"{name}: {n_cells:,} cell(s) that do not fit, such as {example!r}, count as missing "
        f"(--categorical {_quoted(name)} takes the column as categories)"
    )


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


def _dates(columns: Sequence[Column]) -> list[str]:
    day_or_month = [c.name for c in columns if c.form.startswith("%m/%d/%Y")]
    return [
        f"{name}: dates read as month/day/year (2024-01-31 leaves no doubt)"
        for name in day_or_month
    ]


def _many(chosen: Sequence[Column]) -> list[str]:
    return [
        f"{column.name}: the {MOST_LEVELS} most frequent categories are told apart, "
        "the others count as missing"
        for column in chosen
        if len(column.categories) == MOST_LEVELS
    ]
