"""The search for pairs of training samples to compare with [LOCAL, Sec. 5]."""
# ruff: noqa: PLR0913, PLR0917  (arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Distances, Floats, Indices, Ints, PairList, Planes
from rebelboost.base.kernel_arrays import AFFINE, PairOptions, PairQueue, PairSpace
from rebelboost.kernels.reference.binarization import binarize
from rebelboost.kernels.reference.random import below, random_numbers
from rebelboost.kernels.reference.similarity import nearest_rivals, pair_sums, squared_distances

ABREAST = 16


def find_pairs(
    weights: Planes,
    totals: ByClass,
    space: PairSpace,
    samples: Indices,
    options: PairOptions,
    key: int,
    queue: PairQueue,
    n_threads: int,
) -> None:
    """Fill the queue with pairs of anchors and rivals.

    Anchors are drawn in proportion to |v| (`binarize`). Each is compared with its nearest rivals on the
    other side, and paired with the one that has the largest gain Σ_k P_k²/Q_k; with affine outputs, of f
    minus its mean. If there are more than `n_subset` samples, gains are computed on some of them, drawn in
    proportion to their mass.
    """
    queue.waiting[:] = 0
    packed = np.empty(weights.shape[1], dtype=np.int64)
    binarize(weights, totals, packed, n_threads)
    sides, mass = packed >> 32, packed & 0xFFFFFFFF
    drawn = np.empty(options.n_anchors + 1, dtype=np.uint64)
    random_numbers(key, 0, drawn)
    anchors = draw_anchors(samples, sides, drawn[:-1])
    judges, shares = draw_judges(samples, mass, int(drawn[-1]), options.n_subset)
    if len(anchors) == 0 or len(judges) == 0:
        return
    from_anchors = rows_from(space, anchors, judges)
    nearest = np.empty((len(anchors), options.n_rivals), dtype=np.int32)
    nearest_rivals(from_anchors, sides[anchors], sides[judges], nearest)
    of_anchor, place = np.nonzero(nearest >= 0)
    if len(of_anchor) == 0:
        return
    places = nearest[of_anchor, place]
    rivals = judges[places]
    apart = from_anchors[of_anchor, places].astype(np.float64)
    listed = PairList(of_anchor.astype(np.int32), np.arange(len(rivals), dtype=np.int32), apart)
    from_rivals = rows_from(space, rivals, judges)
    gains = _gains(weights, totals, judges, shares, from_anchors, from_rivals, listed, options)
    # The first of equals is the nearest.
    best = [own[np.argmax(gains[own])] for own in _runs(of_anchor)]
    pairs = np.stack([anchors[of_anchor[best]], rivals[best]], axis=1)
    queue.pairs[: len(best)] = pairs
    queue.waiting[1] = len(best)
    if len(space.distances) == 0:
        queue.rows[: 2 * len(best)] = rows_from(space, pairs.ravel(), None)


def rows_from(space: PairSpace, samples: Indices, others: Indices | None) -> Distances:
    """Squared distances from some samples to others, or to all."""
    if len(space.distances):
        rows = space.distances[samples]
        return rows if others is None else np.ascontiguousarray(rows[:, others])
    points = space.points if others is None else space.points[others]
    n_blocks = -(-len(points) // ABREAST)
    padded = np.zeros((n_blocks * ABREAST, points.shape[1]), dtype=np.float32)
    padded[: len(points)] = points
    blocks = padded.reshape(n_blocks, ABREAST, -1).transpose(0, 2, 1)
    rows = np.empty((len(samples), len(points)), dtype=np.float32)
    squared_distances(blocks, space.points[samples], rows, 1)
    return rows


def draw_anchors(samples: Indices, sides: Ints, drawn: NDArray[np.uint64]) -> Indices:
    """Distinct samples, drawn in proportion to |v|, in the order of `samples`."""
    held = np.cumsum(np.abs(sides[samples]))
    if len(held) == 0 or held[-1] == 0:
        return samples[:0]
    at = below(drawn, int(held[-1]))
    return samples[np.unique(np.searchsorted(held, at, side="right"))]


def draw_judges(
    samples: Indices, mass: Ints, start: int, n_subset: int
) -> tuple[Indices, Floats | None]:
    """All samples, or some at equal steps of the mass, from a random start, and their shares of the mass."""
    if len(samples) <= n_subset:
        return samples, None
    held = np.cumsum(mass[samples])
    total = int(held[-1])
    if total == 0:
        return samples[:0], None
    at = (np.arange(n_subset) * total + below(start, total)) // n_subset
    judges = samples[np.searchsorted(held, at, side="right")]
    return judges, mass[judges] / total


def _gains(
    weights: Planes,
    totals: ByClass,
    judges: Indices,
    shares: Floats | None,
    from_anchors: Distances,
    from_rivals: Distances,
    pairs: PairList,
    options: PairOptions,
) -> Floats:
    """(pairs,) Σ_k P_k²/Q_k."""
    n_classes = len(totals)
    # Samples divided by their share sum to at most K times the totals: Σ |integers| ≤ 2³⁰. A float then
    # holds every sum of products with responses exactly.
    scales = np.ldexp(1.0, 30 - n_classes.bit_length() - np.frexp(totals)[1])
    factor = scales if shares is None else scales / (shares * len(judges))[:, np.newaxis]
    planes = weights[:, judges]
    signed = np.ascontiguousarray(np.rint(planes.sum(axis=0) * factor).T)
    mass = np.ascontiguousarray(np.rint(np.abs(planes).sum(axis=0) * factor).T)
    sums = np.empty((len(pairs.apart), 3, n_classes))
    pair_sums(from_anchors, from_rivals, pairs, options.kind, signed, mass, sums, 1)
    P, R, Q = sums[:, 0], sums[:, 1], sums[:, 2]
    if options.rule == AFFINE:
        mean = R / np.maximum(mass.sum(axis=1), 1.0)
        P = P - mean * signed.sum(axis=1)
        Q = Q - mean * R
    gains = np.divide(P * P, Q * scales, out=np.zeros_like(P), where=Q > 0)
    return np.add.accumulate(gains, axis=1)[:, -1]


def _runs(values: Ints) -> list[Ints]:
    """Places of equal values, which are adjacent."""
    return np.split(np.arange(len(values)), np.flatnonzero(np.diff(values)) + 1)
