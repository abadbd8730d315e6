"""Responses in [−1, 1] in double precision, for similarities to the letter of [LOCAL, Sec. 5.2]."""
# ruff: noqa: ARG001  (n_threads)

import numpy as np

from rebelboost.base.arrays import ByClass, BySample, Floats, Planes
from rebelboost.kernels.reference.elementary import exponentials, logarithms
from rebelboost.kernels.reference.levels import CAP, LEAST, MOST_STEPS, REACH
from rebelboost.kernels.reference.weights import together

GAIN = 1e-20
"""The step after which the loss falls by less is the last."""
LANES = 4


def exact_distances(placed: Floats, points: Floats, out: Floats, n_threads: int) -> None:
    """Fill out[i, n] = ‖placed_n − points_i‖²."""
    for i, point in enumerate(points):
        out[i] = _total(((placed - point) ** 2).T)


def best_response(
    responses: Floats,
    weights: Planes,
    least: float,
    equal: float,
    output: ByClass,
    n_threads: int,
) -> tuple[int, float]:
    """Find the first response whose loss is below that of all before it by more than a share `equal`.

    It must also be below `least`; −1 if there is none. `responses` (n, N) are f. The output a of a class
    minimises Σ_n w⁺e^{fa} + w⁻e^{−fa}: for f = ±1 in closed form [LOCAL, Eq. 5], else by Newton's method.
    The compiled kernel does not solve responses that a bound rules out.
    """
    best = -1
    for i, f in enumerate(responses):
        outputs, left = zip(
            *(_solve(f, weights[:, :, k]) for k in range(weights.shape[2])), strict=True
        )
        loss = float(np.add.accumulate(np.array([0.0, *left]))[-1])
        if loss < least * (1 - equal):
            best, least = i, loss
            output[:] = outputs
    return best, least


def _solve(f: BySample, weights: Floats) -> tuple[float, float]:
    """The output of a class and the loss with it; `weights` are (V, N)."""
    S, _, squares = _moments(f, weights, 0.0)
    if not S > 0:
        return 0.0, 0.0
    of_signs = squares == S
    output = _closed_form(f, weights, S) if of_signs else _best_output(f, weights, S)
    return output, _moments(f, weights, output)[0]


def _closed_form(f: BySample, weights: Floats, S: float) -> float:
    """½ ln(s^T/s^F) for f = ±1: the sums of the weights that f is right about, and of the others."""
    is_wrong = np.where(weights < 0, f < 0, f > 0)
    size, found = np.abs(weights), np.empty(1)
    right, wrong = (
        float(_total(_padded(np.where(chosen, size, 0.0)))) for chosen in (~is_wrong, is_wrong)
    )
    logarithms(np.array([(2 * right + CAP * S) / (2 * wrong + CAP * S)]), found)
    return 0.5 * float(found[0])


def _best_output(f: BySample, weights: Floats, S: float) -> float:
    """Safeguarded Newton steps.

    A step that leaves the bracket known to contain the root is replaced by bisection.
    """
    at, low, high = 0.0, -np.inf, np.inf
    for _ in range(MOST_STEPS):
        _, slope, squares = _moments(f, weights, at)
        growth = float(_exp(np.array([at]))[0])
        value = slope / S + CAP * ((growth - 1 / growth) * 0.5)
        curvature = squares / S + CAP * ((growth + 1 / growth) * 0.5)
        step = value / max(curvature, LEAST)
        following = at - min(max(step, -REACH), REACH)
        if value * step < GAIN:
            return following
        low, high = (at if value < 0 else low), (at if value > 0 else high)
        outside = following <= low or following >= high
        if outside and np.isfinite(low) and np.isfinite(high):
            following = low / 2 + high / 2
        at = following
    return at


def _moments(f: BySample, weights: Floats, a: float) -> tuple[float, float, float]:
    """Σ w, Σ g·w and Σ g²·w of w = |weight|·e^{ga}; g is f, or −f where the weight is negative."""
    g = np.where(weights < 0, -f, f)
    w = np.abs(weights) * _exp(g * a)
    weighted = g * w
    total, slope, squares = (_total(_padded(x)) for x in (w, weighted, g * weighted))
    return float(total), float(slope), float(squares)


def _padded(planes: Floats) -> Floats:
    """The planes one after the other, each filled up to whole lanes."""
    n_more = -planes.shape[1] % LANES
    return np.pad(planes, [(0, 0), (0, n_more)]).ravel()


def _total(values: Floats) -> Floats:
    """Sums over the first axis, the i-th number in lane i mod 4."""
    n_rows = -(-len(values) // LANES)
    padded = np.zeros((n_rows * LANES, *values.shape[1:]))
    padded[: len(values)] = values
    by_lane = padded.reshape(n_rows, LANES, *values.shape[1:])
    lanes = np.zeros((LANES, *values.shape[1:]))
    for row in by_lane:
        lanes += row
    return together(lanes)


def _exp(x: Floats) -> Floats:
    found = np.empty_like(x)
    exponentials(x, found)
    return found
