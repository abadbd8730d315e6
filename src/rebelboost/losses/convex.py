"""The interface of a convex loss: its value, slope and curvature at the scores.

`rebelboost.rows.slopes` turns them into weights for learners, and finds outputs by a line search.
"""

from abc import abstractmethod
from typing import Any, Protocol

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Outputs, Scores


class ConvexLoss(Protocol):
    """A convex loss of each score, for given samples. Arrays are (N, K)."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(N, K)."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """Distance over which the curvature may change substantially; ∞ for a parabola."""

    @abstractmethod
    def values(self, scores: Scores) -> Floats:
        """The loss of every score."""

    @abstractmethod
    def derivatives(self, scores: Scores) -> tuple[Floats, Floats]:
        """Its slope, and its curvature or an upper bound of it."""

    def sums_along(self, slopes: Any, where: Any, outputs: Outputs) -> tuple[Outputs, Outputs]:
        """Sums of the derivatives in each region, after adding the outputs; by differentiating there."""
        found: tuple[Outputs, Outputs] = slopes.sums_at(where, outputs)
        return found

    def leaf_outputs(self, slopes: Any, where: Any, ridge: Floats) -> Outputs:
        """The best output of each region, with ridge·a²/2 added to its loss; by line search."""
        found: Outputs = slopes.best_outputs(where, ridge)
        return found


def largest(values: Floats) -> ByClass:
    """max_n |values|, by class: NumPy is faster column by column."""
    if len(values) == 0:
        return np.zeros(values.shape[1])
    return np.array([max(column.max(), -column.min()) for column in values.T])


def along(values: Floats, direction: ByClass) -> Floats:
    """⟨values_n, direction⟩ of each sample, summed class by class: the order of the rows changes no bit."""
    projected = np.zeros(len(values))
    for k, factor in enumerate(direction):
        projected += values[:, k] * factor
    return projected


def parabola_outputs(slopes: Any, where: Any, ridge: Floats) -> Outputs:
    """−P/(W + ridge) of each region: the minimum of a parabola."""
    signed, mass = slopes.region_derivatives(where, np.zeros(ridge.shape))
    flat = mass + ridge
    return np.divide(-signed, flat, out=np.zeros(ridge.shape), where=flat > 0)
