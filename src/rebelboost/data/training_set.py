"""Binned training samples, and searches for splits over sums of weights by bin."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    Bins,
    ByFeature,
    BySample,
    Bytes,
    Floats,
    Focus,
    GrownTree,
    Indices,
    Ints,
    Layer,
    Nodes,
    Order,
    Pairs,
    Regions,
    SearchOptions,
    Splits,
    TreeData,
    TreeScratch,
    Values,
    Work,
)
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import counting_unit, fixed_weights
from rebelboost.data.binning import MOST_BINS, Binner, fit_binner
from rebelboost.data.samples import Samples

TABLE = 256
"""Number of entries of a table indexed by bin."""
MOST_SORTED = 2**15
"""With more samples, the nodes of most trees are so large that sums over bins are faster than sorting."""


@dataclass
class TrainingSet:
    """Binned samples, searches over them, and memory that searches reuse. Each fit has its own."""

    bins: Bins
    binner: Binner
    n_threads: int = 1
    _scratch: dict[int, TreeScratch] = field(default_factory=dict, repr=False, compare=False)
    _tables: dict[int, Bytes] = field(default_factory=dict, repr=False, compare=False)
    values: Values | None = field(default=None, repr=False, compare=False)
    """(N, d) values before binning, for learners that need them."""
    weight: BySample | None = field(default=None, repr=False, compare=False)
    """(N,) sample weights, for the cover of leaves."""
    _orders: dict[int, tuple[Indices, Ints]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def n_samples(self) -> int:
        """Number of samples, N."""
        return self.bins.blocks.shape[1]

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return len(self.bins.categorical)

    @property
    def n_bins(self) -> int:
        """Number of bins of all features together, B."""
        return int(self.bins.offsets[-1])

    @property
    def no_others(self) -> Bins:
        """No other samples in the same bins."""
        return self.bins._replace(blocks=np.ascontiguousarray(self.bins.blocks[:, :0]))

    def column(self, feature: int) -> Bytes:
        """(N,) bins of one feature."""
        n_features = self.bins.blocks.shape[2]
        return self.bins.blocks[feature // n_features, :, feature % n_features]

    @cached_property
    def wide(self) -> NDArray[np.bool_]:
        """(d,) numeric features with more values than bins, if values are kept."""
        if self.values is None:
            return np.zeros(self.n_features, dtype=bool)
        numeric = self.bins.categorical == 0
        return np.array([n and len(self.order(f)[1]) >= MOST_BINS for f, n in enumerate(numeric)])

    def order(self, feature: int) -> tuple[Indices, Ints]:
        """Samples by increasing value, without missing ones, and the positions after which it increases."""
        if feature not in self._orders:
            x = self.values[:, feature] if self.values is not None else np.empty(0)
            order = np.argsort(x, kind="stable").astype(np.int32)
            order = order[: len(x) - np.count_nonzero(np.isnan(x))]
            self._orders[feature] = order, np.flatnonzero(x[order[1:]] > x[order[:-1]])
        return self._orders[feature]

    @cached_property
    def bin_order(self) -> Order:
        """Samples by ascending bin of each feature (kernels.sort_bins), if there are few enough."""
        order = np.empty((self.n_features, self.n_samples), dtype=np.uint32)
        if self.n_samples > MOST_SORTED:
            return order[:0]
        kernels.active.sort_bins(self.bins, order, self.n_threads)
        return order

    def class_sums(self, values: NDArray[np.int32], samples: Indices, allowed: ByFeature) -> Ints:
        """(B, K padded) sums of the samples' vectors in each bin (kernels.class_sums)."""
        sums = np.zeros((self.n_bins, values.shape[1]), dtype=np.int32)
        kernels.active.class_sums(self.bins, allowed, values, samples, sums, self.n_threads)
        return sums.astype(np.int64)

    def search_root(
        self, values: NDArray[np.int32], totals: Ints, root: Nodes, allowed: ByFeature
    ) -> tuple[Layer, Work]:
        """Find the stump with the lowest Σ_k √(S_k² − P_k²), by K-vector sums (kernels.search_root)."""
        right = np.zeros((1, TABLE), dtype=np.uint8)
        feature, _, done = kernels.active.search_root(
            self.bins, allowed, values, totals, root, right[0], self.n_threads
        )
        work = _work(root, allowed, *done)
        return Layer(np.array([feature], dtype=np.int32), right), work

    def tree_memory(self, depth: int) -> GrownTree:
        """Memory for a tree. That of the tables is reused in every round."""
        n_nodes = 2**depth - 1
        if depth not in self._tables:
            self._tables[depth] = np.empty((n_nodes, TABLE), dtype=np.uint8)
        return GrownTree(
            np.empty(n_nodes, dtype=np.int32),
            self._tables[depth],
            np.empty(n_nodes),
            np.empty(n_nodes, dtype=np.uint8),
            np.empty(n_nodes, dtype=np.int32),
            np.empty(n_nodes + 1),
            np.empty(self.n_samples, dtype=np.uint16),
        )

    def tree_scratch(self, depth: int) -> TreeScratch:
        """Memory to grow a tree in, reused in every round: allocating pages is slower than summing."""
        if depth not in self._scratch:
            rows = -(-3 * 2**depth // 4)
            self._scratch[depth] = TreeScratch(
                np.empty(self.n_samples, dtype=np.int64),
                np.empty((rows, self.n_bins), dtype=np.int64),
            )
        return self._scratch[depth]

    @cached_property
    def tree_data(self) -> TreeData:
        """What kernels need to grow leaf trees, besides the bins."""
        unit, counts = 1.0, np.ones(self.n_samples)
        if self.weight is not None:
            unit = counting_unit(float(self.weight.max(initial=0.0)), self.n_samples)
            counts = np.rint(self.weight / unit)
        binner = self.binner
        return TreeData(self.bin_order, binner.flat_edges, binner.edge_offsets, counts, unit)

    def grow(
        self, values: Pairs, focus: Focus, depth: int, options: SearchOptions
    ) -> tuple[GrownTree, int]:
        """Grow a tree on sums of pairs (kernels.grow_term). Also returns the number of its layers."""
        tree = self.tree_memory(depth)
        n_layers = kernels.active.grow_term(
            self.bins,
            self.tree_data,
            focus,
            values,
            options,
            tree,
            self.tree_scratch(depth).sums,
            self.n_threads,
        )
        return tree, n_layers

    def search_layer(
        self, values: Pairs, nodes: Nodes, options: SearchOptions, allowed: ByFeature
    ) -> tuple[Splits, Work]:
        """Find the best split of each node, by sums of pairs (kernels.prune_layer)."""
        splits = Splits.empty(len(nodes.cuts))
        done = kernels.active.prune_layer(
            self.bins, allowed, values, nodes, options, splits, self.n_threads
        )
        return splits, _work(nodes, allowed, *done)

    def search_classes(
        self,
        values: NDArray[np.int32],
        n_classes: int,
        nodes: Nodes,
        options: SearchOptions,
        allowed: ByFeature,
    ) -> tuple[Splits, Work]:
        """Find the best split of each node, by the weights of all classes (kernels.prune_classes)."""
        splits = Splits.empty(len(nodes.cuts))
        done = kernels.active.prune_classes(
            self.bins, allowed, values, n_classes, nodes, options, splits, self.n_threads
        )
        return splits, _work(nodes, allowed, *done)

    def heaviest_first(self, keys: Ints, nodes: Nodes, shares: Floats) -> Nodes:
        """Sort each node's samples by decreasing key, cut where they hold these shares of the sum."""
        samples = nodes.samples.copy()
        starts = _starts(nodes)
        cuts = np.empty((len(nodes.cuts), len(shares) + 2), dtype=np.int32)
        kernels.active.heaviest_first(keys, samples, starts, shares, cuts, self.n_threads)
        return Nodes(samples, cuts)

    def split(self, layer: Layer, nodes: Nodes) -> Nodes:
        """Divide each node's samples among its two children."""
        samples = nodes.samples.copy()
        starts = _starts(nodes)
        child_starts = np.empty(2 * len(starts) - 1, dtype=np.int32)
        kernels.active.split_samples(
            self.bins, layer, samples, starts, child_starts, self.n_threads
        )
        return Nodes(samples, np.stack([child_starts[:-1], child_starts[1:]], axis=1))

    def route(self, layers: Sequence[Layer]) -> Regions:
        """Find the leaf of each sample in a tree of these layers."""
        regions = np.zeros(self.n_samples, dtype=np.uint16)
        for layer in layers:
            kernels.active.descend(self.bins, layer, regions, self.n_threads)
        return regions

    def descend(self, layer: Layer, regions: Regions) -> Regions:
        """Find the leaf of each sample in a tree with a further layer."""
        deeper = regions.copy()
        kernels.active.descend(self.bins, layer, deeper, self.n_threads)
        return deeper


def _work(nodes: Nodes, allowed: ByFeature, visited: int, dropped: int) -> Work:
    n_samples = int((nodes.cuts[:, -1] - nodes.cuts[:, 0]).sum())
    return Work(visited, n_samples * int(np.count_nonzero(allowed)), dropped)


def _starts(nodes: Nodes) -> NDArray[np.int32]:
    """(m + 1,) where each node begins, and where the last one ends."""
    starts = np.empty(len(nodes.cuts) + 1, dtype=np.int32)
    starts[:-1] = nodes.cuts[:, 0]
    starts[-1] = nodes.cuts[-1, -1]
    return starts


def root_node(samples: Indices) -> Nodes:
    """One node with all the given samples in a single subset."""
    return Nodes(samples, np.array([[0, len(samples)]], dtype=np.int32))


def bin_samples(samples: Samples, max_bins: int, method: str, n_threads: int = 1) -> TrainingSet:
    """Choose bins for the samples, using their weights, and bin them."""
    binner = fit_binner(
        samples.X,
        max_bins=max_bins,
        method=method,
        weights=fixed_weights(samples.weight),
        categorical=samples.categories,
        n_threads=n_threads,
    )
    bins = binner.transform(samples.X, n_threads)
    return TrainingSet(bins, binner, n_threads, values=samples.X, weight=samples.weight)
