"""Costs from a file: names of the classes in the first line and the first column."""

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

MOST_TOLD = 4
"""Costs that are told one by one."""


def read_costs(path: Path, classes: Sequence[Any]) -> Floats:
    """(K, K) costs[true, decided] of classes in their order."""
    with opened(path, headed=True) as table:
        text = table.frame.cast(pl.String).select(cells(n).alias(n) for n in table.names).collect()
    first, *others = text.columns
    # A comma within a cell is a decimal comma: no cost needs thousands set apart.
    numbers = text.select(first, pl.col(others).str.replace(",", ".", literal=True))
    try:
        return cost_matrix(numbers, classes)
    except CostError as error:
        raise CostError(f"{path}: {error}") from error


def told(costs: Floats, classes: Sequence[Any]) -> str:
    """The dearest mistakes."""
    if is_uniform(costs):
        return "every mistake costs the same"
    order = np.argsort(-costs, axis=None, kind="stable")
    pairs = [divmod(int(cell), len(classes)) for cell in order]
    pairs = [(true, decided) for true, decided in pairs if true != decided]
    some = [
        f"{printed(classes[true])} decided as {printed(classes[decided])} {amount(costs[true, decided])}"
        for true, decided in pairs[:MOST_TOLD]
    ]
    return "; ".join(some) + ("; …" if len(pairs) > MOST_TOLD else "")
