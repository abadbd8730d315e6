"""The interface of a convex loss: its value, slope and curvature at the scores.

`rebelboost.rows.slopes` turns them into weights for learners, and finds outputs by a line search.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Outputs, Planes, Scores


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


@dataclass(frozen=True)
class ClassLossKind:
    """What others need to know of a loss of classes, c⁺g(H) + c⁻g(−H)."""

    make: Callable[[Planes], ConvexLoss] | None
    """Makes it from (V, N, K) subcosts; None: g = eˣ, whose weights are multiplied from round to round."""
    least: Callable[[Floats, Floats], Floats]
    """min_h c⁺g(h) + c⁻g(−h), elementwise, of c⁺ and c⁻."""
    log_ratios: Callable[[Scores], Floats]
    """Logarithm of g′(H)/g′(−H), from which probabilities are computed."""
    scores_with: Callable[[Floats], Scores]
    """Its inverse."""
    slope: float
    """Derivative of the logarithm at 0."""
    is_linear: bool = True
    """Whether the logarithm is proportional to the scores."""
    thesis_bounds_cost: bool = False
    """Whether it bounds the cost with the THESIS subcosts; with REBEL's, every loss does."""

    @property
    def is_multiplied(self) -> bool:
        """Whether weights are multiplied from round to round."""
        return self.make is None


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
