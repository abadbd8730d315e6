"""What is known of the targets and weights of all parts: sums and ends, to the last bit."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Ints
from rebelboost.base.exact_sums import exact_parts
from rebelboost.base.fixed_point import counting_unit, in_units
from rebelboost.distributed.parts import PartRows, RowPart
from rebelboost.distributed.seam import Merge, SpreadRows, added, all_items, largest_of
from rebelboost.estimators.targets import check_spread


@dataclass(frozen=True)
class WeightSums:
    """Sums of the weights of some rows."""

    n_rows: int
    exact: float
    """The sum, rounded once."""
    counted: float
    """The sum of multiples of the unit."""
    unit: float


class WeightsOfPart(NamedTuple):
    """What a part says of the weights of its rows."""

    n_rows: int
    largest: float
    parts: list[float]
    """With the same sum."""


@dataclass(frozen=True)
class DescribeWeights:
    """Describe the weights."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    held: bool

    def obey(self, part: RowPart) -> list[WeightsOfPart]:
        """Answer the description."""
        weight = _weight(part.scored(held=self.held).rows)
        largest = float(weight.max(initial=0.0))
        return [WeightsOfPart(len(weight), largest, exact_parts(weight.tolist()))]


@dataclass(frozen=True)
class CountWeights:
    """Sum up the weights as multiples of a unit."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    unit: float
    held: bool

    def obey(self, part: RowPart) -> tuple[Ints]:
        """Answer the sum."""
        weight = _weight(part.scored(held=self.held).rows)
        return (np.array(in_units(weight, self.unit).sum()).astype(np.int64),)


@dataclass(frozen=True)
class TargetEnds:
    """Find the smallest and the largest target."""

    merge: ClassVar[Merge] = largest_of
    lasting: ClassVar[bool] = False

    def obey(self, part: RowPart) -> tuple[Floats]:
        """Answer minus the smallest, and the largest."""
        target = _target(part)
        ends = [-target, target]
        return (np.array([end.max(initial=-np.inf) for end in ends]),)


@dataclass(frozen=True)
class TargetSums:
    """Sum up the targets, times the weights, in some unit."""

    merge: ClassVar[Merge] = all_items
    lasting: ClassVar[bool] = False
    unit: float

    def obey(self, part: RowPart) -> list[float]:
        """Answer parts of the sum."""
        weighed = _weight(part.scored(held=False).rows) * (_target(part) / self.unit)
        return exact_parts(weighed.tolist())


def _weight(rows: PartRows) -> BySample:
    return np.ones(len(rows)) if rows.weight is None else rows.weight


def _target(part: RowPart) -> BySample:
    target = part.scored(held=False).rows.target
    assert target is not None
    return target


def weight_sums(spread: SpreadRows, *, weighted: bool, held: bool = False) -> WeightSums:
    """Sums of the weights of the rows that are trained on, or of those held out."""
    found: list[WeightsOfPart] = spread.ask(DescribeWeights(held))
    n_rows, largest = sum(own.n_rows for own in found), max(own.largest for own in found)
    exact = math.fsum(part for own in found for part in own.parts)
    unit = counting_unit(largest, n_rows) if weighted else 1.0
    (counted,) = spread.ask(CountWeights(unit, held))
    return WeightSums(n_rows, exact, float(counted * unit), unit)


def first_prediction(spread: SpreadRows, sums: WeightSums) -> float:
    """The mean of all targets (`rebelboost.losses.regression.baseline`)."""
    (ends,) = spread.ask(TargetEnds())
    check_spread(np.array([-ends[0], ends[1]]))
    unit = math.ldexp(1.0, int(np.frexp(np.abs(ends).max())[1]))
    total: Any = spread.ask(TargetSums(unit))
    return unit * (math.fsum(total) / sums.exact)
