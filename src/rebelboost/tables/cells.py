"""Text cells that a spreadsheet would execute as formulas, and how they are written so that it does not."""

import re

import polars as pl

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
