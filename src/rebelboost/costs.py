"""Cost matrices: row = true class, column = decided class; right decisions cost nothing."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.exceptions import CostDiagonalWarning, CostError
from rebelboost.shapes import Floats, Labels


def uniform(n_classes: int) -> Floats:
    """Every mistake costs 1."""
    return 1.0 - np.eye(n_classes)


def cost_matrix(costs: ArrayLike | None, classes: Sequence[Any]) -> Floats:
    """(K, K) costs as given, checked; None means uniform."""
    n_classes = len(classes)
    if costs is None:
        return uniform(n_classes)
    matrix = _numbers(costs)
    if matrix.shape != (n_classes, n_classes):
        raise CostError(
            f"costs have shape {matrix.shape}, but there are {n_classes} classes "
            f"({_listed(classes)}): give a {n_classes} × {n_classes} matrix, "
            "costs[true, decided], with classes in this order"
        )
    return _without_diagonal(matrix, np.arange(n_classes, dtype=np.int32))


def cost_rows(costs: ArrayLike, labels: Labels, n_classes: int) -> Floats:
    """(N, K) costs of each decision for each sample, checked."""
    rows = _numbers(costs)
    if rows.shape != (len(labels), n_classes):
        raise CostError(
            f"costs given to fit have shape {rows.shape}; they need a row for each of the "
            f"{len(labels)} samples and a column for each of the {n_classes} classes. "
            "A matrix by class belongs to RebelClassifier(costs=...)"
        )
    return _without_diagonal(rows, labels)


def _numbers(costs: ArrayLike) -> Floats:
    try:
        numbers = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CostError(f"costs must be numbers in rows of equal length: {error}") from error
    if np.isnan(numbers).any() or np.isinf(numbers).any():
        where = tuple(map(int, np.argwhere(~np.isfinite(numbers))[0]))
        raise CostError(f"the cost at {where} is {numbers[where]}: give a finite number, 0 or more")
    if (numbers < 0).any():
        where = tuple(map(int, np.argwhere(numbers < 0)[0]))
        raise CostError(
            f"the cost at {where} is {numbers[where]:g}: costs cannot be negative. "
            "Subtract a row's smallest entry from the row: that changes no decision"
        )
    return numbers


def _without_diagonal(rows: Floats, labels: Labels) -> Floats:
    """Subtract what a right decision costs from its whole row."""
    right = rows[np.arange(len(rows)), labels][:, np.newaxis]
    if not right.any():
        return rows
    rows = rows - right
    if (rows < 0).any():
        n, k = map(int, np.argwhere(rows < 0)[0])
        raise CostError(
            f"in row {n} of the costs the right decision costs {right[n, 0]:g}, more than decision "
            f"{k} ({rows[n, k] + right[n, 0]:g}): a mistake may not be cheaper than the right decision"
        )
    warnings.warn(
        "right decisions have costs; they were subtracted from their rows, "
        "which changes no decision",
        CostDiagonalWarning,
        stacklevel=4,
    )
    return rows


def _listed(classes: Sequence[Any], most: int = 6) -> str:
    shown = ", ".join(map(str, classes[:most]))
    return shown + ", …" if len(classes) > most else shown
