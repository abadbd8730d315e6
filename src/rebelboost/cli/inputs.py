"""What several commands do with a model and a table."""

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
    """A table whose classes are known, as the model sees it."""

    frame: pl.DataFrame
    y: NDArray[Any]
    names: list[Any]
    """Of the rows: by the column that names them, or their numbers from 1."""
    notes: list[str]
    is_training: bool
    """Whether the model has learned from this very file."""


def fed(model: Any, frame: pl.DataFrame) -> Any:
    """The samples in the form that the model was trained on: with names, or without."""
    return frame if hasattr(model, "feature_names_in_") else frame.to_numpy()


def with_costs(model: Any, costs: Path | None) -> Any:
    """The model, deciding by the costs in a file."""
    if costs is None:
        return model
    return model.with_costs(read_costs(costs, model.classes_.tolist()))


def read_labelled(model: Any, data: Path) -> Labelled:
    """Rows with a class; those without are left out, and counted."""
    with opened(data) as table:
        understanding = understood_by(model, table)
        target = understanding.target
        if not target:
            raise TableError(
                "the model was trained in Python and does not name its target: "
                "use rebelboost.evaluation.evaluate there"
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
        notes.append(f"{n:,} row(s) without a class in {target!r} are left out")
    if len(frame) == 0:
        raise TableError(
            f"{data} has no row with a class in column {target!r}: nothing to judge by"
        )
    y = np.array(labels.drop_nulls().to_list())
    is_training = (model.metadata_ or {}).get("fingerprint") == fingerprint(data)
    return Labelled(frame, y, [*compress(names, labelled)], notes, is_training)
