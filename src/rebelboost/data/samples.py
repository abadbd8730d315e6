"""Samples with their classes, costs and weights; and parts of them."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints, Labels, Values
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import Judge, State
from rebelboost.losses.exponential import SUBCOSTS


@dataclass(frozen=True)
class Problem:
    """Samples with their classes, costs and weights."""

    X: Values
    labels: Labels
    costs: Floats
    """What each decision costs: (K, K) by class, or (N, K) by sample."""
    by_sample: bool = False
    weight: BySample | None = None

    row_numbers: Ints | None = None
    """(N,) where each sample is in the table that the user gave; None: all of it, in its order."""

    @property
    def rows_of_table(self) -> Ints:
        """(N,) where each sample is in the table that the user gave."""
        if self.row_numbers is not None:
            return self.row_numbers
        return np.arange(len(self.labels))

    def state(self, settings: Settings, judge: Judge | None = None) -> State:
        """Scores of 0, and their weights."""
        # In units in which squares neither over- nor underflow; the mean loss is in the user's.
        unit = int(np.frexp(self.costs.max(initial=0.0))[1]) - 1
        costs = np.ldexp(self.costs, -unit)
        rows = costs if self.by_sample else costs[self.labels]
        planes = SUBCOSTS[settings.subcosts](rows, self.labels)
        if self.weight is not None:
            planes *= self.weight[:, np.newaxis]
        total = len(self.labels) if self.weight is None else math.fsum(self.weight)
        risk = settings.risk(planes, math.ldexp(total, -unit))
        return State(risk, self.judge() if judge is None else judge)

    @property
    def identity(self) -> Values:
        """What tells samples of one class apart."""
        return self.X

    def judge(self) -> Judge:
        """Judges decisions by these labels and costs."""
        return Judge(self.labels, self.costs, self.weight, self.by_sample)

    def rows(self, chosen: NDArray[np.bool_]) -> "Problem":
        """Keep the chosen samples only."""
        return self.take(np.flatnonzero(chosen))

    def take(self, samples: Ints) -> "Problem":
        """Take samples in the given order."""
        return Problem(
            self.X[samples],
            self.labels[samples],
            self.costs[samples] if self.by_sample else self.costs,
            self.by_sample,
            None if self.weight is None else self.weight[samples],
            self.rows_of_table[samples],
        )


class Trainable(Protocol):
    """What `train` needs to know of samples: a `Problem`, or a regression's."""

    @property
    def X(self) -> Values:  # noqa: N802  (scikit-learn's name)
        """(N, d)."""

    @property
    def labels(self) -> Labels:
        """(N,) classes, by which samples are held out; all 0 in a regression."""

    @property
    def identity(self) -> Values:
        """(N, …) what tells samples of one class apart."""

    @property
    def weight(self) -> BySample | None:
        """(N,)."""

    def state(self, settings: Settings) -> State:
        """Scores of 0, and their weights."""
