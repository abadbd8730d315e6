"""Roots of many rising functions of one variable at once, by safeguarded Newton steps."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats

MOST_STEPS = 60
TINY = 1e-300

Derivatives = Callable[[Floats], tuple[Floats, Floats]]
"""Values and slopes of all functions, each at its own point."""


class Precision(NamedTuple):
    """When to stop, and how far to step at once."""

    reach: float
    """The first step is cut to this length: far from the root the slope promises too much."""
    growth: float = 1.0
    """The reach of each step over that of the step before it."""
    gain: float = 0.0
    """Stop if the next step promises to lower no integral of the functions by more."""
    step: float = 0.0
    """Stop if no step was longer."""


def rising_root(derivatives: Derivatives, start: Floats, precision: Precision) -> Floats:
    """Find where rising functions are 0.

    A step that leaves the bracket in which the root is known to be halves the bracket instead.
    """
    at, reach = start, precision.reach
    low, high = np.full(start.shape, -np.inf), np.full(start.shape, np.inf)
    for _ in range(MOST_STEPS):
        value, slope = derivatives(at)
        step = value / np.maximum(slope, TINY)
        following = at - np.minimum(np.maximum(step, -reach), reach)
        if (value * step).max(initial=0.0) < precision.gain:
            return following
        low, high = np.where(value < 0, at, low), np.where(value > 0, at, high)
        # A step that comes back to an end would go on from there as before, to and fro for ever.
        outside = ((following <= low) | (following >= high)) & np.isfinite(low) & np.isfinite(high)
        if precision.step:  # a point that does not move any more is done
            outside &= following != at
        if outside.any():
            following[outside] = low[outside] / 2 + high[outside] / 2
        if precision.step and np.abs(following - at).max(initial=0.0) <= precision.step:
            return following
        at, reach = following, reach * precision.growth
    return at
