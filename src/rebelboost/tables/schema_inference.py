"""Infer the schema of a training table, and read its features and target."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.names import listed, shown_cell
from rebelboost.base.text import calendar_date, percent
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import FIRST, Column, ColumnOptions, as_text, as_word, cells
from rebelboost.tables.feature_selection import TEXT, select_features
from rebelboost.tables.files import Table
from rebelboost.tables.grouping import SplitBy, find_split
from rebelboost.tables.leaks import find_leaks
from rebelboost.tables.numbers import LIMIT, PLAIN, THOUSANDS_COMMA
from rebelboost.tables.schema import ROW, TableSchema, known
from rebelboost.tables.target import find_target, read_target
from rebelboost.tables.type_detection import detect_types

UNSUPPORTED = "unsupported type"
MOST_LEAKS = 3
"""Maximum number of warnings about columns that decide the target alone."""
ODD_CELLS = "cell(s) in another format"


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
    split: SplitBy = SplitBy()
    """How rows are left out."""


def infer_schema(
    table: Table, target: str | None, options: ColumnOptions | None = None
) -> tuple[TableSchema, TrainingTable]:
    """Interpret and read a table with classes or numbers to predict in the column `target`."""
    options = options or ColumnOptions()
    _check_options(table, options)
    target = find_target(table, target)
    goal = read_target(table, target, options)
    y, labelled, classes = goal.y, goal.labelled, goal.classes
    names, ignored = _candidates(table, target, options)
    detected = detect_types(table, names, options)
    columns = detected.columns
    if not table.is_sample:  # row numbers would be wrong
        _check_finite(table, columns)
    frame = _collect(table, columns, labelled)
    aside = _aside(table, [*options.ignore, *options.columns()["group"]], labelled)
    split = find_split(table.path, columns, frame, aside, classes, options)
    ignored |= split.ignored(options)
    columns = [column for column in columns if column.origin not in ignored]
    keep = [*options.keep, *options.categorical]
    chosen, useless, ids = select_features(
        frame, columns, classes, keep=keep, unnamed=table.unnamed
    )
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
    schema = TableSchema(
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
        group=split.group,
        time=split.time,
        warnings=(*split.warnings, *_leaks(frame, classes, target, split), *detected.warnings),
        readings=reading_examples(table, [*chosen, *([goal.column] if goal.column else [])]),
        target_column=goal.column,
        cut=goal.cut,
        spread=() if goal.counts else tuple(map(float, np.quantile(y, [0, 0.5, 1]))),
    )
    rows = np.flatnonzero(labelled.to_numpy()) + 1
    return schema, TrainingTable(frame, y, rows, ids, split)


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


def _check_finite(table: Table, columns: Sequence[Column]) -> None:
    """Raise an error if a number in any row of the file is infinite, as every command does."""
    reading = [c.read(table.types[c.origin]).alias(c.name) for c in columns if c.kind != "category"]
    if reading:
        # Collected first: a query that ends in one cell for each of many columns takes long.
        numbers = table.frame.select(reading).collect(engine="streaming").cast(pl.Float64)
        for name, is_bad in numbers.select(pl.all().is_infinite().any()).row(0, named=True).items():
            if is_bad:
                table.check_finite(numbers[name])


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


def _select(frame: pl.DataFrame, columns: Sequence[Column]) -> pl.DataFrame:
    return frame.select(known(column) for column in columns)


# ---- messages


def _reasons(ignored: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {reason}" for name, reason in list(ignored.items())[:6])


def _leaks(frame: pl.DataFrame, y: NDArray[Any], target: str, split: SplitBy) -> list[str]:
    return [
        f"{leak.name} nearly decides {target!r} alone ({percent(leak.accuracy)} right): is it known "
        f"beforehand? If not, use --ignore {as_word(leak.name)}"
        for leak in find_leaks(frame.iter_columns(), y, split.groups)[:MOST_LEAKS]
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


DIVIDED = r"[^\d+-]"
"""What sets a converted number apart: a separator, a unit or a limit."""


def reading_examples(table: Table, columns: Sequence[Column]) -> dict[str, tuple[str, str]]:
    """Return, by column, a cell as it is written and as it was read."""
    found = {}
    for column in columns:
        if table.types[column.origin] == pl.String and _is_converted(column):
            pair = _example(table, column, columns)
            if pair is not None:
                found[column.origin] = pair
    return found


def _is_converted(column: Column) -> bool:
    if column.is_derived:
        return False
    if column.kind == "number":
        return column.form != PLAIN or column.affixes != ("", "", False) or bool(column.part)
    return column.kind == "date" and not column.form.startswith("%Y")


def _example(table: Table, column: Column, columns: Sequence[Column]) -> tuple[str, str] | None:
    """Return the most telling cell: one with a limit, else one with a separator."""
    text = cells(column.origin, numbers=True)
    by_form = "," if column.form == THOUSANDS_COMMA else DIVIDED
    wanted = LIMIT if column.limits else by_form
    parts = [column]
    if column.part == FIRST:
        parts = [each for each in columns if each.origin == column.origin]
    row = (
        table.frame.filter(text.str.contains(wanted) & column.read(pl.String()).is_not_null())
        .select(text.alias("\nwritten"), *(part.read(pl.String()) for part in parts))
        .head(1)
        .collect(engine="streaming")
    )
    if len(row) == 0:
        return None
    written, *values = row.row(0)
    read = [calendar_date(v) if column.kind == "date" else f"{v:.10g}" for v in values]
    return written, " and ".join(read)
