"""Spreadsheets: read the table in a sheet of an Excel file, and write no cells that a spreadsheet executes."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import polars as pl

from rebelboost.base.names import listed
from rebelboost.exceptions import TableError
from rebelboost.tables.layout import (
    MOST_FOOTNOTES,
    Bounds,
    Layout,
    column_names,
    find_bounds,
    footnotes,
    width_of,
)

EXCEL_READERS = {"fastexcel": "calamine", "openpyxl": "openpyxl"}
"""Package → name of the reader in polars."""
FIRST_ROWS = 200
"""Rows in which the names of columns are looked for."""


class Sheet(NamedTuple):
    """The table in a sheet."""

    name: str
    frame: pl.DataFrame
    notes: list[str]


def read_sheet(path: Path, layout: Layout) -> Sheet:
    """Read a sheet, with whichever reader is installed."""
    engine = next((name for module, name in EXCEL_READERS.items() if find_spec(module)), None)
    if engine is None:
        raise TableError(
            f'{path} is an Excel file, which needs a reader: pip install "rebelboost[excel]", '
            "or save it as CSV"
        )
    try:
        names = _sheet_names(path, engine)
    except Exception as error:  # each reader has its own errors
        reason = str(error).strip().split("\n")[0]
        raise TableError(f"{path} cannot be read ({reason}): save it as CSV") from error
    name = _chosen(path, names, layout.sheet)
    cells = _read(path, name, engine, typed=False)
    frame, notes = _trimmed(cells, layout.skip_rows)
    if frame is None:
        frame = _read(path, name, engine, typed=True)
    if frame.width < 2:
        others = f"; its sheets are {listed(names, 12)}: choose one with --sheet" * (len(names) > 1)
        raise TableError(
            f"sheet {name!r} of {path} has no table: a table needs a target and at least one other "
            f"column, with their names in one row{others}"
        )
    if len(names) > 1 and not layout.sheet:
        notes.append(f"sheet {name!r} is read, of {listed(names, 6)} (--sheet NAME reads another)")
    return Sheet(name, frame, notes)


def _sheet_names(path: Path, engine: str) -> list[str]:
    if engine == "calamine":
        import fastexcel

        return list(fastexcel.read_excel(path).sheet_names)
    import openpyxl

    return list(openpyxl.load_workbook(path, read_only=True).sheetnames)


def _chosen(path: Path, names: list[str], wanted: str) -> str:
    if not wanted:
        return names[0]
    if wanted in names:
        return wanted
    if wanted.isdigit() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise TableError(f"--sheet: {path} has no sheet {wanted!r}; it has {listed(names, 12)}")


def _read(path: Path, sheet: str, engine: str, *, typed: bool) -> pl.DataFrame:
    """Read a sheet with its types, or all cells as text, including those of the first row."""
    try:
        frame: pl.DataFrame = pl.read_excel(  # type: ignore[call-overload]
            path,
            sheet_name=sheet,
            engine=engine,
            has_header=typed,
            infer_schema_length=1000 if typed else 0,
            drop_empty_rows=typed,
            raise_if_empty=False,
        )
    except Exception as error:  # each reader has its own errors
        reason = str(error).strip().split("\n")[0]
        raise TableError(
            f"sheet {sheet!r} of {path} cannot be read ({reason}): save it as CSV"
        ) from error
    return frame


def _trimmed(cells: pl.DataFrame, skip: int | None) -> tuple[pl.DataFrame | None, list[str]]:
    """The table of a sheet, as text, and what is skipped; None if the sheet has nothing else."""
    texts, begin = cells.fill_null(""), skip or 0
    first = [
        (n, row)
        for n, row in enumerate(texts.slice(begin, FIRST_ROWS).rows(), begin)
        if any(map(str.strip, row))
    ]
    if cells.width < 2 or len(first) < 2:
        return None, []
    rows = [row for _, row in first]
    bounds = find_bounds(rows) if skip is None else Bounds()
    values = cells.slice(first[bounds.above + bounds.second][0] + 1)
    last = values.tail(MOST_FOOTNOTES).fill_null("").rows()
    if skip is None:
        bounds = bounds._replace(below=footnotes(last, width_of(rows)))
    if bounds == Bounds() and not begin:
        return None, []
    names, notes = column_names(rows[bounds.above], headed=True)
    values = values.head(len(values) - bounds.below)
    values = values.filter(~pl.all_horizontal(pl.all().is_null()))
    values.columns = names
    return values, [*notes, *bounds.notes(rows, last[len(last) - bounds.below :])]


STARTS = "=+\\-@\\t\\r\\n＝＋－＠"
"""A cell is taken for a formula if it starts with one of these, the wide forms included."""
NUMBER = r"^[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?\s?%?$"
"""Numbers start with the same signs, and stay what they are; so does a sign alone, a common class name."""
FORMULA = f"^[{STARTS}](?s:.)"
MARK = "'"
"""Spreadsheets show what follows as text."""


def inert(text: str) -> str:
    """Put a mark before text that a spreadsheet would execute, such as =HYPERLINK(…)."""
    return MARK + text if re.search(FORMULA, text) and not re.search(NUMBER, text) else text


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with all names of columns and texts in cells inert."""
    texts = [
        name
        for name, dtype in frame.schema.items()
        if dtype in (pl.String, pl.Categorical, pl.Enum)
    ]
    columns = [_inert_column(pl.col(name).cast(pl.String)) for name in texts]
    renamed: list[str] = []
    for name in frame.columns:
        new = inert(name)
        while new in renamed or (new != name and new in frame.columns):
            new = MARK + new
        renamed.append(new)
    return frame.with_columns(columns).rename(dict(zip(frame.columns, renamed, strict=True)))


def _inert_column(cell: pl.Expr) -> pl.Expr:
    runs = cell.str.contains(FORMULA) & ~cell.str.contains(NUMBER)
    return pl.when(runs).then(pl.lit(MARK) + cell).otherwise(cell).name.keep()
