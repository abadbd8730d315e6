"""The training samples as similarities use them: points, and the distances between them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Distances, Floats, Indices, Ints, Labels, Values
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import exact_totals
from rebelboost.base.hashing import Keys, hash_rows
from rebelboost.base.kernel_arrays import PairSpace
from rebelboost.data.exact_space import ExactSpace
from rebelboost.data.measured import Precomputed, checked, fit_measured
from rebelboost.data.samples import Samples
from rebelboost.data.spaces import ABREAST, Embedding, Space, fit_embedding

MOST_KNOWN, MOST_MEASURED = 2048, 8192
"""All distances are kept for up to this many points; the second is for distances of the user's own."""
ENOUGH, FEWEST = 1 << 22, 2048
"""Maximum number of values, and minimum number of samples, from which scales are learned."""


@dataclass(frozen=True)
class PointSet:
    """Samples as points of a space. Immutable."""

    space: Space
    placed: NDArray[Any] = field(repr=False)
    """(N, …) points."""
    laid: NDArray[Any] = field(repr=False)
    """The points in the memory layout that `Space.distances` needs."""
    rows: Indices = field(repr=False)
    """(N,) row of each sample in the user's table."""
    n_threads: int = 1

    @property
    def n_samples(self) -> int:
        """Number of samples, N."""
        return len(self.rows)

    @cached_property
    def pair_space(self) -> PairSpace | None:
        """The points for the search in one kernel; None for many points with a distance of the user's own.

        For few points, all distances are computed once.
        """
        n_samples = self.n_samples
        is_scaled = isinstance(self.space, Embedding)
        if n_samples <= (MOST_KNOWN if is_scaled else MOST_MEASURED):
            all_samples = np.arange(n_samples, dtype=np.int32)
            known = np.ascontiguousarray(self.distances(all_samples))
            no_blocks = np.empty((-(-n_samples // ABREAST), 0, ABREAST), dtype=np.float32)
            return PairSpace(no_blocks, np.empty((n_samples, 0), dtype=np.float32), known)
        if not is_scaled:
            return None
        return PairSpace(self.laid, self.placed, np.empty((0, 0), dtype=np.float32))

    def distances(self, samples: Indices) -> NDArray[Any]:
        """(m, N) from the given samples to all; in double precision if the space is exact."""
        points = self.space.keep(self.placed[samples])
        found = self.space.distances(self.laid, points, self.rows[samples], self.n_threads)
        return found[:, : self.n_samples]

    def part(self, samples: Indices) -> "PointSet":
        """Some of the samples, as a point set."""
        placed = self.placed[samples]
        return replace(
            self, placed=placed, laid=self.space.lay_out(placed), rows=self.rows[samples]
        )

    def distances_from(self, other: "PointSet", samples: Indices) -> Distances:
        """(m, N) from samples of another point set of the same space, contiguous."""
        points = self.space.keep(other.placed[samples])
        found = self.space.distances(self.laid, points, other.rows[samples], self.n_threads)
        return np.ascontiguousarray(found[:, : self.n_samples])


def coincident(placed: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(N,) the samples in an order that does not depend on the given one, and the group of each.

    Samples of a group are at the same point. The order is that of a hash; equal points are adjacent.
    """
    bits, keys = np.ascontiguousarray(placed + 0), point_keys(placed)
    order = np.argsort(keys, kind="stable")
    same = np.zeros(len(order), dtype=bool)
    twins = np.flatnonzero(keys[order[1:]] == keys[order[:-1]]) + 1
    same[twins] = (bits[order[twins]] == bits[order[twins - 1]]).all(axis=1)
    return order, np.cumsum(~same) - 1


def point_keys(placed: NDArray[Any]) -> Keys:
    """(N,) hashes of points."""
    bits = np.ascontiguousarray(placed + 0)  # −0 becomes 0
    words = bits.view(np.uint32).reshape(len(bits), bits.shape[1] * bits.itemsize // 4)
    factors = np.random.default_rng(0).integers(1, 2**63, words.shape[1], dtype=np.uint64) | 1
    keys = np.zeros(len(placed), dtype=np.uint64)
    for first in range(0, len(placed), 4096):
        part = words[first : first + 4096].astype(np.uint64)
        part ^= part >> 15  # a sum of products alone is linear in the bits
        keys[first : first + 4096] = (part * factors).sum(axis=1)
    return keys


# ---- from samples to points


class PlacedSamples(NamedTuple):
    """Samples as points; coincident samples are merged."""

    points: PointSet
    samples: Samples
    """One sample for each point, in the same order."""
    place: Ints
    """(samples given,) the point of each."""
    unavoidable_cost: float
    """Mean cost that no scores can avoid, because coincident samples differ in class."""


def place_samples(
    samples: Samples,
    metric: str | Callable[..., float],
    scale: str,
    n_threads: int,
    *,
    exact: bool = False,
) -> PlacedSamples:
    """Fit the space, map the samples to points, and merge coincident samples.

    `exact` points and distances are in double precision.
    """
    space = fit_space(samples, metric, scale)
    if exact and isinstance(space, Embedding):
        space = ExactSpace.of(space, scale)
    placed = space.place(samples.X)
    order, group = coincident(placed)
    merged, unavoidable_cost = merge(samples, order, group)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = group
    placed = placed[order[np.flatnonzero(np.diff(group, prepend=-1))]]
    rows = merged.rows_of_table.astype(np.int32)
    points = PointSet(space, placed, space.lay_out(placed), rows, n_threads)
    return PlacedSamples(points, merged, place, unavoidable_cost)


def fit_space(samples: Samples, metric: str | Callable[..., float], scale: str) -> Space:
    """Fit the scaling, independently of the order of the samples, or use the given metric."""
    if metric == "precomputed":
        checked(samples.X)
        if samples.rows_of_table.max() >= samples.X.shape[1]:
            raise ValueError(
                f"with metric='precomputed', X must have a column for each sample, but it has "
                f"{samples.X.shape[1]} columns and at least {len(samples)} samples"
            )
        return Precomputed()
    if metric != "sqeuclidean":
        if np.isnan(samples.X).any():
            raise ValueError(
                f"X contains NaN, to which metric={metric!r} has no distance: impute missing values "
                "first, or use metric='sqeuclidean'"
            )
        X, _, weight = _some(samples)
        return fit_measured(metric, X, weight)
    X, labels, weight = _some(samples)
    return fit_embedding(X, labels, samples.categories, scale, weight)


def _some(samples: Samples) -> tuple[Values, Labels, BySample]:
    """Distinct samples from which scales are learned, with their weights.

    The choice depends on their values only, so neither order nor repetition matters. All samples are
    used, except that large sets are limited to ENOUGH values.
    """
    keys = hash_rows(samples.X, 1, samples.labels)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    weight = exact_totals(samples.weight, group.astype(np.int32), len(first))
    n_used = n_learned_from(samples.X.shape[1])
    used = first[:n_used]
    return samples.X[used], samples.labels[used], weight[:n_used]


def n_learned_from(n_features: int) -> int:
    """Maximum number of samples from which scales are learned."""
    return max(FEWEST, ENOUGH // n_features)


def merge(samples: Samples, order: Ints, group: Ints) -> tuple[Samples, float]:
    """Merge coincident samples into one [LOCAL, footnote 1].

    Its cost row is Σc − min Σc, its class the one where that is 0. The subtracted part is unavoidable; its
    mean over all samples is returned too. `order` and `group` come from `coincident`.
    """
    if group[-1] == len(group) - 1:
        return samples.take(order), 0.0
    rows = (samples.costs if samples.by_sample else samples.costs[samples.labels])[order]
    weight = np.ones(len(order)) if samples.weight is None else samples.weight[order]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    mass, sums = sums_of_groups(weight, rows * weight[:, np.newaxis], first)
    own = np.minimum.reduceat(samples.labels[order], first)
    costs, labels, least = least_paid(sums / mass[:, np.newaxis], own)
    merged = replace(
        samples.take(order[first]), labels=labels, costs=costs, by_sample=True, weight=mass
    )
    return merged, math.fsum(least * mass) / math.fsum(mass)


def sums_of_groups(weight: BySample, paid: Floats, first: Ints) -> tuple[BySample, Floats]:
    """Weight, and what decisions cost, of groups that begin at `first`: exact sums, in any order."""
    mass, sums = weight[first], paid[first]
    ends = np.append(first[1:], len(weight))
    for group in np.flatnonzero(ends - first > 1).tolist():
        several = slice(first[group], ends[group])
        mass[group] = math.fsum(weight[several])
        sums[group] = [math.fsum(column) for column in paid[several].T]
    return mass, sums


def least_paid(paid: Floats, own: Labels) -> tuple[Floats, Labels, BySample]:
    """Costs above the least of each row, the class where they are 0, and the least.

    Of several such classes it is the one in `own`, or the first.
    """
    least = paid.min(axis=1, initial=np.inf)
    is_own = paid[np.arange(len(own)), own] == least
    labels = np.where(is_own, own, paid.argmin(axis=1)) if len(own) else own
    return paid - least[:, np.newaxis], labels.astype(np.int32), least
