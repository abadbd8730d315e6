"""Rows as they stand in a table, dicts of cells or frames of text, as the features of a model."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Values
from rebelboost.base.names import printed
from rebelboost.base.text import warn_caller
from rebelboost.data.encoder import as_frame
from rebelboost.exceptions import UnknownCategoryWarning, UnreadCellWarning
from rebelboost.export.reading import readings_of
from rebelboost.export.records import RecordReader


class _Kept(NamedTuple):
    """Readers, and what they were made of."""

    told: Any
    encoder: Any
    records: RecordReader
    frames: Any
    """None for a model that was trained in Python."""


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
    return _readers(estimator).records


def _readers(estimator: Any) -> _Kept:
    model = estimator.model_
    told = vars(estimator).get("_metadata", {}).get("table")
    kept = vars(estimator).get("_readers")
    if kept is not None and kept.told is told and kept.encoder is model.encoder:
        found: _Kept = kept
        return found
    schema = None
    if isinstance(told, Mapping):
        from rebelboost.tables.raw_rows import FrameReader
        from rebelboost.tables.schema import stored_schema

        schema = stored_schema(estimator)
        names = list(map(printed, getattr(estimator, "feature_names_in_", ())))
        # A model that was fitted again, in Python, may have other features.
        if schema is not None and [column.name for column in schema.columns] != names:
            schema = None
    columns = None if schema is None else [column.to_dict() for column in schema.columns]
    records = RecordReader(readings_of(model.encoder, model.shown_names, columns))
    kept = _Kept(told, model.encoder, records, schema and FrameReader(schema))
    vars(estimator)["_readers"] = kept
    return kept


def as_read(estimator: Any, X: Any) -> Any:
    """Rows of a model that the command trained, as a frame of features; anything else as it is."""
    if not isinstance(vars(estimator).get("_metadata", {}).get("table"), Mapping):
        return X
    if isinstance(X, np.ndarray) or as_frame(X) is None:
        return X
    frames = _readers(estimator).frames
    if frames is None:
        return X
    read = frames.read(X)
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
