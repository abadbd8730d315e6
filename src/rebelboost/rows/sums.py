"""What a loss has to know of all rows: their number, and sums of weights and targets, to the last bit."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Ints
from rebelboost.base.fixed_point import counting_unit, exact_parts, in_units
from rebelboost.costs.judge import weighed
from rebelboost.rows.base import Merge, Rows, added, all_items, facts_of, largest_of
from rebelboost.rows.block import Block, EncodedRows


class Extremes(NamedTuple):
    """What a block says of its rows."""

    n_rows: int
    largest_weight: float
    largest_cost: float
    """Of costs by sample; 0 without them."""
    largest_paid: float
    """The same times the samples' weights."""


@dataclass(frozen=True)
class FindExtremes:
    """Find the largest weight and cost."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    held: bool = False

    def apply(self, block: Block) -> list[Extremes]:
        """Answer them."""
        rows = block.scored(held=self.held).rows
        largest = 1.0 if rows.weight is None else float(rows.weight.max(initial=0.0))
        if rows.costs is None:
            return [Extremes(len(rows), largest, 0.0, 0.0)]
        paid = weighed(rows.costs, rows.weight).max(initial=0.0)
        return [Extremes(len(rows), largest, float(rows.costs.max(initial=0.0)), float(paid))]


@dataclass(frozen=True)
class CountWeights:
    """Sum up the weights as multiples of a unit."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    unit: float
    held: bool = False

    def apply(self, block: Block) -> tuple[Ints]:
        """Answer the sum."""
        weight = weight_of(block.scored(held=self.held).rows)
        return (np.array(in_units(weight, self.unit).sum()).astype(np.int64),)


@dataclass(frozen=True)
class WeightParts:
    """Sum up the weights."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    held: bool = False

    def apply(self, block: Block) -> list[float]:
        """Answer parts of the exact sum."""
        return exact_parts(weight_of(block.scored(held=self.held).rows).tolist())


@dataclass(frozen=True)
class TargetEnds:
    """Find the smallest and the largest target."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False

    def apply(self, block: Block) -> tuple[Floats]:
        """Answer minus the smallest, and the largest."""
        target = _target(block)
        ends = [-target, target]
        return (np.array([end.max(initial=-np.inf) for end in ends]),)


@dataclass(frozen=True)
class TargetParts:
    """Sum up the targets, times the weights, in some unit."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    unit: float

    def apply(self, block: Block) -> list[float]:
        """Answer parts of the exact sum."""
        weighed_ = weight_of(block.scored(held=False).rows) * (_target(block) / self.unit)
        return exact_parts(weighed_.tolist())


def weight_of(rows: EncodedRows) -> BySample:
    """(n,) the weights; 1 without them."""
    return np.ones(len(rows)) if rows.weight is None else rows.weight


def _target(block: Block) -> BySample:
    target = block.scored(held=False).rows.target
    assert target is not None
    return target


@dataclass(frozen=True)
class Sums:
    """Number and weight of rows."""

    n_rows: int
    counted: float
    """Sum of the weights, as multiples of the unit."""
    unit: float
    largest_cost: float
    paid_unit: float
    """Unit of costs by sample times weights."""


def sums_of(rows: Rows, *, held: bool = False) -> Sums:
    """Number and weight of the rows that are trained on, or of those held out."""
    found: list[Extremes] = rows.ask(FindExtremes(held))
    n_rows = sum(own.n_rows for own in found)
    unit, counted = 1.0, float(n_rows)
    if facts_of(rows).weighted:
        unit = counting_unit(max(own.largest_weight for own in found), n_rows)
        counted = float(rows.ask(CountWeights(unit, held))[0] * unit)
    paid = max(own.largest_paid for own in found)
    largest_cost = max(own.largest_cost for own in found)
    return Sums(n_rows, counted, unit, largest_cost, counting_unit(paid, n_rows))


def total_weight(rows: Rows, *, held: bool = False) -> float:
    """Sum of the weights, rounded once."""
    parts: Any = rows.ask(WeightParts(held))
    return math.fsum(parts)


def mean_target(rows: Rows, ends: Floats) -> float:
    """The mean of all targets (`losses.regression.baseline`), given minus the least and the largest."""
    unit = math.ldexp(1.0, int(np.frexp(np.abs(ends).max())[1]))
    parts: Any = rows.ask(TargetParts(unit))
    return unit * (math.fsum(parts) / total_weight(rows))
