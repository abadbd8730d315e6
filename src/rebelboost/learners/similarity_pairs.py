"""Choice of the training samples to compare with: anchors, and for each the rival with the largest gain.

The gain of a response f is Σ_k P_k²/Q_k, P = Σ f·G, Q = Σ f²·W: the decrease of the loss, to second
order. Its sums are sums of integers that a float represents exactly, so their order changes no bit.
"""

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    COMPARISONS,
    ByClass,
    Distances,
    Floats,
    Indices,
    Ints,
    PairList,
    Planes,
)
from rebelboost.base.hashing import distinct
from rebelboost.base.kernel_arrays import LEVELS
from rebelboost.data.point_set import PointSet
from rebelboost.rows.weights import Weights

if TYPE_CHECKING:
    from rebelboost.learners.similarity import Similarity

ZERO = np.zeros(1, dtype=np.int32)


class Pair(NamedTuple):
    """Two training samples, and the squared distances of all samples from each."""

    anchor: int
    rival: int
    from_anchor: NDArray[np.float32]
    from_rival: NDArray[np.float32]

    @property
    def apart(self) -> float:
        """Squared distance between the two."""
        return float(self.from_anchor[self.rival])


class WeighedSides(NamedTuple):
    """The binarized weights [LOCAL, Sec. 4]: v = U q₁, U = G/√S, q₁ the leading eigenvector of UᵀU."""

    values: Ints
    """(N,) v in fixed point; its sign is the side."""
    mass: Ints
    """(N,) Σ_k W_k/S_k in fixed point."""


def sides_of(weights: Weights) -> WeighedSides:
    """Binarize: merge the classes, and so the samples, into two sides."""
    values = np.empty(weights.planes.shape[1], dtype=np.int64)
    kernels.active.binarize(weights.planes, weights.totals, values, weights.n_threads)
    return WeighedSides(values >> 32, values & 0xFFFFFFFF)


def draw_pairs(
    options: "Similarity",
    data: PointSet,
    weights: Weights,
    samples: Indices,
    rng: np.random.Generator,
) -> list[Pair]:
    """Draw anchors in proportion to |v|. For each, take the nearby rival with the largest gain.

    Candidates are compared on a subset drawn in proportion to the weights. Every sample of the subset
    represents the same share of the weight.
    """
    sides = sides_of(weights)
    chosen = _draw(np.abs(sides.values[samples]), options.n_anchors(len(samples)), rng)
    if chosen is None:
        return []
    anchors = samples[distinct(chosen)]
    subset, share = samples, None
    if len(samples) > options.subset:
        mass = sides.mass[samples]
        drawn = _draw(mass, options.subset, rng)
        if drawn is None:
            return []
        subset, share = samples[drawn], mass[drawn] / mass.sum()
    # A drawn or reduced subset is smaller than N, so one of size N is all samples, in order.
    part = data if len(subset) == data.n_samples else data.part(subset)
    from_anchors = part.distances_from(data, anchors)
    which, rivals = rivals_nearby(
        from_anchors, sides.values[anchors], sides.values[subset], options.rivals
    )
    if len(rivals) == 0:
        return []
    from_rivals = part.distances_from(part, rivals.astype(np.int32))
    apart = from_anchors[which, rivals].astype(np.float64)
    listed = PairList(which.astype(np.int32), np.arange(len(rivals), dtype=np.int32), apart)
    gains = Gauge(options, weights, subset, share).gains(from_anchors, from_rivals, listed)
    order = np.lexsort((-gains, which))
    best = order[np.flatnonzero(np.append(True, np.diff(which[order]) > 0))]
    if part is data:  # the distances of all samples have been computed
        found = zip(anchors[which[best]], rivals[best], which[best], best, strict=True)
        return [Pair(int(i), int(j), from_anchors[a], from_rivals[b]) for i, j, a, b in found]
    return pairs(data, anchors[which[best]], subset[rivals[best]])


