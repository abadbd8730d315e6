"""Binned rows: bins chosen and assigned wherever the rows are, and trees grown on sums over bins.

Samples in memory are a `TrainingSet`, whose kernels search them directly. Rows in several blocks are asked for
the sums over the bins of each layer of a tree.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    Bins,
    ByFeature,
    BySample,
    Floats,
    Ints,
    Layer,
    SearchOptions,
    Splits,
)
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import counting_unit, weight_scale
from rebelboost.data.binning import BLOCK, Binner
from rebelboost.data.level_means import OutOfFold
from rebelboost.data.training_set import TrainingSet, bin_samples
from rebelboost.learners.base import Prepared
from rebelboost.learners.pruning import Schedule
from rebelboost.model.terms import Queries, Terms
from rebelboost.rows.base import Rows, facts_of
from rebelboost.rows.quantiles import BinRows, binner_of
from rebelboost.rows.sums import FindExtremes
from rebelboost.rows.trees import Descend, Draw, Open, Pairing, columns_of_features
from rebelboost.rows.weights import Where

MASS = 0xFFFFFFFF
"""The bits of a pair that hold its mass."""


class Binning(Protocol):
    """Options of a learner that bins its samples."""

    @property
    def bins(self) -> int:
        """Maximum number of bins of a numeric feature."""

    @property
    def binning(self) -> Any:
        """How bins are chosen."""


@dataclass
class BinnedBlocks:
    """Rows that are binned in several blocks."""

    rows: Rows
    binner: Binner
    n_samples: int
    unit: float
    """Unit of the counted weights of samples."""
    n_threads: int

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return len(self.binner.categorical)

    def cover(self, counted: Ints) -> Floats:
        """(L,) weights, given counts."""
        return counted.astype(np.float64) * self.unit

    @cached_property
    def bins(self) -> Bins:
        """The bins, without samples."""
        offsets = np.cumsum([0, *self.binner.n_bins], dtype=np.int32)
        blocks = np.empty((-(-self.n_features // BLOCK), 0, BLOCK), dtype=np.uint8)
        return Bins(blocks, offsets, self.binner.categorical)

    def choose(
        self, sums: Ints, totals: Ints, counts: Ints, search: SearchOptions, allowed: ByFeature
    ) -> Splits:
        """The best split of each node, from sums over the bins of the allowed features."""
        bins, splits = self.bins, Splits.empty(len(totals))
        kernels.active.choose_splits(
            bins,
            allowed,
            self._of_all(sums, allowed),
            np.ascontiguousarray(totals),
            np.ascontiguousarray(counts),
            search,
            splits,
            self.n_threads,
        )
        return splits

    def choose_by_classes(
        self, sums: Ints, counts: Ints, search: SearchOptions, allowed: ByFeature
    ) -> Splits:
        """The best split of each node, from (m, B, K) sums over the bins of the allowed features."""
        splits = Splits.empty(len(counts))
        kernels.active.choose_by_classes(
            self.bins,
            allowed,
            self._of_all(sums, allowed),
            np.ascontiguousarray(counts),
            search,
            splits,
            self.n_threads,
        )
        return splits

    def _of_all(self, sums: Ints, allowed: ByFeature) -> Ints:
        """Sums over all bins: 0 for features that are not allowed."""
        if allowed.all():
            return np.ascontiguousarray(sums)
        offsets = self.bins.offsets
        whole = np.zeros((len(sums), int(offsets[-1]), *sums.shape[2:]), dtype=np.int64)
        whole[:, columns_of_features(offsets, allowed)] = sums
        return whole

    def grow(
        self,
        pairing: Pairing,
        draw: Draw | None,
        depth: int,
        search: SearchOptions,
        allowed: ByFeature,
    ) -> list[Layer]:
        """Grow the layers of a tree, as `kernels.grow_tree` does on samples that are here."""
        answer: Any = self.rows.ask(Open(pairing, allowed, draw))
        if draw is not None and answer[2][0] == 0:
            answer = self.rows.ask(Open(pairing, allowed))
        sums, totals, counts = answer
        layers: list[Layer] = []
        for place in range(depth):
            splits = self.choose(sums, totals, counts, search, allowed)
            if np.all(splits.features < 0):
                break
            layers.append(Layer(splits.features, splits.right))
            if place + 1 == depth:
                break
            totals = splits.sides.ravel()
            children = _lighter(splits, search.least_mass)
            fewer, counts = self.rows.ask(Descend(layers[-1], children, allowed))
            sums = _of_children(sums, fewer, children, len(totals))
        return layers


def _lighter(splits: Splits, least_mass: int) -> NDArray[np.int32]:
    """The child with less mass of each split node, unless neither has the mass to be split again."""
    mass = splits.sides & MASS
    in_play = (splits.features >= 0) & (mass.max(axis=1) >= 2 * least_mass)
    parents = np.flatnonzero(in_play)
    return (2 * parents + (mass[parents, 1] < mass[parents, 0])).astype(np.int32)


def _of_children(parents: Ints, fewer: Ints, children: NDArray[np.int32], n_nodes: int) -> Ints:
    """(n_nodes, B) sums of all children, given those of one of each two; 0 for nodes out of play.

    A node that was not split has one child, on the left, with its own sums. It cannot be split further.
    """
    sums = np.zeros((n_nodes, parents.shape[1]), dtype=np.int64)
    sums[children] = fewer
    sums[children ^ 1] = parents[children // 2] - fewer
    return sums


def bin_rows(rows: Rows, options: Binning, n_threads: int) -> TrainingSet | BinnedBlocks:
    """Choose bins for the rows, using their weights, and bin them."""
    block = rows.alone
    if block is not None and block.given is not None:
        return bin_samples(block.given, options.bins, options.binning, n_threads)
    facts, found = facts_of(rows), rows.ask(FindExtremes())
    n_rows = sum(own.n_rows for own in found)
    heaviest = max(own.largest_weight for own in found)
    scale = weight_scale(heaviest, n_rows) if facts.weighted else None
    binner = binner_of(rows, facts.categorical, options.bins, options.binning, scale, n_rows)
    rows.ask(BinRows(binner))
    unit = counting_unit(heaviest, n_rows) if facts.weighted else 1.0
    return BinnedBlocks(rows, binner, n_rows, unit, n_threads)


@dataclass
class PreparedBins(Prepared):
    """Rows prepared for a search over bins."""

    options: Any
    data: TrainingSet | BinnedBlocks
    schedule: Schedule
    by_means: OutOfFold | None = None
    """What the columns of the bins hold, if some hold means of levels."""

    @property
    def n_samples(self) -> int:
        """Number of samples, N."""
        return self.data.n_samples

    def binned(self, queries: Queries) -> Bins | None:
        """Other samples in the bins of these."""
        X = queries.X if self.by_means is None else self.by_means.columns.of(queries.X)
        return self.data.binner.transform(X, self.data.n_threads)

    @property
    def n_features(self) -> int:
        """Number of columns that are searched."""
        return self.data.n_features

    @property
    def level_means(self) -> dict[Hashable, BySample]:
        """The means over the rows of other folds."""
        if self.by_means is None:
            return {}
        keys = [each.key for each in self.by_means.columns.means]
        return dict(zip(keys, self.by_means.means, strict=True))

    def covered(self, term: Terms, where: Where) -> Terms:
        """Record the weight in each leaf, unless blocks have counted it already."""
        return term if isinstance(where, Layer) else super().covered(term, where)
