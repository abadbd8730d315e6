"""Training samples as distinct points of a space, for candidates that are solved at once."""

from typing import Any

import numpy as np

from rebelboost.base.arrays import BySample, Distances, Indices, Outputs, Points
from rebelboost.data.point_set import coincident
from rebelboost.data.spaces import fit_embedding


class DistinctPoints:
    """Samples as points, each once: samples that coincide add up."""

    def __init__(self, samples: Any, settings: Any) -> None:
        learner = settings.learner
        self.samples, self.n_threads = samples, settings.n_threads
        self.space = fit_embedding(
            samples.X, samples.labels, samples.categories, learner.scale, samples.weight
        )
        placed = self.space.place(samples.X)
        # An order by hash: independent of the order of rows, and its first points are a random choice.
        self.order, self.group = coincident(placed)
        first = np.flatnonzero(np.diff(self.group, prepend=-1))
        self.placed: Points = placed[self.order[first]]
        self.rows = self._rows()

    def _rows(self) -> Indices:
        """(points,) the first row of the user's table at each point."""
        rows = np.full(self.group[-1] + 1, np.iinfo(np.int64).max)
        np.minimum.at(rows, self.group, self.samples.rows_of_table[self.order])
        return rows.astype(np.int32)

    def distances_from(self, points: Points) -> Distances:
        """(E, points) squared distances from examples to all points."""
        laid = self.space.lay_out(self.placed)
        rows = np.arange(len(points), dtype=np.int32)
        found = self.space.distances(laid, points, rows, self.n_threads)
        return np.ascontiguousarray(found[:, : len(self.placed)])

    def weighted(self, share: BySample) -> BySample:
        """Shares of the samples' weight."""
        return share if self.samples.weight is None else share * self.samples.weight

    def mass(self, weight: BySample) -> Outputs:
        """(points, K) weight of each class at each point."""
        classes = range(self.samples.n_classes)
        return np.stack([self.sums(weight * (self.samples.labels == k)) for k in classes], axis=1)

    def sums(self, values: BySample) -> BySample:
        """(points,) sums over the samples at each point, in an order that depends on the values only."""
        in_order = values[self.order]
        sorted_ = np.lexsort((in_order, self.group))
        sums = np.bincount(self.group[sorted_], in_order[sorted_], len(self.placed))
        return sums.astype(np.float64)
