"""What turns scores into class probabilities (`costs.posterior`)."""

import numpy as np

from rebelboost.base.arrays import BySample, Floats
from rebelboost.kernels.reference.elementary import exponentials, logarithms

MOST_STEPS = 100
LEAST_SLOPE = 1e-300


def log_lambdas(x: Floats, enough: float, log_lambda: BySample) -> None:
    """The ln λ of each row with Σ_k σ(x_k − ln λ) = 1: Newton's method, from below.

    Σσ is convex there or soon after; a step that would leave the bracket halves it. A row ends its own
    search when a step moves it by less than `enough`, relative to ln λ: its result does not depend on the
    rows beside it.
    """
    low, high = _bracket(x)
    at, left = low.copy(), np.arange(len(x))
    for _ in range(MOST_STEPS):
        if len(left) == 0:
            break
        now = at[left]
        excess, slope = _excess(x[left], now)
        low[left] = np.where(excess > 0, now, low[left])
        high[left] = np.where(excess > 0, high[left], now)
        step = now + excess / np.maximum(slope, LEAST_SLOPE)
        inside = (step > low[left]) & (step < high[left])
        following = np.where(inside, step, (low[left] + high[left]) / 2)
        at[left] = following
        left = left[~(np.abs(following - now) < enough * np.maximum(1, np.abs(following)))]
    log_lambda[:] = at


def _bracket(x: Floats) -> tuple[Floats, Floats]:
    """From the root for the largest score alone, or for the largest two, to that for K equal scores."""
    limits = np.empty(2)
    logarithms(np.array([1e-300, max(1, x.shape[1] - 1)]), limits)
    second, top = np.partition(x, -2, axis=1)[:, -2:].T
    return np.maximum(top + limits[0], (top + second) / 2), top + limits[1]


def _excess(x: Floats, at: BySample) -> tuple[BySample, BySample]:
    """The sum over the classes of σ(x − ln λ), less 1, and its slope; class after class."""
    excess, slope = np.zeros(len(x)), np.zeros(len(x))
    for k in range(x.shape[1]):
        e = np.empty(len(x))
        exponentials(-(x[:, k] - at), e)
        p = 1 / (1 + e)
        excess += p
        slope += p * (1 - p)
    return excess - 1, slope
