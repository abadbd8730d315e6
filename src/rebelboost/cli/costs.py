"""Read a cost matrix from a file with the class names in the first row and the first column.

A cell is a number or the name of a column, such as amount: then each row has its own cost.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rebelboost.base.arrays import Floats
from rebelboost.base.names import ClassNames, listed, printed, shown
from rebelboost.base.text import amount
from rebelboost.costs.matrix import cost_matrix, is_uniform
from rebelboost.exceptions import CostError
from rebelboost.tables.columns import cells
from rebelboost.tables.files import opened

MOST_LISTED = 4
"""Number of costs that the summary lists."""


class CostFile(NamedTuple):
    """The cells of a cost file."""

    path: Path
    text: pl.DataFrame
    """The true classes in the first column, the predicted classes as names of the others."""

    @property
    def named(self) -> list[tuple[str, str, str]]:
        """Cells that are not numbers, with their true and predicted class: names of columns."""
        first, *others = self.text.columns
        return [
            (str(true), decided, cell)
            for decided in others
            for true, cell in zip(self.text[first], self.text[decided], strict=True)
            if cell is not None and not _is_number(cell)
        ]


class CostTable(NamedTuple):
    """Costs of mistakes: numbers and, in some cells, columns of the table."""

    matrix: Floats
    """(K, K) costs[true, decided]; 0 where a column holds the cost."""
    columns: Mapping[tuple[int, int], str]
    """(true, decided) → column."""
    classes: Sequence[Any]

    @property
    def is_uniform(self) -> bool:
        """Whether all mistakes cost the same."""
        return not self.columns and is_uniform(self.matrix)

    @property
    def given(self) -> Any:
        """The costs in a form that `RebelClassifier` takes."""
        if not self.columns:
            return self.matrix
        names = self.classes
        return {
            (true, decided): self.columns.get((i, j), float(self.matrix[i, j]))
            for i, true in enumerate(names)
            for j, decided in enumerate(names)
            if i != j
        }

    def cells(self) -> list[list[Any]]:
        """The matrix with the names of columns, for --json."""
        named: list[list[Any]] = self.matrix.tolist()
        for (i, j), column in self.columns.items():
            named[i][j] = column
        return named


def open_costs(path: Path) -> CostFile:
    """Read the cells of a cost file."""
    with opened(path, headed=True) as table:
        text = table.frame.cast(pl.String).select(cells(n).alias(n) for n in table.names).collect()
    first, *others = text.columns
    # A comma within a number is a decimal comma: costs have no thousands separators.
    numbers = text.select(pl.col(others).str.replace(",", ".", literal=True))
    cleaned = [
        pl.Series(
            n,
            [b if b and _is_number(b) else a for a, b in zip(text[n], numbers[n], strict=True)],
            dtype=pl.String,
        )
        for n in others
    ]
    return CostFile(path, text.select(first).with_columns(cleaned))


def read_costs(file: CostFile, classes: Sequence[Any], columns: Mapping[str, str]) -> CostTable:
    """Check costs[true, decided] for `classes`; `columns` are the features: name → kind."""
    known = ClassNames(classes)
    named = {}
    for true, decided, column in file.named:
        where = f"{file.path}: the cost of {shown(true)} decided as {shown(decided)}"
        _check_column(where, column, columns)
        cell = known.find(true), known.find(decided)
        if cell[0] is not None and cell[1] is not None:  # others are refused below
            if cell[0] == cell[1]:
                raise CostError(f"{where} is {column!r}, but right decisions cost 0: write 0")
            named[cell[0], cell[1]] = column
    first, *others = file.text.columns
    words = [cell for _, _, cell in file.named]
    numbers = file.text.select(
        first,
        *(
            pl.when(pl.col(n).is_in(words)).then(pl.lit("0")).otherwise(pl.col(n)).alias(n)
            for n in others
        ),
    )
    try:
        return CostTable(cost_matrix(numbers, classes), named, list(classes))
    except CostError as error:
        raise CostError(f"{file.path}: {error}") from error


def _check_column(where: str, column: str, columns: Mapping[str, str]) -> None:
    kind = columns.get(column)
    if kind is None:
        numbers = [name for name, kind in columns.items() if kind == "number"]
        raise CostError(
            f"{where} is {column!r}, neither a number nor a column that the model uses: write a number "
            f"of 0 or more, or a column of numbers, {listed(numbers)}"
        )
    if kind != "number":
        raise CostError(
            f"{where} is the column {column!r}, which holds no numbers: name a column of numbers"
        )


def check_amounts(
    frame: pl.DataFrame, columns: Sequence[str], place: Callable[[int], tuple[int, Path]]
) -> None:
    """Raise an error if a cost that a column holds is missing or negative.

    `place` returns the number of a row of the frame in its file, from 1, and the file.
    """
    for name in columns:
        bad = (frame[name].is_null() | (frame[name] < 0)).fill_null(value=True)
        if bad.any():
            row = int(bad.arg_max() or 0)
            value = frame[name][row]
            told = "missing" if value is None else f"{value:g}"
            number, source = place(row)
            raise CostError(
                f"row {number:,} of {source}: the cost in column {name!r} is {told}; costs are 0 or "
                "more: correct this cell, or remove the row"
            )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def costs_text(costs: CostTable) -> str:
    """List the most expensive mistakes, those that columns hold first."""
    if costs.is_uniform:
        return "all mistakes cost the same"
    names = [printed(name) for name in costs.classes]
    some = [
        f"{names[true]} decided as {names[decided]} costs {column!r} of its row"
        for (true, decided), column in costs.columns.items()
    ]
    order = np.argsort(-costs.matrix, axis=None, kind="stable")
    pairs = [divmod(int(cell), len(names)) for cell in order]
    some += [
        f"{names[i]} decided as {names[j]} costs {amount(costs.matrix[i, j])}"
        for i, j in pairs
        if i != j and (i, j) not in costs.columns
    ]
    return "; ".join(some[:MOST_LISTED]) + ("; …" if len(some) > MOST_LISTED else "")