def rivals_nearby(
    distances: Distances, anchor_values: Ints, values: Ints, n_rivals: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (anchor, sample): each anchor's nearest samples on the other side, not at distance 0."""
    nearest = np.empty((len(distances), n_rivals), dtype=np.int32)
    kernels.active.nearest_rivals(distances, anchor_values, values, nearest)
    which, place = np.nonzero(nearest >= 0)
    return which, nearest[which, place].astype(np.int64)


def search_pair(
    options: "Similarity", data: PointSet, weights: Weights, anchor: int, samples: Indices
) -> Pair | None:
    """Find the best rival of an anchor, as the papers do [LOCAL, Sec. 5].

    Rivals are tried in the order of their distance. Each one excludes the samples whose response is
    at most half the rival's own (negative) response.
    """
    values = sides_of(weights).values
    (row,) = data.distances(np.array([anchor], dtype=np.int32))
    distances = row[samples]
    playing = (np.sign(values[anchor]) * np.sign(values[samples]) < 0) & (distances > 0)
    gauge = Gauge(options, weights, samples)
    best, best_gain = None, -1.0
    for _ in range(options.rivals):
        if not playing.any():
            break
        place = int(np.argmin(np.where(playing, distances, np.inf)))
        (other,) = data.distances(samples[[place]])
        pair = Pair(anchor, int(samples[place]), row, other)
        listed = PairList(ZERO, ZERO, np.array([pair.apart]))
        (gain,) = gauge.gains(distances[np.newaxis], other[samples][np.newaxis], listed)
        if gain > best_gain:
            best, best_gain = pair, float(gain)
        levels = np.empty(len(samples), dtype=np.uint16)
        two_points = COMPARISONS["two_points"]
        kernels.active.compare(
            distances, other[samples], two_points, pair.apart, levels, data.n_threads
        )
        response = LEVELS[levels]
        playing &= response > response[place] / 2
        playing[place] = False
    return best


class HasPlanes(Protocol):
    """Weights of the exponential loss."""

    @property
    def planes(self) -> Planes:
        """(V, N, K) weights."""

    @property
    def totals(self) -> ByClass:
        """(K,) sums of the weights of all samples."""

    @property
    def n_threads(self) -> int:
        """Number of threads."""


class Gauge:
    """Computes the gain of responses on some samples; with an offset, the gain beyond a constant."""

    def __init__(
        self,
        options: "Similarity",
        weights: HasPlanes,
        samples: Indices,
        share: Floats | None = None,
    ) -> None:
        self._options = options
        self._n_threads = weights.n_threads
        planes = weights.planes[:, samples]
        n_classes = planes.shape[2]
        _, exponents = np.frexp(weights.totals)
        # Samples divided by their share sum to at most K times the totals: Σ |integers| ≤ 2³⁰.
        self._scales = np.ldexp(1.0, 30 - n_classes.bit_length() - exponents)
        factor = self._scales if share is None else self._scales / (share * len(samples))[:, None]
        self._signed = np.ascontiguousarray(np.rint(planes.sum(axis=0) * factor).T)
        self._mass = np.ascontiguousarray(np.rint(np.abs(planes).sum(axis=0) * factor).T)

    def gains(self, from_anchors: Distances, from_rivals: Distances, pairs: PairList) -> Floats:
        """(pairs,) Σ_k P_k²/Q_k; with an offset, of f minus its mean."""
        kind = COMPARISONS["two_points" if self._options.response == "real" else "nearer"]
        sums = np.empty((len(pairs.apart), 3, len(self._signed)))
        kernels.active.pair_sums(
            from_anchors,
            from_rivals,
            pairs,
            kind,
            self._signed,
            self._mass,
            sums,
            self._n_threads,
        )
        P, R, Q = sums[:, 0], sums[:, 1], sums[:, 2]
        if self._options.offset:
            total = np.maximum(self._mass.sum(axis=1), 1.0)
            mean = R / total
            P = P - mean * self._signed.sum(axis=1)
            Q = Q - mean * R
        gains = np.divide(P * P, Q * self._scales, out=np.zeros_like(P), where=Q > 0)
        return np.add.accumulate(gains, axis=1)[:, -1]  # in order, as kernels.find_pairs adds


def pairs(data: PointSet, anchors: Indices, rivals: Indices) -> list[Pair]:
    """Compute the distances of all samples from each pair, in one matrix product."""
    used, place = np.unique(np.stack([anchors, rivals]), return_inverse=True)
    distances = data.distances(used.astype(np.int32))
    first, second = place.reshape(2, -1)
    return [
        Pair(int(i), int(j), distances[a], distances[b])
        for i, j, a, b in zip(anchors, rivals, first, second, strict=True)
    ]


def _draw(mass: Ints, size: int, rng: np.random.Generator) -> NDArray[np.int64] | None:
    """Draw indices in proportion to the mass, with replacement; None if the mass is 0."""
    held = np.cumsum(mass)
    if held[-1] <= 0:
        return None
    return np.searchsorted(held, rng.integers(0, held[-1], size), side="right")
