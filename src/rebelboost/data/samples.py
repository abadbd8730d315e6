"""Training samples: values, labels or targets, costs and weights.

Samples are plain data. Learners prepare them for their search, and losses derive weights from them.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Bytes, Floats, Ints, Labels, Values


@dataclass(frozen=True)
class Samples:
    """Samples with their classes and costs, or with the targets of a regression, and their weights."""

    X: Values
    """(N, d) values; NaN is missing, categories are codes."""
    labels: Labels
    """(N,) class codes; all 0 in a regression."""
    costs: Floats
    """Costs of decisions: (K, K) by class, or (N, K) by sample; (1, 1) in a regression."""
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
    target: BySample | None = None
    """(N,) targets of a regression, minus the baseline; None for classes."""
    given: BySample | None = None
    """(N,) targets as the user gave them; None: `target`. The baseline's rounding must not move samples."""

    @classmethod
    def of_targets(
        cls,
        X: Values,
        target: BySample,
        weight: BySample | None = None,
        categorical: Bytes | None = None,
        **others: Any,
    ) -> Self:
        """Samples of a regression; `others` are any other fields."""
        labels = np.zeros(len(target), dtype=np.int32)
        return cls(
            X,
            labels,
            np.zeros((1, 1)),
            weight=weight,
            categorical=categorical,
            target=target,
            **others,
        )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        """Number of classes, K; 1 in a regression."""
        return self.costs.shape[1]

    @property
    def categories(self) -> Bytes:
        """(d,) 1 for categorical features."""
        if self.categorical is None:
            return np.zeros(self.X.shape[1], dtype=np.uint8)
        return self.categorical

    @property
    def rows_of_table(self) -> Ints:
        """(N,) row of each sample in the user's table."""
        return np.arange(len(self)) if self.row_numbers is None else self.row_numbers

    @property
    def identity(self) -> Values:
        """(N, …) values that distinguish samples of one class; in a regression, values and targets."""
        told_by = self.target if self.given is None else self.given
        if told_by is None:
            return self.X
        return np.column_stack([self.X, told_by]).astype(np.float64)

    @property
    def beside(self) -> list[BySample]:
        """(N,) arrays that distinguish samples with equal `identity`, besides their weights."""
        return list(self.costs.T) if self.by_sample else []

    def rows(self, chosen: NDArray[np.bool_]) -> Self:
        """Select samples by a mask."""
        return self.take(np.flatnonzero(chosen))

    def take(self, samples: Ints) -> Self:
        """Select samples by index, in the given order."""

        def own(values: Any) -> Any:
            return None if values is None else values[samples]

        return replace(
            self,
            X=self.X[samples],
            labels=self.labels[samples],
            costs=self.costs[samples] if self.by_sample else self.costs,
            weight=own(self.weight),
            decided_by=own(self.decided_by),
            row_numbers=self.rows_of_table[samples],
            groups=own(self.groups),
            times=own(self.times),
            target=own(self.target),
            given=own(self.given),
        )
