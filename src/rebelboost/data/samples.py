"""Training samples: values, what is to be predicted, costs and weights.

Samples are data. How a learner prepares them, and what a loss makes of them, is not their business.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Bytes, Floats, Ints, Labels, Values


class AnySamples(Protocol):
    """What `Samples` and `NumberSamples` have in common."""

    @property
    def X(self) -> Values:  # noqa: N802  (scikit-learn's name)
        """(N, d) values; NaN is missing, a category is a code."""

    @property
    def labels(self) -> Labels:
        """(N,) codes of classes, by which samples are held out; all 0 in a regression."""

    @property
    def weight(self) -> BySample | None:
        """(N,) how much each sample counts; None: all the same."""

    @property
    def categories(self) -> Bytes:
        """(d,) 1 for features that hold categories."""

    @property
    def identity(self) -> Values:
        """(N, …) what tells samples of one class apart."""


@dataclass(frozen=True)
class Samples:
    """Samples with their classes, costs and weights."""

    X: Values
    """(N, d)"""
    labels: Labels
    """(N,)"""
    costs: Floats
    """What each decision costs: (K, K) by class, or (N, K) by sample."""
    by_sample: bool = False
    """Whether costs are by sample."""
    weight: BySample | None = None
    """(N,)"""
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
        """K."""
        return self.costs.shape[1]

    @property
    def categories(self) -> Bytes:
        """(d,) 1 for features that hold categories."""
        return categories_of(self)

    @property
    def rows_of_table(self) -> Ints:
        """(N,) the row of each sample in the table that the user gave."""
        return np.arange(len(self)) if self.row_numbers is None else self.row_numbers

    @property
    def identity(self) -> Values:
        """What tells samples of one class apart."""
        return self.X

    def rows(self, chosen: NDArray[np.bool_]) -> Self:
        """Keep the chosen samples only."""
        return self.take(np.flatnonzero(chosen))

    def take(self, samples: Ints) -> Self:
        """Take samples in the given order."""
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

    def weighed(self, share: BySample) -> Self:
        """The same samples with a share of their weight."""
        return replace(self, weight=share if self.weight is None else self.weight * share)

    @classmethod
    def joined(cls, parts: Sequence["Samples"]) -> "Samples":
        """All samples of the parts, which are of the same table."""
        first = parts[0]
        weights = [np.ones(len(p)) if p.weight is None else p.weight for p in parts]
        cubes = [part.decided_by for part in parts if part.decided_by is not None]
        return replace(
            first,
            X=np.concatenate([part.X for part in parts]),
            labels=np.concatenate([part.labels for part in parts]),
            costs=np.concatenate([p.costs for p in parts]) if first.by_sample else first.costs,
            weight=None if all(p.weight is None for p in parts) else np.concatenate(weights),
            decided_by=np.concatenate(cubes) if cubes else None,
            row_numbers=np.concatenate([part.rows_of_table for part in parts]),
            groups=None,
            times=None,
        )


@dataclass(frozen=True)
class NumberSamples:
    """Samples with the numbers that a regression predicts."""

    X: Values
    """(N, d)"""
    target: BySample
    """(N,) less the baseline."""
    weight: BySample | None = None
    """(N,)"""
    categorical: Bytes | None = None
    """(d,) 1 for features that hold categories; None: no feature does."""
    groups: Ints | None = None
    """(N,) samples with equal numbers are left out together; None: each by itself."""
    times: Ints | None = None
    """(N,) rank of each sample in time; None: the order does not matter."""

    def __len__(self) -> int:
        return len(self.target)

    @property
    def labels(self) -> Labels:
        """All of one class, where samples are drawn by class."""
        return np.zeros(len(self.target), dtype=np.int32)

    @property
    def categories(self) -> Bytes:
        """(d,) 1 for features that hold categories."""
        return categories_of(self)

    @property
    def identity(self) -> Floats:
        """What tells samples apart: equal values may have unequal targets."""
        return np.column_stack([self.X, self.target]).astype(np.float64)

    def rows(self, chosen: NDArray[np.bool_]) -> Self:
        """Keep the chosen samples only."""
        return replace(
            self,
            X=self.X[chosen],
            target=self.target[chosen],
            weight=None if self.weight is None else self.weight[chosen],
            groups=None if self.groups is None else self.groups[chosen],
            times=None if self.times is None else self.times[chosen],
        )

    def weighed(self, share: BySample) -> Self:
        """The same samples with a share of their weight."""
        return replace(self, weight=share if self.weight is None else self.weight * share)


def categories_of(samples: Samples | NumberSamples) -> Bytes:
    """(d,) flags of the features that hold categories."""
    if samples.categorical is None:
        return np.zeros(samples.X.shape[1], dtype=np.uint8)
    return samples.categorical
