"""Read a cost matrix from a file with the class names in the first row and the first column."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rebelboost.base.arrays import Floats
from rebelboost.base.names import printed
from rebelboost.base.text import amount
from rebelboost.costs.matrix import cost_matrix, is_uniform
from rebelboost.exceptions import CostError
from rebelboost.tables.columns import cells
from rebelboost.tables.files import opened

MOST_LISTED = 4
"""Number of costs that the summary lists."""


def read_costs(path: Path, classes: Sequence[Any]) -> Floats:
    """Read costs[true, decided], shape (K, K), in the order of `classes`."""
    with opened(path, headed=True) as table:
        text = table.frame.cast(pl.String).select(cells(n).alias(n) for n in table.names).collect()
    first, *others = text.columns
    # A comma within a cell is a decimal comma: costs have no thousands separators.
    numbers = text.select(first, pl.col(others).str.replace(",", ".", literal=True))
    try:
        return cost_matrix(numbers, classes)
    except CostError as error:
        raise CostError(f"{path}: {error}") from error


def costs_text(costs: Floats, classes: Sequence[Any]) -> str:
    """List the most expensive mistakes."""
    if is_uniform(costs):
        return "all mistakes cost the same"
    order = np.argsort(-costs, axis=None, kind="stable")
    pairs = [divmod(int(cell), len(classes)) for cell in order]
    pairs = [(true, decided) for true, decided in pairs if true != decided]
    some = [
        f"{printed(classes[true])} decided as {printed(classes[decided])} costs "
        f"{amount(costs[true, decided])}"
        for true, decided in pairs[:MOST_LISTED]
    ]
    return "; ".join(some) + ("; …" if len(pairs) > MOST_LISTED else "")
