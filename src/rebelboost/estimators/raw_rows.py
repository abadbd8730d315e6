"""Rows as they stand in a table, dicts of cells or frames of text, as the features of a model."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Values
from rebelboost.base.text import warn_caller
from rebelboost.data.encoder import as_frame
from rebelboost.exceptions import UnknownCategoryWarning, UnreadCellWarning
from rebelboost.export import columns_of
from rebelboost.export.reading import readings_of
from rebelboost.export.records import RecordReader


class _Kept(NamedTuple):
    """How records are read, and what this was made of."""

    told: Any
    encoder: Any
    records: RecordReader
    by_command: bool
    """Whether the command trained the model, on this table."""


def are_records(X: Any) -> bool:
    """Whether `X` is a dict of cells, or a sequence of dicts."""
    if isinstance(X, Mapping):
        return not any(
            isinstance(cell, Sequence | np.ndarray) and not isinstance(cell, str)
            for cell in X.values()
        )
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def record_reader(estimator: Any) -> RecordReader:
    """Reads dicts: as the command reads rows for a model that it trained, otherwise numbers and categories."""
    return _reading(estimator).records


def _reading(estimator: Any) -> _Kept:
    model, metadata = estimator.model_, vars(estimator).get("_metadata", {})
    told = metadata.get("table")
    kept = vars(estimator).get("_read_by")
    if kept is None or kept.told is not told or kept.encoder is not model.encoder:
        columns = columns_of(metadata) if isinstance(told, Mapping) else None
        # A model that was fitted again, in Python, may have other features.
        if columns is not None and [str(c["name"]) for c in columns] != list(model.shown_names):
            columns = None
        records = RecordReader(readings_of(model.encoder, model.shown_names, columns))
        kept = _Kept(told, model.encoder, records, columns is not None)
        vars(estimator)["_read_by"] = kept
    found: _Kept = kept
    return found


def as_read(estimator: Any, X: Any) -> Any:
    """Rows of a model that the command trained, as a frame of features; anything else as it is."""
    if not isinstance(vars(estimator).get("_metadata", {}).get("table"), Mapping):
        return X
    if isinstance(X, np.ndarray) or as_frame(X) is None or not _reading(estimator).by_command:
        return X
    from rebelboost.tables.raw_rows import FrameReader  # needs polars
    from rebelboost.tables.schema import stored_schema

    schema = stored_schema(estimator)
    assert schema is not None
    read = FrameReader(schema).read(X)
    for note in read.of_categories:
        warn_caller(note, UnknownCategoryWarning)
    for note in read.of_formats:
        warn_caller(note, UnreadCellWarning)
    return read.frame


def encoded_records(estimator: Any, X: Any) -> Values:
    """(N, d) numbers of a dict, or of several; cells that count as missing are warned of."""
    records = [X] if isinstance(X, Mapping) else X
    reader = record_reader(estimator)
    values = reader(records)
    for note in reader.notes(records, values):
        warn_caller(str(note), UnknownCategoryWarning if note.is_category else UnreadCellWarning)
    return values
