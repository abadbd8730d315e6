"""Responses with many discrete levels.

Each level is within 3 % of the real value it replaces. Sums over samples become sums over levels, so the
line search and the update of the weights need one exponential per level instead of one per sample.
"""

import numpy as np

from rebelboost.base.arrays import OCTAVES, STEPS, Floats


def _levels() -> Floats:
    """Increasing responses: the middle of every level, 0, and ±1 at the ends."""
    step = np.arange(STEPS * OCTAVES)
    sizes = np.ldexp(1 + (step % STEPS + 0.5) / STEPS, step // STEPS - OCTAVES)
    return np.concatenate([[-1.0], -sizes[::-1], [0.0], sizes, [1.0]])


LEVELS = _levels()
"""(levels,) the values of a response."""
CONSTANT = len(LEVELS) - 1
"""The level of a constant response, 1."""
