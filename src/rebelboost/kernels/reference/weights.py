"""From the regions of a hypothesis to the weights of the next round."""
# ruff: noqa: ARG001, PLR0913, PLR0917  (n_threads; arrays cross borders, objects do not)

import math

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    ByClass,
    Floats,
    Indices,
    Ints,
    JudgedLabels,
    Labels,
    LogisticLine,
    Outputs,
    Pairs,
    Planes,
    Projection,
    Regions,
    Scores,
    Step,
)
from rebelboost.base.fixed_point import fine_scales, in_order
from rebelboost.kernels.reference.elementary import exponentials

TINY = 2.0**-900
HUGE = 2.0**1000
MOST_LOOSE = 2.0**10
"""If the bounds of totals exceed them by this factor, sums are too imprecise."""


def project(weights: Planes, projection: Projection, values: Pairs, n_threads: int) -> None:
    """Pack the fixed-point pair of each sample, signed · 2³² + mass (shapes.Projection)."""
    signed = np.zeros((4, weights.shape[1]))
    mass = np.zeros((4, weights.shape[1]))
    for plane in weights:
        for k in range(weights.shape[2]):
            signed[k % 4] += plane[:, k] * projection.direction[k]
            mass[k % 4] += np.abs(plane[:, k]) * projection.squares[k]
    values[:] = _rounded(together(signed) * projection.signed_scale) * 2**32
    values += _rounded(together(mass) * projection.mass_scale)


def together(lanes: Floats) -> Floats:
    """Add the four lanes of a sum, in the order of the compiled kernels."""
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


def fix_weights(
    weights: Planes,
    samples: Indices,
    scale: float,
    signed_weights: NDArray[np.int32],
    keys: Ints,
    totals: Ints,
    n_threads: int,
) -> None:
    """Fixed-point weights for the root of a tree.

    `signed_weights` (N, K padded to a multiple of 8) receives G, `keys` (N,) the Σ_k |G_k| of each
    sample, and `totals` (K,) the sum of W over the given samples.
    """
    n_classes = weights.shape[2]
    fixed = _rounded(weights.sum(axis=0) * scale)
    signed_weights[:] = 0
    signed_weights[:, :n_classes] = fixed
    keys[:] = np.abs(fixed).sum(axis=1)
    mass = np.abs(fixed) if len(weights) == 1 else _rounded(np.abs(weights).sum(axis=0) * scale)
    totals[:] = mass[samples].sum(axis=0)


def region_sums(
    weights: Planes, regions: Regions, scales: Floats, sums: Ints, n_threads: int
) -> None:
    """Add the fixed-point Σ G_n of each region's samples to sums[r, 0], and Σ W_n to sums[r, 1]."""
    for plane in weights:
        fixed = _rounded(plane * scales)
        np.add.at(sums[:, 0], regions, fixed)
        np.add.at(sums[:, 1], regions, np.abs(fixed))


def logistic_sums(line: LogisticLine, regions: Regions, sums: Ints, n_threads: int) -> None:
    """Add the fixed-point Σ c·p of each region's samples to sums[r, 0], and Σ |c|·p·(1 − p) to sums[r, 1].

    p = odds/(1 + odds), with the odds multiplied by `up` or `down` of the region, up to `HUGE`.
    """
    for costs, odds in zip(line.subcosts, line.odds, strict=True):
        with np.errstate(over="ignore"):
            moved = odds * np.where(costs > 0, line.up[regions], line.down[regions])
        moved = np.minimum(moved, HUGE)
        q = 1 / (1 + moved)
        pull = costs * (moved * q)  # 1 − q would cancel where odds are small
        np.add.at(sums[:, 0], regions, _rounded(pull * line.scales))
        np.add.at(sums[:, 1], regions, _rounded(np.abs(pull) * q * line.scales))


def advance(
    weights: Planes,
    scores: Scores,
    regions: Regions,
    step: Step,
    totals: Ints,
    decided: Labels,
    n_threads: int,
) -> None:
    """Add the region's outputs to the scores, and multiply w⁺ by its `up` and w⁻ by its `down`.

    `decided` receives the class with the highest score. The fixed-point sums of the new weights are
    added to `totals` (K,). Weights below `TINY` become 0: they no longer matter, and denormal numbers
    are slow.
    """
    weights *= np.where(weights > 0, step.up[regions], step.down[regions])
    size = np.abs(weights)
    totals += _rounded(size * step.scales).sum(axis=(0, 1))
    weights[size < TINY] = 0.0
    scores += step.outputs[regions]
    decided[:] = np.argmax(scores, axis=1)


def rate(decided: Labels, judged: JudgedLabels) -> tuple[float, float]:
    """Share of wrong decisions, and their mean cost, by exact sums of counted weights."""
    n_classes = judged.costs.shape[1]
    decided = decided[judged.place] if len(judged.place) else decided
    cells = judged.labels * np.int32(n_classes) + decided
    confusion = np.bincount(cells, judged.counts, n_classes**2)
    total, right = confusion.sum(), confusion[:: n_classes + 1].sum()
    paid = in_order(confusion * judged.costs.ravel())
    with np.errstate(invalid="ignore"):
        return float(1 - right / total), float(np.divide(paid, total))


def take_step(
    weights: Planes,
    scores: Scores,
    regions: Regions,
    outputs: Outputs,
    totals: ByClass,
    decided: Labels,
    judged: JudgedLabels,
    n_threads: int,
) -> tuple[int, bool, tuple[float, float]]:
    """Add the outputs a of each sample's region to its scores, and multiply w⁺ by e^a and w⁻ by e^−a.

    At the same time, a power of two scales the weights, whose (K,) `totals` are then about 1. Returns
    its exponent, negated; whether the bounds of the new totals were too high for precise sums; and the
    error and the cost of the decisions, if there are labels.
    """
    _, shift = math.frexp(float(totals.max()))
    unit = math.ldexp(1.0, -shift)
    factors = np.empty((2, *outputs.shape))
    exponentials(np.stack([outputs, -outputs]).ravel(), factors.reshape(-1))
    up, down = factors * unit
    largest = np.empty(len(totals))
    exponentials(np.abs(outputs).max(axis=0), largest)
    bounds = largest * unit * totals
    scales = fine_scales(bounds)
    sums = np.zeros(len(totals), dtype=np.int64)
    advance(weights, scores, regions, Step(outputs, up, down, scales), sums, decided, n_threads)
    totals[:] = sums / scales
    loose = bool(np.any(bounds > MOST_LOOSE * totals))
    rates = rate(decided, judged) if len(judged.labels) else (math.nan, math.nan)
    return shift, loose, rates


def _rounded(x: Floats) -> Ints:
    return np.rint(x).astype(np.int64)
