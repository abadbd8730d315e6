"""Columns by name, ready for any data frame library."""

from typing import Any

Table = dict[str, list[Any]]


def framed(table: Table) -> Any:
    """A pandas data frame where pandas is installed, else the columns as they are."""
    try:
        import pandas as pd
    except ImportError:
        return table
    return pd.DataFrame(table)
