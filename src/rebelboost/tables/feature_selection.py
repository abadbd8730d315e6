"""Which columns are used as features: not empty, constant or identifying ones.

Columns that identify rows, or groups of rows such as the visits of a patient, are known by their names.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats
from rebelboost.base.names import printed
from rebelboost.data.encoder import kept_levels
from rebelboost.tables.columns import WORDS, Column

_THINGS = (
    "patient|subject|participant|individual|person|customer|client|user|member|household|family|animal|"
    "machine|device|sensor"
)
_SHORT = "p|u|uu|gu|pt|pat|subj|case|hh|emp|cust|acct|stud|resp|record"
_GROUPS = re.compile(
    rf"(.*_)?({_THINGS}|({_THINGS}|{_SHORT})?_?id|key|nr|mrn|ssn)"
    r"(_?(id|nr|no|num|number|code|key|str))?_?"
)
_INDEX = r"index|idx|rownames?|row|row_(names?|numbers?|nr|no)|no|unnamed:_\d+|__index_level_\d+__"
_ROWS = re.compile(rf"{_GROUPS.pattern}|(.*_)?({_INDEX})_?")
_NO_NAME = re.compile(rf"{_INDEX}|column_\d+|id|nr")


def _words(name: str) -> str:
    """A name in lower case, its words separated by underscores: customerID becomes customer_id."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[ .-]", "_", apart).lower()


def names_groups(name: str) -> bool:
    """Whether a column is named as identifiers are whose values may repeat, such as PID or caseid."""
    return _GROUPS.fullmatch(_words(name)) is not None


def names_rows(name: str) -> bool:
    """Whether a column is named as identifiers or row numbers are."""
    return _ROWS.fullmatch(_words(name)) is not None


def is_nameless(name: str) -> bool:
    """Whether the name of an identifier, such as rownames, only says that it is one."""
    return _NO_NAME.fullmatch(_words(name)) is not None


FEWEST_ROWS = 10
"""Minimum number of rows for a column of distinct values to be an identifier."""
FEWEST_CODES = 30
"""Minimum number of rows for distinct integers to be an identifier, whatever the column's name."""
LEAST_CORRELATION, STANDARD_ERRORS = 0.2, 3.0
"""A measurement has at least this rank correlation with another column, and so many standard errors."""
PROBABLE = (
    "probably an identifier: a different whole number in every row, unrelated to other columns"
)
ROW_NUMBERS = "row numbers"
TEXT = "free text"
"""Why sentences are ignored."""
FEW_WORDS = 5.0
"""Cells of text have more words than this on average; names have fewer."""
MOST_POOLED = 20_000
"""Maximum number of less frequent categories that a model file names."""
MOST_COMPARED = 200
"""Of more columns, some are compared with one that may be an identifier."""
MOST_ROWS = 20_000
"""Correlations of larger tables are those of their first rows."""


class SelectedFeatures(NamedTuple):
    """The features of a table, and why other columns are ignored."""

    chosen: list[Column]
    useless: dict[str, str]
    """Ignored column → reason."""
    ids: tuple[str, list[Any]] | None
    """A column that identifies rows: its name and its values. Row numbers do so if no other does."""


def select_features(
    frame: pl.DataFrame,
    columns: Sequence[Column],
    y: NDArray[Any],
    *,
    keep: Sequence[str],
    unnamed: Sequence[str],
) -> SelectedFeatures:
    """Choose the informative columns."""
    found = _chosen(frame, columns, y, keep=keep, unnamed=unnamed)
    if found.chosen:
        return found
    # A table with nothing but distinct numbers: they are what there is to learn from.
    probable = [name for name, reason in found.useless.items() if reason == PROBABLE]
    return _chosen(frame, columns, y, keep=[*keep, *probable], unnamed=unnamed)


