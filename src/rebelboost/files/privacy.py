"""What a model file keeps of the training rows.

Comparisons need the points of the rows that they compare with, from which the values of the rows can be
computed. So a file without any rows needs a model without comparisons, such as one of trees.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rebelboost.base.text import counted

if TYPE_CHECKING:
    from rebelboost.files.model_file import StoredModel

ROWS = ("values", "ids", "none")
"""Readable values of the rows that cases are compared with; their names or numbers only; no rows at all."""


def limited(stored: "StoredModel", rows: str, *, names: bool) -> "StoredModel":
    """The same model with less of its training rows.

    Without rows, the scores of the held-out rows are dropped too: `left_out` then returns None.
    """
    if rows not in ROWS:
        raise ValueError(f"rows is {rows!r}: choose one of {', '.join(ROWS)}")
    model, found = stored.model, stored.cross_fit
    kept = model.provenance
    if not names or rows == "none":
        kept = replace(kept, row_labels={})
    if rows != "values":
        kept = replace(kept, example_values=None)
    if rows == "none":
        _check_without_rows(len(model.ensemble.example_rows))
        kept = replace(kept, example_classes={})
        if found is not None:
            none = np.empty((0, found.left_out.shape[1]))
            found = replace(found, left_out=none, rows=np.empty(0, dtype=np.int64), staged=None)
    return stored._replace(model=replace(model, provenance=kept), cross_fit=found)


def _check_without_rows(n_rows: int) -> None:
    if n_rows:
        raise ValueError(
            f"this model compares cases with {counted(n_rows, 'training row')}, which it needs to "
            'predict: train with learner="auto_trees", "tree" or "stump" to save it with rows="none"'
        )
