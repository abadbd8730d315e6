"""The best outputs of responses that have many discrete levels."""

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Planes, Regions
from rebelboost.base.fixed_point import fine_scales
from rebelboost.base.levels import LEVELS
from rebelboost.base.pair_arrays import AFFINE, SIGN, SLOPE, LevelSums
from rebelboost.kernels.reference.elementary import exponentials, logarithms
from rebelboost.kernels.reference.weights import region_sums, together

CAP = 1e-8
"""Smoothing, relative to the mass: limits an output to ½ ln(2/CAP)."""
MOST_STEPS, REACH, GAIN, LEAST = 60, 4.0, 1e-12, 1e-300
"""Of Newton's method: number and length of steps, the gain at which it stops, and the smallest divisor."""


def solve_levels(
    weights: Planes,
    totals: ByClass,
    regions: Regions,
    rule: int,
    out: LevelSums,
    n_threads: int,
) -> float:
    """Sum up the weights of each level, solve the outputs, and return the loss after the term.

    The rules are AFFINE: the a and b of f·a + b that minimise the loss of each class; SLOPE: b is 0; SIGN:
    the same for f = ±1, in closed form. `regions` are the levels of the samples.
    """
    scales = fine_scales(totals)
    sums = np.zeros((len(LEVELS), 2, len(totals)), dtype=np.int64)
    region_sums(weights, regions, scales, sums, n_threads)
    signed, mass = sums[:, 0], sums[:, 1]
    out.plus[:] = (mass + signed) / (2 * scales)
    out.minus[:] = (mass - signed) / (2 * scales)
    used = mass.any(axis=1)
    f, plus, minus = LEVELS[used][:, np.newaxis], out.plus[used], out.minus[used]
    total = _total(plus + minus)
    unit = np.ones_like(total)
    a, b = np.zeros((2, len(totals)))
    if rule == SIGN:
        P = _total(f * (plus - minus))
        a = half_log_ratio(total - P, total + P, CAP * total)
    elif len(f):
        unit = np.where(total > 0, total, 1.0)
        plus, minus = plus / unit, minus / unit
        a = np.where(total > 0, _best_slopes(f, plus, minus, rule), 0.0)
        if rule == AFFINE:
            (A, _, _), (B, _, _) = _moments(f, plus, minus, a)
            b = half_log_ratio(B, A, CAP * (A + B))
    out.outputs[:] = a, b
    growth = _exp(f * a + b)
    losses = unit * _total(plus * growth + minus / growth)
    return float(np.add.accumulate(losses)[-1])


def _best_slopes(f: Floats, plus: Floats, minus: Floats, rule: int) -> ByClass:
    """Safeguarded Newton steps, for each class until it has converged.

    A step that leaves the bracket known to contain the root is replaced by bisection.
    """
    at = np.zeros(plus.shape[1])
    low, high = np.full(len(at), -np.inf), np.full(len(at), np.inf)
    searching = np.ones(len(at), dtype=bool)
    for _ in range(MOST_STEPS):
        value, curvature = _derivatives(f, plus, minus, at, rule)
        step = value / np.maximum(curvature, LEAST)
        following = at - np.minimum(np.maximum(step, -REACH), REACH)
        converged = value * step < GAIN
        low, high = np.where(value < 0, at, low), np.where(value > 0, at, high)
        outside = ((following <= low) | (following >= high)) & np.isfinite(low) & np.isfinite(high)
        middle = np.where(outside, low, 0.0) / 2 + np.where(outside, high, 0.0) / 2
        following = np.where(outside & ~converged, middle, following)
        at = np.where(searching, following, at)
        searching &= ~converged
        if not searching.any():
            break
    return at


def _derivatives(
    f: Floats, plus: Floats, minus: Floats, a: ByClass, rule: int
) -> tuple[ByClass, ByClass]:
    """Of the loss in a; with the rule AFFINE, of ln A + ln B, since the best b leaves 2√(A·B)."""
    (A, up, up2), (B, down, down2) = _moments(f, plus, minus, a)
    growth = _exp(a)
    sinh, cosh = (growth - 1 / growth) * 0.5, (growth + 1 / growth) * 0.5
    if rule == SLOPE:
        return (up - down) + CAP * sinh, (up2 + down2) + CAP * cosh
    A, B = np.maximum(A, LEAST), np.maximum(B, LEAST)
    up, down = up / A, down / B
    variances = (up2 / A - up * up) + (down2 / B - down * down)
    return (up - down) + CAP * sinh, variances + CAP * cosh


Triple = tuple[ByClass, ByClass, ByClass]


def _moments(f: Floats, plus: Floats, minus: Floats, a: ByClass) -> tuple[Triple, Triple]:
    """Σ w, Σ f·w and Σ f²·w of w⁺e^{fa}, and of w⁻e^{−fa}."""
    growth = _exp(f * a)
    up, down = plus * growth, minus / growth
    return (
        (_total(up), _total(f * up), _total(f * (f * up))),
        (_total(down), _total(f * down), _total(f * (f * down))),
    )


def half_log_ratio(above: ByClass, below: ByClass, smoothing: ByClass) -> ByClass:
    """½ ln((above + smoothing)/(below + smoothing)); 0 where the weights are 0."""
    ratio = np.ones_like(above)
    np.divide(above + smoothing, below + smoothing, out=ratio, where=above + below > 0)
    found = np.empty_like(ratio)
    logarithms(ratio, found)
    return 0.5 * found


def _exp(x: Floats) -> Floats:
    found = np.empty_like(x)
    exponentials(x, found)
    return found


def _total(values: Floats) -> ByClass:
    """(K,) sums over levels, the i-th in lane i mod 4."""
    padded = np.zeros((-(-max(1, len(values)) // 4) * 4, values.shape[1]))
    padded[: len(values)] = values
    lanes = np.add.accumulate(padded.reshape(-1, 4, values.shape[1]), axis=0)[-1]
    return together(lanes)
