"""Training samples: values, labels or targets, costs and weights.

Samples are plain data. Learners prepare them for their search, and losses derive weights from them.
"""

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Bytes, Floats, Ints, Labels, Values


class AnySamples(Protocol):
    """Common interface of `Samples` and `NumberSamples`."""

    @property
    def X(self) -> Values:  # noqa: N802  (scikit-learn's name)
        """(N, d) values; NaN is missing, categories are codes."""

    @property
    def labels(self) -> Labels:
        """(N,) class codes, used to hold out samples by class; all 0 in a regression."""

    @property
    def weight(self) -> BySample | None:
        """(N,) sample weights; None: all equal."""

    @property
    def categories(self) -> Bytes:
        """(d,) 1 for categorical features."""

    @property
    def identity(self) -> Values:
        """(N, …) values that distinguish samples of one class."""

    @property
    def beside(self) -> list[BySample]:
        """(N,) arrays that distinguish samples with equal `identity`, besides their weights."""

    @property
    def rows_of_table(self) -> Ints:
        """(N,) row of each sample in the user's table."""

    def rows(self, chosen: NDArray[np.bool_]) -> Self:
        """Select samples by a mask."""


@dataclass(frozen=True)
class Samples:
    """Samples with their classes, costs and weights."""

    X: Values
    """(N, d) values."""
    labels: Labels
    """(N,) class codes."""
    costs: Floats
    """Costs of decisions: (K, K) by class, or (N, K) by sample."""
    by_sample: bool = False
    """Whether costs are by sample."""
    weight: BySample | None = None
    """(N,) sample weights; None: all equal."""
    categorical: Bytes | None = None
    """(d,) 1 for features that hold categories; None: no feature does."""
    decided_by: Floats | None = None
    """(N, K, K) the costs that decisions on the samples follow, where they differ; None: by class."""
    row_numbers: Ints | None = None
    """(N,) the row of each sample in the table that the user gave; None: all rows, in their order."""
    groups: Ints | None = None
    """(N,) samples with equal numbers are left out together; None: each by itself."""
    times: Ints | None = None
    """(N,) rank of each sample in time; None: the order does not matter."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.costs.shape[1]

    @property
    def categories(self) -> Bytes:
        """(d,) 1 for categorical features."""
        return categories_of(self)

    @property
    def rows_of_table(self) -> Ints:
        """(N,) row of each sample in the user's table."""
        return np.arange(len(self)) if self.row_numbers is None else self.row_numbers

    @property
    def identity(self) -> Values:
        """Values that distinguish samples of one class."""
        return self.X

    @property
    def beside(self) -> list[BySample]:
        """Costs by sample."""
        return list(self.costs.T) if self.by_sample else []

    def rows(self, chosen: NDArray[np.bool_]) -> Self:
        """Select samples by a mask."""
        return self.take(np.flatnonzero(chosen))

    def take(self, samples: Ints) -> Self:
        """Select samples by index, in the given order."""
        return replace(
            self,
            X=self.X[samples],
            labels=self.labels[samples],
            costs=self.costs[samples] if self.by_sample else self.costs,
            weight=None if self.weight is None else self.weight[samples],
            decided_by=None if self.decided_by is None else self.decided_by[samples],
            row_numbers=self.rows_of_table[samples],
            groups=None if self.groups is None else self.groups[samples],
            times=None if self.times is None else self.times[samples],
        )


@dataclass(frozen=True)
class NumberSamples:
    """Samples with numeric targets, for regression."""

    X: Values
    """(N, d) values."""
    target: BySample
    """(N,) targets minus the baseline."""
    weight: BySample | None = None
    """(N,) sample weights; None: all equal."""
    categorical: Bytes | None = None
    """(d,) 1 for features that hold categories; None: no feature does."""
    row_numbers: Ints | None = None
    """(N,) the row of each sample in the table that the user gave; None: all rows, in their order."""
    groups: Ints | None = None
    """(N,) samples with equal numbers are left out together; None: each by itself."""
    times: Ints | None = None
    """(N,) rank of each sample in time; None: the order does not matter."""
    given: BySample | None = None
    """(N,) targets as the user gave them; None: `target`. The baseline's rounding must not move samples."""

    def __len__(self) -> int:
        return len(self.target)

    @property
    def labels(self) -> Labels:
        """(N,) zeros, for functions that draw samples by class."""
        return np.zeros(len(self.target), dtype=np.int32)

    @property
    def categories(self) -> Bytes:
        """(d,) 1 for categorical features."""
        return categories_of(self)

    @property
    def identity(self) -> Floats:
        """Values and targets: samples with equal values may have different targets."""
        told_by = self.target if self.given is None else self.given
        return np.column_stack([self.X, told_by]).astype(np.float64)

    @property
    def beside(self) -> list[BySample]:
        """Nothing."""
        return []

    @property
    def rows_of_table(self) -> Ints:
        """(N,) row of each sample in the user's table."""
        return np.arange(len(self)) if self.row_numbers is None else self.row_numbers

    def rows(self, chosen: NDArray[np.bool_]) -> Self:
        """Select samples by a mask."""
        return self.take(np.flatnonzero(chosen))

    def take(self, samples: Ints) -> Self:
        """Select samples by index, in the given order."""
        return replace(
            self,
            X=self.X[samples],
            target=self.target[samples],
            weight=None if self.weight is None else self.weight[samples],
            row_numbers=self.rows_of_table[samples],
            groups=None if self.groups is None else self.groups[samples],
            times=None if self.times is None else self.times[samples],
            given=None if self.given is None else self.given[samples],
        )


def categories_of(samples: Samples | NumberSamples) -> Bytes:
    """(d,) 1 for categorical features."""
    if samples.categorical is None:
        return np.zeros(samples.X.shape[1], dtype=np.uint8)
    return samples.categorical
