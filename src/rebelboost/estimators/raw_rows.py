"""Rows as they stand in a table, dicts of cells or frames of text, as the features of a model."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Values
from rebelboost.base.names import printed, shown_cell
from rebelboost.base.text import warn_caller
from rebelboost.data.encoder import FeatureEncoder, as_frame, is_present
from rebelboost.exceptions import TableError, UnknownCategoryWarning, UnreadCellWarning


class _Kept(NamedTuple):
    """A reader, and the description that it was made of."""

    told: Any
    reader: Any


def are_records(X: Any) -> bool:
    """Whether `X` is a dict of cells, or a sequence of dicts."""
    if isinstance(X, Mapping):
        return not any(isinstance(cell, Sequence | np.ndarray) and not isinstance(cell, str)
                       for cell in X.values())  # fmt: skip
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def row_reader(estimator: Any) -> Any:
    """How the command reads rows for a model that it trained; None for other models."""
    told = vars(estimator).get("_metadata", {}).get("table")
    if not isinstance(told, Mapping):
        return None
    kept = vars(estimator).get("_row_reader")
    if kept is None or kept.told is not told:
        from rebelboost.tables.raw_rows import RowReader
        from rebelboost.tables.schema import stored_schema

        schema = stored_schema(estimator)
        assert schema is not None
        kept = _Kept(told, RowReader(schema))
        vars(estimator)["_row_reader"] = kept
    known = list(map(printed, getattr(estimator, "feature_names_in_", ())))
    # A model that was fitted again, in Python, may have other features.
    return kept.reader if kept.reader.names == known else None


def as_read(estimator: Any, X: Any) -> Any:
    """Rows of a model that the command trained, as a frame of features; anything else as it is."""
    if not isinstance(X, Mapping) and not are_records(X) and as_frame(X) is None:
        return X
    reader = row_reader(estimator)
    if reader is None:
        return X
    read = reader.read(X)
    for note in read.of_categories:
        warn_caller(note, UnknownCategoryWarning)
    for note in read.of_formats:
        warn_caller(note, UnreadCellWarning)
    return read.frame


def encoded_records(encoder: FeatureEncoder, names: Sequence[str], X: Any) -> Values:
    """(N, d) numbers of dicts, for a model that was trained in Python: cells are numbers and categories."""
    records = [X] if isinstance(X, Mapping) else X
    values = np.empty((len(records), len(names)))
    for n, record in enumerate(records):
        lacking = [name for name in names if name not in record]
        if lacking:
            raise TableError(
                f"row {n + 1:,} lacks {lacking[0]!r}: give all features by their names"
            )
    for f, name in enumerate(names):
        cells = [record[name] for record in records]
        if f in encoder.levels:
            values[:, f] = encoder.codes_of(f, cells, repr(name))
        else:
            values[:, f] = [_number(cell, n, name) for n, cell in enumerate(cells, 1)]
    return values


def _number(cell: Any, row: int, name: str) -> float:
    if not is_present(cell):
        return float("nan")
    try:
        if not isinstance(cell, str):
            return float(cell)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TableError(
        f"row {row:,} has {shown_cell(cell)} in {name!r}, which is no number: the model was trained in "
        "Python, on numbers"
    )
