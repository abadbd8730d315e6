"""An example cell of each converted column, as it is written in the file and as it was read."""

from collections.abc import Sequence

import polars as pl

from rebelboost.base.text import calendar_date
from rebelboost.tables.columns import FIRST, Column, cells
from rebelboost.tables.files import Table
from rebelboost.tables.numbers import LIMIT, PLAIN, THOUSANDS_COMMA

DIVIDED = r"[^\d+-]"
"""What sets a converted number apart: a separator, a unit or a limit."""


def examples(table: Table, columns: Sequence[Column]) -> dict[str, tuple[str, str]]:
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
        return column.form != PLAIN or column.dressing != ("", "", False) or bool(column.part)
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
