"""From the regions of a hypothesis to the weights of the next round."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

import numpy as np

from rebelboost.base.arrays import (
    Floats,
    Ints,
    Labels,
    LogisticLine,
    Pairs,
    Planes,
    Projection,
    Regions,
    Scores,
    Step,
)

TINY = 2.0**-900
HUGE = 2.0**1000


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


def _rounded(x: Floats) -> Ints:
    return np.rint(x).astype(np.int64)
