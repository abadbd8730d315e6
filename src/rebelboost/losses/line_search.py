"""Roots of many increasing functions of one variable at once, by safeguarded Newton steps."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats

MOST_STEPS = 60
"""Maximum number of steps."""
TINY = 1e-300
"""Smallest slope that a value is divided by."""

Derivatives = Callable[[Floats], tuple[Floats, Floats]]
"""Returns the values and the slopes of all functions, each at its own point."""


class Precision(NamedTuple):
    """Stopping rules, and limits of the step length."""

    reach: float
    """Maximum length of the first step; far from the root, Newton steps are too long."""
    growth: float = 1.0
    """Ratio of the maximum length of each step to that of the step before."""
    gain: float = 0.0
    """Stop if the next step is predicted to lower no integral of the functions by more than this."""
    step: float = 0.0
    """Stop if no step was longer than this."""


def rising_root(derivatives: Derivatives, start: Floats, precision: Precision) -> Floats:
    """Find the roots of increasing functions.

    A step that leaves the bracket known to contain the root is replaced by bisection, and so is one that
    is more than half as long as the step before it: from one end to the other, Newton steps may creep.
    """
    at, reach = start, precision.reach
    length = np.full(start.shape, np.inf)
    low, high = np.full(start.shape, -np.inf), np.full(start.shape, np.inf)
    for _ in range(MOST_STEPS):
        value, slope = derivatives(at)
        step = value / np.maximum(slope, TINY)
        following = at - np.minimum(np.maximum(step, -reach), reach)
        if (value * step).max(initial=0.0) < precision.gain:
            return following
        low, high = np.where(value < 0, at, low), np.where(value > 0, at, high)
        # A step back to an end of the bracket counts as outside: it would cycle between the ends.
        creeping = np.abs(following - at) > np.maximum(length / 2, precision.step)
        outside = (following <= low) | (following >= high) | creeping
        outside &= np.isfinite(low) & np.isfinite(high)
        if precision.step:  # a point that no longer moves has converged
            outside &= following != at
        if outside.any():
            following[outside] = low[outside] / 2 + high[outside] / 2
        if precision.step and np.abs(following - at).max(initial=0.0) <= precision.step:
            return following
        length = np.abs(following - at)
        at, reach = following, reach * precision.growth
    return at
