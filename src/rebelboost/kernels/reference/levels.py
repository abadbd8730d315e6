"""The best outputs of responses that have many discrete levels."""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Ints, Planes, Regions
from rebelboost.base.fixed_point import fine_scales
from rebelboost.base.kernel_arrays import AFFINE, LEVELS, SIGN, SLOPE, LevelSums
from rebelboost.kernels.reference.elementary import exponentials, logarithms
from rebelboost.kernels.reference.weights import region_sums, together

CAP = 1e-8
"""Smoothing, relative to the mass: limits an output to ½ ln(2/CAP)."""
MOST_STEPS, REACH, GAIN, LEAST = 60, 4.0, 1e-8, 1e-300
"""Of Newton's method: number and length of steps, the gain that makes a step the last, the smallest divisor."""


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
    of = _class_weights(out.plus, out.minus, mass)
    total = _total((of.plus + of.plus_mirrored) + (of.minus + of.minus_mirrored))
    unit = 1 / np.where(total > 0, total, 1.0)
    of = of._replace(**{name: getattr(of, name) * unit for name in of._fields[1:]})
    b = np.zeros_like(total)
    if rule == SIGN:
        (_, up, _), (_, down, _) = _moments(of, b)
        P = up - down
        a = half_log_ratio(1 - P, 1 + P, np.full_like(P, CAP))
    else:
        a = _best_slopes(of, rule)
    a = np.where(total > 0, a, 0.0)
    (A, _, _), (B, _, _) = _moments(of, a)
    if rule == AFFINE:
        b = half_log_ratio(B, A, CAP * (A + B))
    out.outputs[:] = a, b
    growth = _exp(b)
    losses = total * (A * growth + B / growth)
    return float(np.add.accumulate(losses)[-1])


class ClassWeights(NamedTuple):
    """Weights at the sizes |f| that occur, at f and at −f, which share an exponential; (sizes, K) each."""

    f: Floats
    plus: Floats
    plus_mirrored: Floats
    minus: Floats
    minus_mirrored: Floats


def _class_weights(plus: Floats, minus: Floats, mass: Ints) -> ClassWeights:
    zero = len(LEVELS) // 2
    used = (mass[zero:] + mass[zero::-1]).any(axis=1)
    once = (np.arange(zero + 1) > 0)[used, np.newaxis]  # f = 0 has no other side
    return ClassWeights(
        LEVELS[zero:][used][:, np.newaxis],
        plus[zero:][used],
        plus[zero::-1][used] * once,
        minus[zero:][used],
        minus[zero::-1][used] * once,
    )


def _best_slopes(of: ClassWeights, rule: int) -> ByClass:
    """Safeguarded Newton steps, for each class until it has converged.

    A step that leaves the bracket known to contain the root is replaced by bisection.
    """
    at = np.zeros(of.plus.shape[1])
    low, high = np.full(len(at), -np.inf), np.full(len(at), np.inf)
    searching = np.ones(len(at), dtype=bool)
    for _ in range(MOST_STEPS):
        value, curvature = _derivatives(of, at, rule)
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


def _derivatives(of: ClassWeights, a: ByClass, rule: int) -> tuple[ByClass, ByClass]:
    """Of the loss in a; with the rule AFFINE, of ln A + ln B, since the best b leaves 2√(A·B)."""
    (A, up, up2), (B, down, down2) = _moments(of, a)
    growth = _exp(a)
    sinh, cosh = (growth - 1 / growth) * 0.5, (growth + 1 / growth) * 0.5
    if rule == SLOPE:
        return (up - down) + CAP * sinh, (up2 + down2) + CAP * cosh
    A, B = np.maximum(A, LEAST), np.maximum(B, LEAST)
    up, down = up / A, down / B
    variances = (up2 / A - up * up) + (down2 / B - down * down)
    return (up - down) + CAP * sinh, variances + CAP * cosh


Triple = tuple[ByClass, ByClass, ByClass]


def _moments(of: ClassWeights, a: ByClass) -> tuple[Triple, Triple]:
    """Σ w, Σ f·w and Σ f²·w of w⁺e^{fa}, and of w⁻e^{−fa}."""
    f = of.f
    growth = _exp(f * a)
    decay = 1 / growth
    up, up_mirrored = of.plus * growth, of.plus_mirrored * decay
    down, down_mirrored = of.minus * decay, of.minus_mirrored * growth
    return _sums(f, up, up_mirrored), _sums(f, down, down_mirrored)


def _sums(f: Floats, w: Floats, mirrored: Floats) -> Triple:
    both = w + mirrored
    return _total(both), _total(f * (w - mirrored)), _total((f * f) * both)


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