def _chosen(
    frame: pl.DataFrame,
    columns: Sequence[Column],
    y: NDArray[Any],
    *,
    keep: Sequence[str],
    unnamed: Sequence[str],
) -> SelectedFeatures:
    found = SelectedFeatures([], {}, None)
    for column in columns:
        values = frame[column.name]
        reason, is_id = _uselessness(values, column)
        if is_id is None:
            reason = _code(values, column, unnamed, frame, columns, y)
            is_id = bool(reason)
        if reason and column.origin not in keep:
            if not column.is_derived:
                found.useless[column.origin] = reason
            if (
                is_id
                and reason != TEXT
                and (found.ids is None or found.useless.get(found.ids[0]) == ROW_NUMBERS)
            ):
                whole = column.kind == "number"
                ids = column.name, (values.cast(pl.Int64) if whole else values).to_list()
                found = found._replace(ids=ids)
        else:
            used: tuple[str, ...] = ()
            pooled: tuple[str, ...] = ()
            if column.kind == "category":
                used, pooled = frequent_levels(dict(values.drop_nulls().value_counts().iter_rows()))
            found.chosen.append(replace(column, categories=used, pooled=pooled))
    return found


def _uselessness(values: pl.Series, column: Column) -> tuple[str, bool | None]:
    """Return why a column is uninformative, or an empty text; and whether it identifies rows.

    None: it consists of distinct integers, which may be codes or measurements.
    """
    n, n_different = len(values), values.drop_nulls().n_unique()
    if n_different == 0:
        return "empty", False
    if n_different == 1 and values.null_count() == 0:
        return f"constant value {printed(values[0])}", False
    if n_different == n >= FEWEST_ROWS:
        if column.kind == "category":
            return TEXT if _is_text(values) else "a different text in every row", True
        return "", None if column.kind == "number" and _is_distinct_whole(values) else False
    if column.kind == "category" and n_different > max(FEWEST_ROWS, n / 2):
        several = f"text with {n_different:,} different values in {n:,} rows"
        return TEXT if _is_text(values) else several, False
    return "", False


def _is_text(cells: pl.Series) -> bool:
    """Whether cells are sentences rather than names."""
    mean = cells.head(1000).str.count_matches(WORDS).mean()
    return isinstance(mean, float) and mean > FEW_WORDS


def _is_distinct_whole(values: pl.Series) -> bool:
    """Whether a column consists of distinct integers, which may count the rows or name them."""
    return bool((values == values.floor()).all()) and values.n_unique() == len(values)


def _code(
    values: pl.Series,
    column: Column,
    unnamed: Sequence[str],
    frame: pl.DataFrame,
    columns: Sequence[Column],
    y: NDArray[Any],
) -> str:
    """Return how distinct integers identify the rows, or an empty text if they look measured."""
    numbers = values.to_numpy()
    if numbers.max() - numbers.min() == len(numbers) - 1:
        return ROW_NUMBERS
    if column.name in unnamed or re.fullmatch(r"(?i)unnamed: \d+", column.name):
        return "index without a name, a different number in every row"
    if names_rows(column.name):
        return "identifier, a different number in every row"
    if len(numbers) < FEWEST_CODES or _is_related(column, frame, columns, y):
        return ""
    return PROBABLE


def _is_related(
    column: Column, frame: pl.DataFrame, columns: Sequence[Column], y: NDArray[Any]
) -> bool:
    """Whether the ranks of a column go with those of another column of numbers or dates, or with a class."""
    own = _ranks(frame[column.name])
    others = [
        c.name
        for c in columns
        if c.kind == "date" or (c.kind == "number" and not _is_distinct_whole(frame[c.name]))
    ]
    classes = np.unique(y)
    labels = y[:MOST_ROWS]
    tested = [_ranks(frame[name]) for name in others[:: 1 + len(others) // MOST_COMPARED]]
    tested += [
        (labels == label).astype(np.float64) for label in classes[: max(1, len(classes) - 1)]
    ]
    needed = max(LEAST_CORRELATION, STANDARD_ERRORS / np.sqrt(len(own)))
    return any(_correlation(own, other) >= needed for other in tested)


def _ranks(values: pl.Series) -> Floats:
    ranks: Floats = values.head(MOST_ROWS).rank().cast(pl.Float64).to_numpy()
    return ranks


def _correlation(a: Floats, b: Floats) -> float:
    there = ~(np.isnan(a) | np.isnan(b))
    a, b = a[there], b[there]
    spread = a.std() * b.std() if len(a) else 0.0
    return 0.0 if spread == 0 else abs(float(np.mean((a - a.mean()) * (b - b.mean())) / spread))


def frequent_levels(counts: Mapping[str, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the categories that a model distinguishes, and the others."""
    kept, rare = kept_levels(counts)
    return tuple(sorted(kept)), tuple(sorted(rare[:MOST_POOLED]))
