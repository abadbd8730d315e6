"""Costs that differ from sample to sample.

While training, the class of a sample is known, and a row of K costs says what each decision on it costs.
For a decision on a new sample, the costs must be known for every class that it may have: K × K numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Labels, Values
from rebelboost.base.names import ClassNames, listed, shown
from rebelboost.costs.amounts import IN_RANGE, are_costs
from rebelboost.costs.matrix import cost_cells, cost_rows_of_frame
from rebelboost.exceptions import CostError


def own_costs(costs: Any, n_samples: int, classes: Sequence[Any]) -> Floats:
    """(N, K, K) costs[n, true, decided] of samples that are to be decided, checked.

    Parameters
    ----------
    costs : array of shape (N, K) or (N, K, K), or data frame with a column for each class
        (N, K): what each decision on a sample costs if it is wrong. (N, K, K): the same for each
        class that the sample may have.
    n_samples : int
    classes : sequence
    """
    n_classes = len(classes)
    given = cost_rows_of_frame(costs, classes)
    if given.shape not in {(n_samples, n_classes), (n_samples, n_classes, n_classes)}:
        raise CostError(
            f"costs have shape {given.shape}; decisions on {n_samples} samples between {n_classes} "
            f"classes need ({n_samples}, {n_classes}), the cost of each decision if it is wrong, or "
            f"({n_samples}, {n_classes}, {n_classes}), one for each true class"
        )
    if not are_costs(given).all():
        n, *_, k = map(int, np.argwhere(~are_costs(given))[0])
        wrong = given[n][~are_costs(given[n])][0]
        raise CostError(
            f"the cost of deciding {shown(classes[k])} for sample {n} is {wrong:g}: give a finite "
            f"number, {IN_RANGE}"
        )
    cube = given if given.ndim == 3 else np.repeat(given[:, np.newaxis], n_classes, axis=1)
    right = np.einsum("nkk->nk", cube)
    if given.ndim == 3 and right.any():
        n, k = map(int, np.argwhere(right)[0])
        raise CostError(
            f"the right decision {shown(classes[k])} for sample {n} costs {right[n, k]:g}: give 0, "
            "and subtract it from the other costs of its row"
        )
    return cube * (1.0 - np.eye(n_classes))


class CostCell(NamedTuple):
    """A cost that a column of the table holds."""

    true: int
    decided: int
    feature: int


class CostColumns(NamedTuple):
    """Costs by sample that columns of the table hold: the cost of a missed fraud is its amount."""

    cells: tuple[CostCell, ...]

    def applied(self, matrix: Floats, X: Values, names: Sequence[str]) -> Floats:
        """(N, K, K) the matrix, with those cells replaced by the samples' own values."""
        cube = np.tile(matrix, (len(X), 1, 1))
        for true, decided, feature in self.cells:
            amounts = X[:, feature].astype(np.float64)
            bad = ~are_costs(amounts)
            if bad.any():
                n = int(np.argmax(bad))
                what = "missing" if np.isnan(amounts[n]) else f"{amounts[n]:g}"
                raise CostError(
                    f"row {n} has the cost {what} in column {names[feature]!r}: costs are {IN_RANGE}; "
                    "fill the gap, or give the costs of this row by predict(X, costs=...)"
                )
            cube[:, true, decided] = amounts
        return cube


def columns_of(
    costs: Any, classes: Sequence[Any], names: Sequence[str] | None, categorical: Any
) -> tuple[Any, CostColumns | None]:
    """Find the cells of a cost table that name a column, such as ``{("fraud", "ok"): "amount"}``.

    Returns the costs without them, and the columns; None where no cell names one.
    """
    cells = cost_cells(costs)
    if cells is None or not any(isinstance(cost, str) for cost in cells.values()):
        return costs, None
    known = ClassNames(classes)
    found, numbers = [], {}
    for (true, decided), cost in cells.items():
        if not isinstance(cost, str):
            numbers[true, decided] = cost
            continue
        where = f"the cost of {shown(true)} decided as {shown(decided)}"
        feature = _feature(cost, where, names, categorical)
        codes = known.find(true), known.find(decided)
        if None in codes:
            numbers[true, decided] = 1.0  # refused with the rest, in the words that all get
            continue
        if codes[0] == codes[1]:
            raise CostError(f"{where} names the column {cost!r}, but right decisions cost 0")
        found.append(CostCell(codes[0] or 0, codes[1] or 0, feature))
    return numbers, CostColumns(tuple(found))


def completed(
    costs: Any,
    classes: Sequence[Any],
    matrix: Floats,
    columns: CostColumns | None,
    names: Sequence[str],
) -> Any:
    """Add to a dict of costs the cells that it does not name, as they are now; others are returned."""
    if not isinstance(costs, Mapping):
        return costs
    known = ClassNames(classes)
    cells: dict[Any, Any] = {
        (y, k): float(matrix[y, k]) for y, k in np.ndindex(matrix.shape) if y != k
    }
    cells |= {(y, k): names[feature] for y, k, feature in (columns.cells if columns else ())}
    odd = {}
    for cell, cost in costs.items():
        pair = cell if isinstance(cell, tuple) and len(cell) == 2 else (None, None)
        codes = tuple(known.find(name) for name in pair)
        if None in codes:
            odd[cell] = cost  # refused with the rest
        else:
            cells[codes] = cost
    return {(known.classes[y], known.classes[k]): cost for (y, k), cost in cells.items()} | odd


def _feature(column: str, where: str, names: Sequence[str] | None, categorical: Any) -> int:
    if names is None:
        raise CostError(
            f"{where} is {column!r}, the name of a column, but X is an array without names: give a "
            "data frame, or costs by sample to fit and predict"
        )
    if column not in names:
        raise CostError(
            f"{where} is {column!r}, neither a number nor a column of the table: write a number of 0 "
            f"or more, or one of its columns, {listed(list(names))}"
        )
    feature = list(names).index(column)
    if categorical[feature]:
        raise CostError(
            f"{where} names the column {column!r}, which holds text or categories: name a column "
            "with numbers"
        )
    return feature


def rows_of_cube(cube: Floats, labels: Labels) -> Floats:
    """(N, K) the costs of samples whose classes are known."""
    return cube[np.arange(len(labels)), labels]
