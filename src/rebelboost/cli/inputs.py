"""Prepare models and tables; shared by several commands."""

from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.cli.costs import read_costs
from rebelboost.cli.files import fingerprint
from rebelboost.exceptions import TableError
from rebelboost.tables.files import opened
from rebelboost.tables.schema import row_name
from rebelboost.tables.schema_reader import Match, understood_by
from rebelboost.tables.target import hint


class Labelled(NamedTuple):
    """A table with known classes, in the form that the model expects."""

    frame: pl.DataFrame
    y: NDArray[Any]
    names: list[Any]
    """Names of the rows, from the identifier column if there is one; else row numbers from 1."""
    notes: list[str]
    is_training: bool
    """Whether the model was trained on this file."""


def fed(model: Any, frame: pl.DataFrame) -> Any:
    """Return the samples as the model was trained: with column names, or as a bare array."""
    return frame if hasattr(model, "feature_names_in_") else frame.to_numpy()


def with_costs(model: Any, costs: Path | None) -> Any:
    """Return the model with the costs from a file, if one is given."""
    if costs is None:
        return model
    return model.with_costs(read_costs(costs, model.classes_.tolist()))


def read_labelled(model: Any, data: Path) -> Labelled:
    """Read the rows that have a class; rows without one are skipped and counted."""
    with opened(data) as table:
        understanding = understood_by(model, table)
        target = understanding.target
        if not target:
            raise TableError(
                "the model was trained in Python and does not store the name of its target: "
                "use rebelboost.evaluation.evaluate in Python"
            )
        if target not in table.types:
            raise TableError(
                f"{data} has no column {target!r} with the true classes: "
                f"{hint(target, table.names)}"
            )
        naming = [n for n in [understanding.naming] if n in table.types]
        match = Match(table, understanding, [target, *naming])
        frame, aside = match.all()
    labels, labelled = aside[target], aside[target].is_not_null()
    names: list[Any] = list(range(1, len(aside) + 1))
    if naming:
        given = aside[naming[0]].to_list()
        names = [
            n if g is None else row_name(naming[0], g) for n, g in zip(names, given, strict=True)
        ]
    notes = match.tally.notes()
    if n := labels.null_count():
        frame = frame.filter(labelled)
        notes.append(f"{n:,} row(s) without a class in {target!r} were skipped")
    if len(frame) == 0:
        raise TableError(
            f"{data} has no row with a class in column {target!r}: add the true classes"
        )
    y = np.array(labels.drop_nulls().to_list())
    is_training = (model.metadata_ or {}).get("fingerprint") == fingerprint(data)
    return Labelled(frame, y, [*compress(names, labelled)], notes, is_training)
