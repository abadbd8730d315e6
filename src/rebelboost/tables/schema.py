"""How a training table is interpreted: its columns, types, classes and missing values.

The model file stores this, so that other tables are read in the same way.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.names import listed, shown_cell
from rebelboost.base.text import percent
from rebelboost.exceptions import TableError
from rebelboost.tables.apart import LeaveOut, tell_apart
from rebelboost.tables.columns import MONTH, WEEKDAY, WORD, Column, as_text
from rebelboost.tables.detection import tell_columns
from rebelboost.tables.examples import examples
from rebelboost.tables.files import Table
from rebelboost.tables.finite import check_columns
from rebelboost.tables.identifiers import is_nameless
from rebelboost.tables.informative import TEXT, look
from rebelboost.tables.leaks import find_leaks
from rebelboost.tables.options import ColumnOptions, as_word
from rebelboost.tables.target import find_target, read_target, target_values, whole_numbers

UNSUPPORTED = "unsupported type"
MOST_LEAKS = 3
"""Maximum number of warnings about columns that decide the target alone."""
ODD_CELLS = "cell(s) in another format"
ROW = "\nrow"
"""A column name that does not occur in files."""


@dataclass(frozen=True)
class Understanding:
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
    def from_dict(told: Mapping[str, Any]) -> "Understanding":
        """Create from the dictionary in a model file; the inverse of `to_dict`."""
        columns = tuple(map(Column.from_dict, told["columns"]))
        texts = {name: tuple(told.get(name, ())) for name in ("notes", "warnings")}
        readings = {name: tuple(pair) for name, pair in told.get("readings", {}).items()}
        column = told.get("target_column")
        goal = {
            "target_column": column and Column.from_dict(column),
            "spread": tuple(told.get("spread", ())),
        }
        return Understanding(**{**told, "columns": columns, "readings": readings, **texts, **goal})

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
    def n_columns(self) -> int:
        """Number of columns of the file that are used."""
        return len({column.origin for column in self.columns})


class TrainingTable(NamedTuple):
    """Features and labels for training."""

    frame: pl.DataFrame
    """Features: numbers, and categories as text."""
    y: NDArray[Any]
    """(N,) classes, or numbers."""
    rows: NDArray[np.int64]
    """Row number of each sample in the file, from 1."""
    ids: tuple[str, list[Any]] | None
    """Identifier column: its name and its values."""
    apart: LeaveOut = LeaveOut()
    """How rows are left out."""


def understand(
    table: Table, target: str | None, options: ColumnOptions | None = None
) -> tuple[Understanding, TrainingTable]:
    """Interpret and read a table with classes or numbers to predict in the column `target`."""
    options = options or ColumnOptions()
    _check_options(table, options)
    target = find_target(table, target)
    goal = read_target(table, target, options)
    y, labelled, classes = goal.y, goal.labelled, goal.classes
    names, ignored = _candidates(table, target, options)
    detected = tell_columns(table, names, options)
    columns = detected.columns
    if not table.is_sample:  # row numbers would be wrong
        check_columns(table, columns)
    frame = _collect(table, columns, labelled)
    aside = _aside(table, [*options.ignore, *options.columns()["group"]], labelled)
    apart = tell_apart(table.path, columns, frame, aside, classes, options)
    ignored |= apart.ignored(options)
    columns = [column for column in columns if column.origin not in ignored]
    keep = [*options.keep, *options.categorical]
    chosen, useless, ids = look(frame, columns, classes, keep=keep, unnamed=table.unnamed)
    ignored |= useless
    if not chosen:
        texts = [as_word(name) for name, reason in ignored.items() if reason == TEXT]
        remedy = "use --keep COLUMN to include one"
        if texts:
            remedy = f"use --text {','.join(texts)} to predict from words"
        raise TableError(
            f"{table.path} has no column to predict {target!r} from ({_reasons(ignored)}): {remedy}"
        )
    missing = {
        c.origin: n for c in chosen if not c.is_derived and (n := frame[c.name].null_count())
    }
    frame = _select(frame, chosen)
    understanding = Understanding(
        source=table.path.name,
        form=table.form,
        target=target,
        columns=tuple(chosen),
        ignored=ignored,
        notes=(
            *table.notes,
            *map(_note_odd, detected.odd),
            *detected.notes,
            *_dates(chosen),
            *pooled_notes(chosen),
        ),
        n_rows=len(frame),
        n_unlabelled=len(labelled) - len(frame),
        counts=goal.counts,
        naming=ids[0] if ids else "",
        missing=missing,
        group=apart.group,
        time=apart.time,
        warnings=(*apart.warnings, *_leaks(frame, classes, target, apart), *detected.warnings),
        readings=examples(table, [*chosen, *([goal.column] if goal.column else [])]),
        target_column=goal.column,
        cut=goal.cut,
        spread=() if goal.counts else tuple(map(float, np.quantile(y, [0, 0.5, 1]))),
    )
    rows = np.flatnonzero(labelled.to_numpy()) + 1
    return understanding, TrainingTable(frame, y, rows, ids, apart)


def _check_options(table: Table, options: ColumnOptions) -> None:
    if options.decimal not in ("", ",", "."):
        raise TableError(f"--decimal is {options.decimal!r}: give a comma or a point, , or .")
    for option, names in options.columns().items():
        for name in names:
            if name not in table.types:
                raise TableError(
                    f"--{option}: {table.path} has no column {name!r}; "
                    f"it has {listed(table.names, 12)}"
                )


def _candidates(
    table: Table, target: str, options: ColumnOptions
) -> tuple[list[str], dict[str, str]]:
    ignored = {name: "by --ignore" for name in options.ignore if name != options.time}
    for name, dtype in table.types.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration, pl.Null):
            ignored.setdefault(name, f"{UNSUPPORTED} {dtype}")
    names = [name for name in table.names if name != target and name not in ignored]
    return names, ignored


def _collect(table: Table, columns: Sequence[Column], labelled: pl.Series) -> pl.DataFrame:
    reading = [column.read(table.types[column.origin]) for column in columns]
    return _labelled(table, labelled).select(reading).collect(engine="streaming")


def _aside(table: Table, names: Sequence[str], labelled: pl.Series) -> pl.DataFrame:
    """Read the cells of columns that are not features, as text."""
    reading = [
        as_text(name, table.types[name]).alias(name)
        for name in dict.fromkeys(names)
        if not table.types[name].is_nested()
    ]
    return _labelled(table, labelled).select(reading).collect(engine="streaming")


def _labelled(table: Table, labelled: pl.Series) -> pl.LazyFrame:
    if labelled.all():
        return table.frame
    kept = labelled.arg_true()
    return table.frame.with_row_index(ROW).filter(pl.col(ROW).is_in(kept.implode()))


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


def _select(frame: pl.DataFrame, columns: Sequence[Column]) -> pl.DataFrame:
    return frame.select(known(column) for column in columns)


def known(column: Column) -> pl.Expr:
    """Expression for the column in which categories that are not in the training data are null."""
    if column.kind != "category":
        return pl.col(column.name)
    text = pl.col(column.name)
    return pl.when(text.is_in(column.categories)).then(text).otherwise(None).alias(column.name)


# ---- messages


def _reasons(ignored: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {reason}" for name, reason in list(ignored.items())[:6])


def _leaks(frame: pl.DataFrame, y: NDArray[Any], target: str, apart: LeaveOut) -> list[str]:
    return [
        f"{leak.name} nearly decides {target!r} alone ({percent(leak.accuracy)} right): is it known "
        f"beforehand? If not, use --ignore {as_word(leak.name)}"
        for leak in find_leaks(frame.iter_columns(), y, apart.groups)[:MOST_LEAKS]
    ]


def _note_odd(odd: tuple[str, int, str]) -> str:
    name, n_cells, example = odd
    return (
        f"{name}: {n_cells:,} {ODD_CELLS}, such as {shown_cell(example)}, count as missing "
        f"(--categorical {as_word(name)} treats the column as categories)"
    )


def _dates(columns: Sequence[Column]) -> list[str]:
    day_or_month = [c.name for c in columns if c.kind == "date" and c.form.startswith("%m/%d/%Y")]
    return [
        f"{name}: dates are read as month/day/year (year-month-day is unambiguous)"
        for name in day_or_month
    ]


def pooled_notes(chosen: Sequence[Column]) -> list[str]:
    """Say which columns have more categories than a model distinguishes."""
    return [
        f"{column.name}: has {len(column.categories) + len(column.pooled):,} categories; the "
        f"{len(column.categories)} most frequent are used, the others are pooled as missing"
        for column in chosen
        if column.pooled
    ]
