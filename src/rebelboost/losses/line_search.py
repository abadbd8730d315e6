"""Minima of many convex functions of one variable at once."""

from collections.abc import Callable

import numpy as np

from rebelboost.base.arrays import Floats

MOST_STEPS = 60
PRECISION = 1e-6
"""Of the last step, relative to the reach. Newton's error after it is about its square."""

Derivatives = Callable[[Floats], tuple[Floats, Floats]]
"""Of all functions at the given points, each at its own: first and second."""


def minimise(derivatives: Derivatives, at_zero: Floats, curvature: Floats, reach: float) -> Floats:
    """Find where the first derivatives are 0, by safeguarded Newton steps from 0.

    `at_zero` and `curvature` are the derivatives there. The first step is cut to `reach`, the distance
    over which the second derivative may change much, the next ones to 2, 4, … times that; one that
    does not end within the bracket of the minimum, as far as it is known, halves the bracket instead.
    """
    a = np.zeros_like(at_zero)
    low = np.where(at_zero < 0, 0.0, -np.inf)
    high = np.where(at_zero > 0, 0.0, np.inf)
    low, high = np.where(at_zero == 0, 0.0, low), np.where(at_zero == 0, 0.0, high)
    slope = at_zero
    for i in range(MOST_STEPS):
        following = a + _newton(slope, curvature, 2.0**i * reach)
        # Both ends are finite where a step can leave the bracket: it never leaves an end at infinity.
        # One that comes back to an end would go on from there as before, to and fro for ever.
        leaves = ((following <= low) | (following >= high)) & (following != a)
        middle = np.where(leaves, low, 0.0) / 2 + np.where(leaves, high, 0.0) / 2
        following = np.where(leaves, middle, following)
        largest_step = float(np.abs(following - a).max(initial=0.0))
        a = following
        if largest_step <= PRECISION * reach:
            break
        slope, curvature = derivatives(a)
        low = np.where(slope <= 0, np.maximum(low, a), low)
        high = np.where(slope >= 0, np.minimum(high, a), high)
    return a


def _newton(slope: Floats, curvature: Floats, reach: float) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        step = -slope / curvature
    return np.where(slope == 0, 0.0, np.clip(step, -reach, reach))
