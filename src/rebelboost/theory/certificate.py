"""Certified cost: an upper bound of what decisions will cost, from rows on which nothing was chosen."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Ints, Labels
from rebelboost.base.findings import Block, Column, Described, Document, Sentence, Strong, Table
from rebelboost.base.names import printed
from rebelboost.base.text import counted, number, percent
from rebelboost.costs.betting import Units, units_needed, units_of, upper_bound

LEAST_CONFIDENCE = 0.5


class Charged(NamedTuple):
    """What the decisions on some rows cost."""

    cost: BySample
    """(n,) cost of the decision on each row."""
    weight: BySample
    """(n,) weight of each row."""
    groups: Ints | None
    """(n,) number of the group that a row goes together with; None if rows are independent."""
    greatest: float
    """The greatest cost that any decision can have."""
    seed: int = 0
    """From the rows' values; see `rebelboost.costs.betting`."""

    def of(self, rows: NDArray[np.bool_]) -> "Charged":
        """Those of some rows."""
        groups = None if self.groups is None else self.groups[rows]
        return Charged(self.cost[rows], self.weight[rows], groups, self.greatest, self.seed)

    def with_greatest(self, greatest: float) -> "Charged":
        """The same, where decisions cannot cost more than this."""
        return self._replace(greatest=greatest)

    @property
    def units(self) -> Units:
        """Independent units, for the bound."""
        return units_of(self.cost, self.weight, self.groups, self.greatest, self.seed)


class Bound(NamedTuple):
    """The mean cost of some decisions, and what it is at most for new ones."""

    of: str
    """Which decisions: "all rows", or the name of a class or a part."""
    n: int
    """Number of rows."""
    n_units: int
    """Number of independent units among them."""
    cost: float
    """Mean cost on the rows; NaN without any."""
    bound: float
    """Upper bound of the expected cost of a new row."""


@dataclass(frozen=True, repr=False)
class Certificate(Described):
    """Upper bounds of the expected cost of a decision rule; `print` shows them.

    The bounds in `parts` hold together with the stated confidence, and so does `total` by itself.
    """

    total: Bound
    """All rows."""
    parts: tuple[Bound, ...]
    """Rows of each true class, and of each part that was asked for."""
    confidence: float
    """Probability with which the bounds hold."""
    greatest: float
    """The greatest cost of a decision that the bounds allow for."""
    by_row: bool = False
    """Whether costs differ from row to row, so that `greatest` is an assumption."""
    grouped: bool = False
    """Whether rows go together in groups."""
    target: float | None = None
    """The cost that was asked for."""
    needed: int | None = None
    """Number of rows like these that would bring the bound to the target; None if it is met or out of reach."""
    n_rules: int = 1
    """Number of rules among which this one was chosen; the bound allows for that."""
    abstention: float | None = None
    """What an abstention was charged with; None: the rule never abstains."""

    @property
    def bound(self) -> float:
        """Upper bound of the expected cost."""
        return self.total.bound

    @property
    def cost(self) -> float:
        """Mean cost on the rows."""
        return self.total.cost

    @property
    def holds(self) -> bool:
        """Whether the bound is at most the target; True without one."""
        return self.target is None or self.bound <= self.target

    def document(self) -> Document:
        """The certificate as a document, which `rebelboost.base.findings` renders."""
        head = ["With ", percent(self.confidence), " confidence, a decision costs at most "]
        document: list[Block] = [Sentence([*head, Strong(above(self.bound)), " on average."])]
        document += map(Sentence, self._sentences())
        return [*document, self._table()] if self.parts else document

    def _sentences(self) -> Sequence[str]:
        found = [f"On {self._rows()} that were not used for training, it was {number(self.cost)}."]
        if self.n_rules > 1:
            found.append(
                f"The rule was chosen among {self.n_rules}, and the bound allows for that."
            )
        if self.abstention is not None:
            charge = number(self.abstention) if self.abstention else "nothing"
            found.append(f"An abstention is charged with {charge}.")
        if self.target is not None:
            found.append(self._about_target(self.target))
        limit = f"The greatest possible cost of a decision is {number(self.greatest)}"
        if self.by_row:
            limit += ", the greatest among these rows: the bound holds if no new row costs more"
        if self.grouped:
            found.append("It counts groups, none of which may be larger than the largest of these.")
        found.append(
            f"{limit}. The bound holds for new rows drawn as these were, and for no others."
        )
        return found

    def _rows(self) -> str:
        rows = counted(self.total.n, "row")
        return f"{rows} in {counted(self.total.n_units, 'group')}" if self.grouped else rows

    def _about_target(self, target: float) -> str:
        if self.bound <= target:
            return f"The cost asked for, {number(target)}, is met."
        found = f"The cost asked for, {number(target)}, is not proven"
        if self.needed is None:
            return f"{found}: the mean cost on these rows is too close to it, or above it."
        unit = "groups" if self.grouped else "rows"
        more = self.needed - self.total.n_units
        return f"{found}. With about {more:,} more {unit} like these, it would be."

    def _table(self) -> Table:
        columns: list[Column] = [
            Column("of", [part.of for part in self.parts], head=""),
            Column("rows", [part.n for part in self.parts], "{:,}".format, kind="number"),
            Column("cost", [part.cost for part in self.parts], _shown, "mean cost", "number"),
            Column("bound", [part.bound for part in self.parts], above, "at most", "number"),
        ]
        return Table(
            columns, key="parts", title=f"All of these hold with {percent(self.confidence)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        parts = [part._asdict() for part in self.parts]
        kept = ("confidence", "greatest", "by_row", "grouped", "target", "needed", "n_rules")
        return {
            "bound": self.bound,
            **self.total._asdict(),
            **{name: getattr(self, name) for name in kept},
            "abstention": self.abstention,
            "parts": [{**p, "cost": None if p["n"] == 0 else p["cost"]} for p in parts],
        }


def certificate(
    charged: Charged,
    parts: Mapping[str, Charged],
    confidence: float,
    *,
    by_row: bool = False,
    target: float | None = None,
    n_rules: int = 1,
) -> Certificate:
    """Bound the expected cost of all rows, and of parts of them."""
    delta = (1 - confidence) / n_rules
    total = _bound("all rows", charged, delta)
    needed = None
    if target is not None and total.bound > target:
        needed = units_needed(charged.units, target / charged.greatest, delta)
    return Certificate(
        total,
        tuple(_bound(name, part, delta / len(parts)) for name, part in parts.items()),
        confidence,
        charged.greatest,
        by_row,
        charged.groups is not None,
        target,
        needed,
        n_rules,
    )


def _bound(name: str, charged: Charged, delta: float) -> Bound:
    units = charged.units
    if len(units.cost) == 0:
        return Bound(name, len(charged.cost), 0, float("nan"), charged.greatest)
    found = charged.greatest * upper_bound(units, delta)
    return Bound(name, len(charged.cost), len(units.cost), charged.greatest * units.mean, found)


def above(bound: float) -> str:
    """A bound as text, rounded up, so that what is read holds too."""
    text = number(bound)
    if float(text.replace(",", "")) >= bound:
        return text
    return number(bound + 10.0 ** (math.floor(math.log10(bound)) - 2) / 2)


def _shown(cost: float) -> str:
    return "–" if np.isnan(cost) else number(cost)


def parts_of(
    charged: Charged, codes: Ints | Labels, names: Sequence[Any], what: str
) -> dict[str, Charged]:
    """The rows of each code, by a name for each: "true class ham"."""
    return {f"{what} {printed(name)}": charged.of(codes == k) for k, name in enumerate(names)}
