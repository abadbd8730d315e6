"""Responses with many discrete levels, and their best outputs.

Each level is within 3 % of the real value it replaces. Sums over samples become sums over levels, so the
line search and the update of the weights need one exponential per level instead of one per sample.
"""

import numpy as np

from rebelboost.base.arrays import OCTAVES, STEPS, ByClass, Floats, Outputs
from rebelboost.base.newton import Precision, rising_root
from rebelboost.losses.exponential import CAP, half_log_ratio

PRECISION = Precision(reach=4.0, gain=1e-12)
"""The search for outputs stops when the next step is predicted to lower no class's loss by more, relatively."""
TINY = 1e-300
"""Lower limit of sums that are divided by."""


def _levels() -> Floats:
    """Increasing responses: the middle of every level, 0, and ±1 at the ends."""
    step = np.arange(STEPS * OCTAVES)
    sizes = np.ldexp(1 + (step % STEPS + 0.5) / STEPS, step // STEPS - OCTAVES)
    return np.concatenate([[-1.0], -sizes[::-1], [0.0], sizes, [1.0]])


LEVELS = _levels()
"""(levels,) the values of a response."""
CONSTANT = len(LEVELS) - 1
"""The level of a constant response, 1."""


def level_output(plus: Outputs, minus: Outputs, responses: Floats = LEVELS) -> Outputs:
    """(2, K): the a that minimises A(a) + B(a) + CAP·S·cosh a for each class, and zeros.

    A = Σ_l w⁺e^{f_l·a}, B = Σ_l w⁻e^{−f_l·a}; `plus` and `minus` (L, K) are the weights of each level.
    The last term keeps a finite. For f = ±1, `exponential.signed_output` has the closed form.
    """
    moments = _Moments(plus, minus, responses)

    def slopes(a: ByClass) -> tuple[ByClass, ByClass]:
        (_, up, up2), (_, down, down2) = moments.at(a)
        return up - down + CAP * np.sinh(a), up2 + down2 + CAP * np.cosh(a)

    return np.stack(
        [rising_root(slopes, np.zeros(plus.shape[1]), PRECISION), np.zeros(plus.shape[1])]
    )


def affine_output(plus: Outputs, minus: Outputs, responses: Floats = LEVELS) -> Outputs:
    """(2, K): the a and b that minimise Σ_l w⁺e^{f_l·a + b} + w⁻e^{−f_l·a − b} for each class.

    For given a the best b is ½ ln(B/A), which leaves 2√(A·B). ln A + ln B is convex in a: its slope is the
    mean of f under the weights w⁺e^{fa} minus that under w⁻e^{−fa}; its curvature is the sum of the variances.
    """
    moments = _Moments(plus, minus, responses)

    def slopes(a: ByClass) -> tuple[ByClass, ByClass]:
        (A, up, up2), (B, down, down2) = moments.at(a)
        A, B = np.maximum(A, TINY), np.maximum(B, TINY)
        up, down = up / A, down / B
        variances = (up2 / A - up * up) + (down2 / B - down * down)
        return up - down + CAP * np.sinh(a), variances + CAP * np.cosh(a)

    a = rising_root(slopes, np.zeros(plus.shape[1]), PRECISION)
    (A, _, _), (B, _, _) = moments.at(a)
    return np.stack([a, half_log_ratio(B, A, CAP * (A + B))])


class _Moments:
    """Σ w, Σ f·w and Σ f²·w of the weights at an output, by class and sign."""

    def __init__(self, plus: Outputs, minus: Outputs, responses: Floats) -> None:
        used = (plus + minus).any(axis=1)
        plus, minus, f = plus[used], minus[used], responses[used]
        totals = (plus + minus).sum(axis=0)
        unit = np.where(totals > 0, totals, 1.0)
        self._up, self._down = plus / unit, minus / unit
        self._f = f[:, np.newaxis]
        self._powers = np.stack([np.ones_like(f), f, f * f])

    def at(self, a: ByClass) -> tuple[Outputs, Outputs]:
        """(3, K) each."""
        growth = np.exp(self._f * a)
        return self._powers @ (self._up * growth), self._powers @ (self._down / growth)


def level_loss(plus: Outputs, minus: Outputs, by_level: Outputs) -> float:
    """Σ w⁺e^h + w⁻e^{−h} over all levels and classes, for (L, K) h."""
    growth = np.exp(by_level)
    return float((plus * growth + minus / growth).sum())
