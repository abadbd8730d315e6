"""Squared distances, and responses that compare a sample with one or two training samples."""
# ruff: noqa: ARG001, PLR0913, PLR0917  (n_threads; arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    COMPARISONS,
    OCTAVES,
    STEPS,
    Blocks,
    ByClass,
    ComparisonArrays,
    Distances,
    Floats,
    Ints,
    Outputs,
    PairList,
    Planes,
    Points,
    Regions,
    Scores,
)
from rebelboost.kernels.reference.weights import together

ZERO = STEPS * OCTAVES + 1
"""The level of a response of 0. The first and last levels are −1 and 1."""
RESPONSE_BITS = 10
"""For sums over samples, responses are rounded to integers of this many bits."""
PEAK = 4 * (4 / 3) ** 0.75
"""With this factor the largest response is 1."""


def squared_distances(blocks: Blocks, points: Points, out: Distances, n_threads: int) -> None:
    """Fill out[i, n] = ‖x_n − points_i‖²; float32, features are added in order."""
    n_blocks, n_features, abreast = blocks.shape
    sums = np.zeros((len(points), n_blocks, abreast), dtype=np.float32)
    for f in range(n_features):
        apart = blocks[:, f] - points[:, f, np.newaxis, np.newaxis]
        sums += apart * apart
    out[:] = sums.reshape(len(points), -1)[:, : out.shape[1]]


def compare(
    anchor: NDArray[np.float32],
    rival: NDArray[np.float32],
    kind: int,
    apart: float,
    levels: Regions,
    n_threads: int,
) -> None:
    """Find the level of each sample's response, given its squared distances (N,)."""
    f = _respond(anchor.astype(np.float64), rival.astype(np.float64), kind, apart)
    # The level below |f|, from the bits of a float: its exponent and 4 bits of its mantissa.
    bits = np.abs(f).astype(np.float32).view(np.int32) >> 19
    size = np.clip(bits - (127 - OCTAVES) * STEPS + 1, 0, ZERO)
    levels[:] = np.where(f < 0, ZERO - size, ZERO + size)


def compare_points(
    blocks: Blocks, points: Points, kind: int, apart: float, levels: Regions, n_threads: int
) -> None:
    """Find the level of each sample's response, given the points of the anchor and of the rival, if any."""
    distances = np.empty((len(points), len(levels)), dtype=np.float32)
    squared_distances(blocks, points, distances, n_threads)
    compare(distances[0], distances[-1], kind, apart, levels, n_threads)


def _respond(r_i: Floats, r_j: Floats, kind: int, apart: float) -> Floats:
    """[LOCAL, Sec. 5] with the factor r_ij, without which it would depend on the units."""
    if kind == COMPARISONS["two_points"]:
        quarter = apart * 0.25
        from_middle = np.maximum((r_i + r_j) * 0.5 - quarter, 0.0)
        above = (PEAK * quarter) * ((r_j - r_i) * 0.25)
        return above / (4.0 * quarter * quarter + from_middle * from_middle)
    if kind == COMPARISONS["nearer"]:
        return np.where(r_j > r_i, 1.0, -1.0)
    if kind == COMPARISONS["one_point"]:
        return (apart - r_i) / (apart + r_i)
    return np.where(r_i < apart, 1.0, -1.0)


def pair_sums(
    from_anchors: Distances,
    from_rivals: Distances,
    pairs: PairList,
    kind: int,
    signed_values: Floats,
    mass: Floats,
    sums: Floats,
    n_threads: int,
) -> None:
    """Fill sums (pairs, 3, K): Σ f·signed, Σ f·mass, Σ f²·mass, f rounded to an integer.

    `signed_values` and `mass` are (K, n) integers, small enough that a float holds every sum of products
    exactly, so that the order of additions does not matter.
    """
    for i, (anchor, rival, apart) in enumerate(zip(*pairs, strict=True)):
        r_i = from_anchors[anchor].astype(np.float64)
        r_j = from_rivals[rival].astype(np.float64)
        f = np.rint(_respond(r_i, r_j, kind, float(apart)) * 2**RESPONSE_BITS)
        sums[i, 0] = signed_values @ f
        sums[i, 1] = mass @ f
        sums[i, 2] = mass @ (f * f)


def nearest_rivals(
    distances: Distances, anchor_values: Ints, values: Ints, nearest: NDArray[np.int32]
) -> None:
    """Fill nearest[i] with the nearest samples whose value has the opposite sign to that of anchor i.

    Samples that coincide with the anchor are left out. The first of equally distant samples comes
    first. −1 if there are no more.
    """
    opposed = np.sign(anchor_values)[:, np.newaxis] * np.sign(values) < 0
    to_rivals = np.where(opposed & (distances > 0), distances, np.inf)
    first = np.argsort(to_rivals, axis=1, kind="stable")[:, : nearest.shape[1]]
    found = np.isfinite(np.take_along_axis(to_rivals, first, axis=1))
    nearest[:] = -1
    nearest[:, : first.shape[1]] = np.where(found, first, -1)


def best_isolated(
    weights: Planes, totals: ByClass, signed_totals: ByClass, n_threads: int
) -> tuple[int, float]:
    """Find the response that is 1 at one sample and −1 at all others with the lowest loss.

    The loss is min_n Σ_k √(S_k² − P_nk²), P_n = 2·G_n − ΣG, the first of equals. Class k is added to the
    (k mod 4)-th of four sums.
    """
    P = 2 * weights.sum(axis=0) - signed_totals
    left = np.sqrt(np.maximum(totals * totals - P * P, 0.0))
    lanes = np.zeros((4, len(left)))
    for k in range(left.shape[1]):
        lanes[k % 4] += left[:, k]
    losses = together(lanes)
    if len(losses) == 0:
        return -1, float("inf")
    sample = int(np.argmin(losses))
    return sample, float(losses[sample])


def add_comparisons(
    distances: Distances,
    comparisons: ComparisonArrays,
    values: Floats,
    first: int,
    last: int,
    scores: Scores,
    n_threads: int,
) -> None:
    """Add f·a + b of comparisons [first, last) to the scores, in this order."""
    levels = np.empty(distances.shape[1], dtype=np.uint16)
    for t in range(first, last):
        anchor, rival = distances[comparisons.anchors[t]], distances[comparisons.rivals[t]]
        apart = float(comparisons.apart[t])
        compare(anchor, rival, int(comparisons.kinds[t]), apart, levels, n_threads)
        response = values[levels][:, np.newaxis]
        scores += response * comparisons.outputs[t] + comparisons.offsets[t]


def add_similarities(
    distances: Distances,
    tau: float,
    outputs: Outputs,
    offset: ByClass,
    scores: Scores,
    n_threads: int,
) -> None:
    """Add Σ_i f_i·a_i + b with f = (τ − r)/(τ + r) to the scores, in double precision, in the order of i."""
    for i, r in enumerate(distances.astype(np.float64)):
        scores += ((tau - r) / (tau + r))[:, np.newaxis] * outputs[i]
    scores += offset
