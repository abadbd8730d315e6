"""Class probabilities from scores, for uniform costs [THESIS Sec. 4.3].

P_k = σ(2H_k − ln λ) with the λ for which they sum to 1. Each sample's result depends on its own scores only.
"""
# ruff: noqa: ARG001  (n_threads)

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Labels
from rebelboost.base.fixed_point import fine_scales
from rebelboost.kernels.reference.elementary import exponentials, logarithms

MOST_STEPS = 100
LEAST = 1e-300


def uniform_posteriors(doubled: Floats, enough: float, out: Floats, n_threads: int) -> None:
    """Probabilities of (N, K) doubled scores 2H.

    ln λ is found by Newton's method, until a step is below `enough`, relative to ln λ or to 1.
    """
    P = _logistic(doubled - _log_lambda(doubled, enough)[:, np.newaxis])
    out[:] = P / _sum(P)[:, np.newaxis]


def log_loss_and_slope(
    doubled: Floats, factor: float, labels: Labels, weight: BySample, enough: float, n_threads: int
) -> tuple[float, float]:
    """Mean of −ln P of the samples' classes at doubled scores times a factor, and its derivative.

    The derivative is by the logarithm of the factor. Σ_k P_k = 1 at every factor, so that ln λ moves by the
    mean of 2H_k with weights P_k(1 − P_k). Means are exact sums of rounded numbers, whatever the order of the
    samples. `weight` is (N,), or empty.
    """
    scaled = factor * doubled
    P = _logistic(scaled - _log_lambda(scaled, enough)[:, np.newaxis])
    spread = P * (1 - P)
    moved = _sum(spread * scaled) / np.maximum(_sum(spread), LEAST)
    row = np.arange(len(labels))
    own = P[row, labels]
    losses, slopes = np.empty(len(labels)), (own - 1) * (scaled[row, labels] - moved)
    logarithms(np.maximum(own / _sum(P), LEAST), losses)
    losses = -losses
    if len(weight) == 0:
        return _exact_sum(losses) / len(losses), _exact_sum(slopes) / len(losses)
    total = _exact_sum(weight)
    return _exact_sum(losses * weight) / total, _exact_sum(slopes * weight) / total


def _log_lambda(doubled: Floats, enough: float) -> BySample:
    """(N,) the ln λ of each sample: Newton's method from below.

    Σσ is convex there or soon after, and its root is bracketed by the root for the largest score alone and
    the root for K equal scores.
    """
    if doubled.shape[1] == 2:
        return (doubled[:, 0] + doubled[:, 1]) / 2  # σ(x) + σ(−x) = 1
    least, most = np.empty(1), np.empty(1)
    logarithms(np.array([LEAST]), least)
    logarithms(np.array([doubled.shape[1] - 1.0]), most)
    ordered = np.sort(doubled, axis=1)
    top, second = ordered[:, -1], ordered[:, -2]
    # The mean of the two highest scores is the root for K = 2, and a lower bound in general.
    low, high = np.maximum(top + least, (top + second) / 2), top + most
    at = low.copy()
    left = np.arange(len(doubled))
    for _ in range(MOST_STEPS):
        now, P = at[left], _logistic(doubled[left] - at[left, np.newaxis])
        excess, slope = _sum(P) - 1, _sum(P * (1 - P))
        low[left] = np.where(excess > 0, now, low[left])
        high[left] = np.where(excess > 0, high[left], now)
        step = now + excess / np.maximum(slope, LEAST)
        inside = (step > low[left]) & (step < high[left])
        at[left] = np.where(inside, step, (low[left] + high[left]) / 2)
        left = left[np.abs(at[left] - now) >= enough * np.maximum(1, np.abs(at[left]))]
        if len(left) == 0:
            break
    return at


def _logistic(x: Floats) -> Floats:
    """1/(1 + e⁻ˣ)."""
    result = np.empty(x.shape)
    exponentials(np.ravel(-x), result.reshape(-1))
    return 1 / (1 + result)


def _sum(x: Floats) -> BySample:
    """Sums over the classes, one after the other."""
    return np.add.accumulate(x, axis=1)[:, -1]


def _exact_sum(numbers: BySample) -> float:
    """The sum, rounded to a grid that is fine enough for any order of the numbers."""
    (scale,) = fine_scales(np.abs(numbers).max(initial=0.0, keepdims=True) * len(numbers))
    return float(np.rint(numbers * scale).astype(np.int64).sum() / scale)
