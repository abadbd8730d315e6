"""Cost report: the confusion matrix in counts and in costs, as readable text."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rebelboost.base.arrays import ByClass, BySample, Floats, Labels
from rebelboost.base.findings import (
    GAP,
    IN_TEXT,
    Block,
    Column,
    Document,
    Matrix,
    Only,
    Sentence,
    Table,
    as_text,
)
from rebelboost.base.names import printed, shown
from rebelboost.base.text import amount, percent_change

MOST_TABLED = 10
"""Maximum number of decisions for which the full confusion matrix is printed."""


@dataclass(frozen=True)
class Cell:
    """Mistakes of one kind: a true class and a decision."""

    true: Any
    decided: Any
    count: float
    cost: float
    """Cost of one such mistake."""

    @property
    def total(self) -> float:
        """Cost of all of them."""
        return self.count * self.cost

    def text(self, *, with_costs: bool = True) -> str:
        """The kind of mistake and its number and, if asked, what it costs."""
        costs = f" × {amount(self.cost)} = {amount(self.total)}" if with_costs else ""
        kind = f"{printed(self.true)} decided as {printed(self.decided)}"
        return f"{kind}: {amount(self.count)}{costs}"

    __str__ = text


@dataclass(frozen=True, eq=False)
class CostReport:
    """What decisions cost. Printing it shows a table.

    Created by `rebelboost.metrics.cost_report`.
    """

    classes: tuple[Any, ...]
    """K names of the true classes (rows)."""
    decisions: tuple[Any, ...]
    """Names of the decisions (columns): the classes and, if any, the label for abstaining."""
    costs: Floats
    """(K, decisions) cost of a single decision."""
    counts: Floats
    """(K, decisions) confusion matrix, weighted by sample weights if there are any."""
    rival_totals: Mapping[str, float]
    """Total cost of other predictions, by name."""
    constants: ByClass | None = None
    """Total cost of always making each decision, if costs differ from sample to sample, or if the model can
    abstain on some samples only: then for the K classes.
    """

    @property
    def money(self) -> Floats:
        """(K, decisions) confusion matrix multiplied by the costs."""
        return self.counts * self.costs

    @property
    def n_decisions(self) -> float:
        """Number of decisions, or their total weight."""
        return float(self.counts.sum())

    @property
    def total(self) -> float:
        """Total cost of all decisions."""
        return float(self.money.sum())

    @property
    def mean(self) -> float:
        """Mean cost of a decision."""
        return self.total / self.n_decisions

    @property
    def constant(self) -> Any:
        """The decision that would be cheapest if it were always made."""
        return self.decisions[int(np.argmin(self.constant_totals))]

    @property
    def constant_total(self) -> float:
        """Total cost of always making that decision."""
        return float(self.constant_totals.min())

    @property
    def constant_totals(self) -> ByClass:
        """(decisions,) what always taking each of them would cost."""
        if self.constants is not None:
            return self.constants
        totals: ByClass = self.counts.sum(axis=1) @ self.costs
        return totals

    def worst(self, most: int = 5) -> list[Cell]:
        """The kinds of mistake with the highest total cost, most expensive first.

        Parameters
        ----------
        most : int, default=5
            Maximum number of kinds.

        Returns
        -------
        list of Cell
            Kinds with a positive total cost only.
        """
        money = self.money
        order = np.argsort(-money, axis=None, kind="stable")[:most]
        cells = [divmod(int(i), len(self.decisions)) for i in order]
        return [
            Cell(
                self.classes[y],
                self.decisions[k],
                float(self.counts[y, k]),
                float(self.costs[y, k]),
            )
            for y, k in cells
            if money[y, k] > 0
        ]

    def __str__(self) -> str:
        return as_text(self.document())

    def document(self, *, with_costs: bool = True) -> Document:
        """The costs and the confusion matrix; without costs, the counts of decisions only."""
        small = len(self.decisions) <= MOST_TABLED
        rows, columns = [*map(printed, self.classes)], [*map(printed, self.decisions)]
        money = self.money if with_costs else None
        matrix = [Matrix(rows, columns, self.counts, money)] if small else []
        if not with_costs and small:
            return matrix
        worst = self.worst()
        lines = [Sentence(cell.text(with_costs=with_costs), "inset") for cell in worst]
        if not with_costs:
            return [Only(IN_TEXT, [Sentence("Most frequent mistakes"), *lines])]
        n, total, mean = map(amount, (self.n_decisions, self.total, self.mean))
        opening = Sentence(f"{n} decisions cost {total} in total, {mean} each")
        mistakes = (GAP, Sentence("Most expensive mistakes"), *lines) if worst else ()
        said: list[Block] = [opening, GAP, self._comparison(), *mistakes, *([GAP] if small else [])]
        return [Only(IN_TEXT, said), *matrix]

    def _comparison(self) -> Table:
        rivals = [
            *self.rival_totals.items(),
            (f"always {shown(self.constant)}", self.constant_total),
        ]
        names, totals = zip(("this", self.total), *rivals, strict=True)
        changes = [percent_change(self.total, total) if self.total else "" for _, total in rivals]
        each = [total / self.n_decisions for total in totals]
        return Table(
            [
                Column("decisions", names, head=""),
                Column("each", each, amount, kind="number"),
                Column("total", totals, amount, kind="number"),
                Column("change", ["", *changes], head="", kind="number"),
            ]
        )


def by_row(
    report: CostReport, true: Labels, decided: Labels, prices: Floats, weight: BySample
) -> CostReport:
    """The same decisions, priced by what each costs for its own sample.

    `prices` are (n, decisions), given the true class. The costs of the report become the means of its cells.
    """
    shape = report.counts.shape
    cells = np.ravel_multi_index((true, decided), shape)
    paid = np.bincount(cells, weight * prices[np.arange(len(true)), decided], report.counts.size)
    priced = weight[:, np.newaxis] * prices
    of_class = np.array([priced[true == k].sum(axis=0) for k in range(shape[0])])
    n_class = np.bincount(true, weight, shape[0])
    means = of_class / np.where(n_class > 0, n_class, 1.0)[:, np.newaxis]
    counts = report.counts
    costs = np.where(counts > 0, paid.reshape(shape) / np.where(counts > 0, counts, 1), means)
    return replace(report, costs=costs, constants=priced.sum(axis=0))
