"""The training set, as similarities see it: where samples lie, and distances between them."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Distances, Samples
from rebelboost.base.hashing import Keys
from rebelboost.data.spaces import Space


@dataclass(frozen=True)
class PointSet:
    """Samples of a space; immutable. The only way by which similarities reach data."""

    space: Space
    placed: NDArray[Any] = field(repr=False)
    """(N, …)"""
    laid: NDArray[Any] = field(repr=False)
    rows: Samples = field(repr=False)
    """(N,) where each sample is in the table that the user gave."""
    n_features: int
    n_threads: int = 1

    @property
    def n_samples(self) -> int:
        """N."""
        return len(self.rows)

    @cached_property
    def keys(self) -> Keys:
        """(N,) by which samples are drawn, whatever their order: they come in one that does not matter."""
        return np.arange(self.n_samples, dtype=np.uint64)

    def distances(self, samples: Samples) -> Distances:
        """(m, N) from the given samples to all."""
        points = self.space.keep(self.placed[samples])
        found = self.space.distances(self.laid, points, self.rows[samples], self.n_threads)
        return found[:, : self.n_samples]

    def part(self, samples: Samples) -> "PointSet":
        """Some of the samples, laid out by themselves."""
        placed = self.placed[samples]
        return replace(
            self, placed=placed, laid=self.space.lay_out(placed), rows=self.rows[samples]
        )

    def distances_from(self, other: "PointSet", samples: Samples) -> Distances:
        """(m, N) from samples of another set of this space, contiguous."""
        points = self.space.keep(other.placed[samples])
        found = self.space.distances(self.laid, points, other.rows[samples], self.n_threads)
        return np.ascontiguousarray(found[:, : self.n_samples])


def coincident(placed: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(N,) the samples in an order that does not depend on theirs, and the group of each in it.

    Samples of a group lie at the same point. The order is that of a hash, equal points together.
    """
    bits = np.ascontiguousarray(placed + 0)  # −0 becomes 0
    words = bits.view(np.uint32).reshape(len(placed), -1)
    factors = np.random.default_rng(0).integers(1, 2**63, words.shape[1], dtype=np.uint64) | 1
    keys = np.zeros(len(placed), dtype=np.uint64)
    for first in range(0, len(placed), 4096):
        part = words[first : first + 4096].astype(np.uint64)
        part ^= part >> 15  # a sum of products alone is linear in the bits
        keys[first : first + 4096] = (part * factors).sum(axis=1)
    order = np.argsort(keys, kind="stable")
    same = np.zeros(len(order), dtype=bool)
    twins = np.flatnonzero(keys[order[1:]] == keys[order[:-1]]) + 1
    same[twins] = (bits[order[twins]] == bits[order[twins - 1]]).all(axis=1)
    return order, np.cumsum(~same) - 1
