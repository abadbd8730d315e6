"""Trees as arrays: complete layers, nodes in level order, one tree after the other.

A node sends x right if x > threshold, and a missing value if missing_right. A node with a categorical
feature sends the codes marked in its row of `right`. A node without a split (feature −1) sends all samples
left. The leaves of a tree are its regions, from left to right.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    ByClass,
    BySample,
    Bytes,
    Floats,
    Ints,
    Layer,
    Outputs,
    Regions,
    Scores,
    TreeArrays,
)
from rebelboost.base.cached import cached_property
from rebelboost.base.checks import TensorReader, require
from rebelboost.base.fixed_point import exact_totals, is_multiple, rounded_parts
from rebelboost.base.hashing import distinct
from rebelboost.base.text import counted
from rebelboost.data.binning import Binner
from rebelboost.data.level_means import SIDE, Columns, LevelMeans, MeanSplits, joined
from rebelboost.model.coded_trees import Coded, coded
from rebelboost.model.shares import RuleVotes, Shares, add_at, slices
from rebelboost.model.terms import Queries, Separated, StoredTerms, Surroundings
from rebelboost.model.tree_means import TreeMeans, means_by_depth

NONE = -1
"""Stands for no feature, or no row of `right`."""
MANY_SAMPLES = 1024
"""On fewer samples, it would take longer to code the trees than to walk them."""
SOME_SAMPLES = 32
"""Once they are coded, for a predictor or many samples, that form is faster on so many."""
MOST_DEPTH = 12
"""Maximum depth of a tree."""
CHECKED_AT_ONCE = 1024
"""Number of leaves of a model file checked at a time, to keep copies small."""


@dataclass(frozen=True, eq=False)
class Trees(StoredTerms):
    """All trees of an ensemble, or a single tree from a learner."""

    rank: ClassVar[int] = 0
    credits_features: ClassVar[bool] = True
    makes_statements: ClassVar[bool] = True
    stored_as: ClassVar[str] = "trees"

    depths: NDArray[np.int32]
    """(T,)"""
    features: NDArray[np.int32]
    """(nodes,) feature of the split; −1: no split."""
    thresholds: Floats
    """(nodes,)"""
    missing_right: Bytes
    """(nodes,)"""
    category: NDArray[np.int32]
    """(nodes,) row of `right` for a categorical feature, else −1."""
    right: Bytes
    """(categorical nodes, 256) codes that go right."""
    signs: NDArray[np.int8]
    """(leaves,) responses ±1 if the leaves of a tree share one output vector, else 0."""
    outputs: Outputs
    """(leaves, K)"""
    cover: Floats = field(repr=False)
    """(leaves,) weight of the training samples in each leaf, for explanations; NaN if unknown."""
    mean_splits: MeanSplits | None = field(default=None, repr=False)
    """The nodes that split on means of levels; None: no node does."""

    @classmethod
    def grown(
        cls, nodes: Layer, binner: Binner, signs: NDArray[np.int8] | None, outputs: Outputs
    ) -> "Trees":
        """One tree, from splits on bins."""
        features = nodes.features
        tested = np.maximum(features, 0)
        missing = nodes.right[np.arange(len(tested)), binner.n_bins[tested] - 1]
        categorical = np.flatnonzero((features >= 0) & (binner.categorical[tested] != 0))
        # Codes that do not occur in these samples, but may in others, are treated as missing.
        beyond = np.arange(nodes.right.shape[1]) >= binner.n_bins[tested][categorical, np.newaxis]
        right = np.where(beyond, missing[categorical, np.newaxis], nodes.right[categorical])
        category = np.full(len(features), NONE, dtype=np.int32)
        category[categorical] = np.arange(len(categorical), dtype=np.int32)
        thresholds = binner.thresholds(tested, nodes.right)
        return cls.one(features, thresholds, missing, (category, right), signs, outputs)

    @classmethod
    def one(
        cls,
        features: NDArray[np.int32],
        thresholds: Floats,
        missing_right: Bytes,
        categories: tuple[NDArray[np.int32], Bytes],
        signs: NDArray[np.int8] | None,
        outputs: Outputs,
    ) -> "Trees":
        """One tree, from splits on values. `categories` are `category` and `right`."""
        n_leaves = len(features) + 1
        return cls(
            np.array([len(features).bit_length()], dtype=np.int32),
            features,
            thresholds,
            missing_right,
            *categories,
            np.zeros(n_leaves, dtype=np.int8) if signs is None else signs,
            outputs,
            np.full(n_leaves, np.nan),
        )

    @classmethod
    def constant(cls, output: ByClass) -> "Trees":
        """One tree without a split, which adds the same to the scores of all samples."""
        return cls.constants(output[np.newaxis]).with_cover(np.ones(1))

    @classmethod
    def constants(cls, outputs: Outputs) -> "Trees":
        """Trees without a split, which add (T, K) outputs to the scores of all samples."""
        n = len(outputs)
        return replace(
            cls.none(outputs.shape[1]),
            depths=np.zeros(n, dtype=np.int32),
            signs=np.zeros(n, dtype=np.int8),
            outputs=outputs,
            cover=np.full(n, np.nan),
        )

    @classmethod
    def none(cls, n_classes: int) -> "Trees":
        """No trees."""
        ints, flags = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint8)
        tables, signs = np.empty((0, 256), dtype=np.uint8), np.empty(0, dtype=np.int8)
        outputs, cover = np.empty((0, n_classes)), np.empty(0)
        return cls(ints, ints, np.empty(0), flags, ints, tables, signs, outputs, cover)

    def __len__(self) -> int:
        return len(self.depths)

    # ---- positions of each tree's nodes and leaves

    @cached_property
    def n_nodes(self) -> Ints:
        """(T,) number of nodes of each tree; it has one leaf more."""
        return (1 << self.depths.astype(np.int64)) - 1

    @cached_property
    def node_offsets(self) -> Ints:
        """(T,) start of each tree's nodes."""
        return np.cumsum(self.n_nodes) - self.n_nodes

    @cached_property
    def leaf_offsets(self) -> Ints:
        """(T,) start of each tree's leaves."""
        return self.node_offsets + np.arange(len(self))

    def on_columns(self, columns: Columns) -> "Trees":
        """The same trees, given what the columns are that they split on."""
        tested = np.maximum(self.features, 0)
        splits = self.features >= 0
        place = np.where(splits, columns.place[tested], NONE).astype(np.int32)
        features = np.where(splits, columns.feature[tested], NONE).astype(np.int32)
        nodes = np.arange(len(features))
        means = MeanSplits(place, columns.means, columns.n_features).take(nodes)
        missing_right = np.where(place >= 0, np.uint8(0), self.missing_right)  # means never miss
        return replace(self, features=features, missing_right=missing_right, mean_splits=means)

    @property
    def level_means(self) -> tuple[LevelMeans, ...]:
        """The means that nodes split on."""
        return () if self.mean_splits is None else self.mean_splits.means

    @cached_property
    def columns(self) -> NDArray[np.int32]:
        """(nodes,) column of `Queries.beside` that each node splits on; −1: no split."""
        if self.mean_splits is None:
            return self.features
        return np.maximum(self.mean_splits.added, self.features)

    @property
    def mean_of_column(self) -> dict[int, LevelMeans]:
        """Column of means of levels → the means."""
        n = 0 if self.mean_splits is None else self.mean_splits.n_features
        return {n + i: means for i, means in enumerate(self.level_means)}

    @cached_property
    def walked(self) -> TreeArrays:
        """The arrays in the form that the kernels take."""
        return TreeArrays(
            self.depths,
            self.node_offsets,
            self.leaf_offsets,
            np.maximum(self.columns, 0),  # a node without a split has an infinite threshold
            self.thresholds,
            self.missing_right,
            self.category,
            self.right,
            self.outputs,
        )

    # ---- tables of terms

    @classmethod
    def joined(cls, parts: Sequence["Trees"]) -> "Trees":
        """All trees of the parts."""
        shift = np.cumsum([0, *(len(part.right) for part in parts)])
        categories = [
            np.where(part.category >= 0, part.category + n, NONE).astype(np.int32)
            for part, n in zip(parts, shift[:-1], strict=True)
        ]
        names = ("depths", "features", "thresholds", "missing_right", "right", "signs", "outputs")
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in names
        }
        cover = np.concatenate([part.cover for part in parts])
        means = joined([part.mean_splits for part in parts], [len(part.features) for part in parts])
        return cls(**arrays, category=np.concatenate(categories), cover=cover, mean_splits=means)

    def take(self, chosen: Ints) -> "Trees":
        """Select trees."""
        nodes = ranges(self.node_offsets[chosen], self.n_nodes[chosen])
        leaves = ranges(self.leaf_offsets[chosen], self.n_nodes[chosen] + 1)
        tables = self.category[nodes]
        used = tables[tables >= 0]
        category = np.full(len(nodes), NONE, dtype=np.int32)
        category[tables >= 0] = np.arange(len(used), dtype=np.int32)
        return Trees(
            self.depths[chosen],
            self.features[nodes],
            self.thresholds[nodes],
            self.missing_right[nodes],
            category,
            self.right[used],
            self.signs[leaves],
            self.outputs[leaves],
            self.cover[leaves],
            None if self.mean_splits is None else self.mean_splits.take(nodes),
        )

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add the outputs of trees [first, last)."""
        X = queries.beside(self.level_means)
        least = SOME_SAMPLES if "coded" in vars(self) else MANY_SAMPLES
        if len(queries) >= least and self.coded is not None:
            self.coded.add_scores(X, scores, first, last, n_threads)
        else:
            kernels.active.predict(X, self.walked, first, last, scores, n_threads)

    @cached_property
    def coded(self) -> Coded | None:
        """The form that is walked faster on many samples; None if it does not pay."""
        return coded(self)

    # ---- exact sums

    @property
    def bound(self) -> float:
        """Limit of the absolute scores that the trees add up to."""
        if len(self) == 0:
            return 0.0
        highest = np.maximum.reduceat(self.outputs, self.leaf_offsets, axis=0)
        lowest = np.minimum.reduceat(self.outputs, self.leaf_offsets, axis=0)
        return float(np.maximum(highest, -lowest).max(axis=1).sum())

    def fits(self, unit: float) -> bool:
        """Whether all outputs are multiples of `unit`."""
        return is_multiple(self.outputs, unit)

    def on_grid(self, unit: float) -> "Trees":
        """The same trees with outputs rounded to multiples of `unit`, and to few bits: see `rounded_parts`."""
        return replace(self, outputs=rounded_parts(self.outputs, self.leaf_offsets, unit))

    # ---- one tree

    @property
    def depth(self) -> int:
        """Number of layers of the tree."""
        return int(self.depths[0])

    @property
    def responses(self) -> NDArray[np.int8] | None:
        """(leaves,) f of each leaf; None if each leaf has its own output vector."""
        return self.signs if self.signs[0] != 0 else None

    @property
    def by_region(self) -> Outputs:
        """(leaves, K)."""
        return self.outputs

    def regions(self, queries: Queries, n_threads: int = 1) -> Regions:
        """(N,) the leaf of each sample."""
        return self.leaves(0, queries, n_threads)

    def leaves(self, tree: int, queries: Queries, n_threads: int = 1) -> Regions:
        """(N,) the leaf of one of the trees that each sample reaches."""
        regions = np.zeros(len(queries), dtype=np.uint16)
        X = queries.beside(self.level_means)
        kernels.active.apply(X, self.walked, tree, regions, n_threads)
        return regions

    @property
    def used_features(self) -> NDArray[np.int32]:
        """The features of the splits, sorted, each once."""
        second = [f for each in self.level_means for f in each.features[1:]]
        both = np.append(self.features[self.features >= 0], second)
        return distinct(both.astype(np.int32))

    @property
    def crosses(self) -> bool:
        """Whether nodes split on means of pairs of levels, which do not depend on one feature alone."""
        return any(each.crossing is not None for each in self.level_means)

    def describe(self, names: Sequence[str] | None = None) -> str:
        """The split of a stump, or the features that a tree splits on."""
        used = self.used_features
        if len(used) == 0:
            return "constant"
        called = [f"x{f}" for f in range(max(used) + 1)] if names is None else names
        name = [called[f] for f in used]
        if self.depth > 1:
            return f"tree on {', '.join(name)}"
        if self.mean_splits is not None:
            (means,) = self.level_means
            return f"{means.words(called)} > {means.shown(self.thresholds[0])}"
        if self.category[0] >= 0:
            return f"{name[0]} in {{…}}"
        return f"{name[0]} > {self.thresholds[0]:.6g}"

    def is_crossed(self, node: int) -> bool:
        """Whether a node splits on means of pairs of levels."""
        place = -1 if self.mean_splits is None else int(self.mean_splits.place[node])
        return place >= 0 and self.level_means[place].crossing is not None

    def codes_right(self, node: int, codes: Floats) -> NDArray[np.bool_]:
        """Which codes of its category a node sends right; NaN is missing."""
        if self.mean_splits is not None and (place := self.mean_splits.place[node]) >= 0:
            of_code = self.mean_splits.means[place].of_codes(codes)
            return np.asarray(of_code > self.thresholds[node])
        table = self.right[self.category[node]] != 0
        known = codes < len(table)
        inside = np.where(known, codes, 0).astype(np.int64)
        return np.where(known, table[inside], self.missing_right[node] != 0)

    def pairs_right(self, node: int) -> dict[str, Any]:
        """Of a crossed node, as plain data: its second feature, where most pairs go, and those that do not."""
        assert self.mean_splits is not None
        means = self.mean_splits.means[int(self.mean_splits.place[node])]
        assert means.crossing is not None
        right = means.values > self.thresholds[node]
        apart = means.crossing.keys[right[:-1] != right[-1]]
        pairs = np.stack(np.divmod(apart, SIDE), axis=1)
        return {"with": means.crossing.other, "others": bool(right[-1]), "but_not": pairs.tolist()}

    def covered(self, regions: Regions, weight: BySample | None) -> "Trees":
        """Record the weight of the training samples in each leaf."""
        return self.with_cover(exact_totals(weight, regions, len(self.outputs)))

    def with_cover(self, cover: Floats) -> "Trees":
        """The same trees with this weight of training samples in each leaf."""
        return replace(self, cover=cover)

    # ---- explanations

    def means(self) -> list[TreeMeans]:
        """Average output of each node over the training samples, for trees of each depth."""
        return means_by_depth(self)

    def share_out(self, queries: Queries, shares: Shares, n_threads: int) -> None:
        """Credit the change at each split, from root to leaf, to the split's feature [Saabas 2014]."""
        n_classes = self.outputs.shape[1]
        leaves = np.empty((len(self), len(queries)), dtype=np.int64)
        for t in range(len(self)):
            leaves[t] = self.leaves(t, queries, n_threads)
        roots = np.empty((len(self), n_classes))
        for means in self.means():
            roots[means.places] = means.values[:, 0]
            for first, last in slices(len(queries), len(means.places) * n_classes):
                for feature, change in means.changes(leaves[means.places, first:last].T):
                    add_at(shares.features[first:last], feature, change)
        shares.baseline += roots.sum(axis=0)
        shares.rules = RuleVotes(self, np.ascontiguousarray(leaves.T), roots)

    def add_importances(self, sizes: Floats) -> None:
        """Add the sizes of the changes by the splits on each feature, averaged over training samples."""
        for means in self.means():
            means.add_importances(sizes)

    def n_splitting(self, n_features: int) -> Ints:
        """(d,) number of trees that split on each feature."""
        of_node = np.repeat(np.arange(len(self)), self.n_nodes)
        tests = self.features >= 0
        tested = np.unique(np.stack([of_node[tests], self.features[tests]]), axis=1)[1]
        return np.bincount(tested, minlength=n_features)

    def is_additive(self, feature: int) -> bool:
        """Whether every tree that splits on a feature splits on no other."""
        if any(feature in each.features for each in self.level_means if each.crossing):
            return False
        tree = np.repeat(np.arange(len(self)), self.n_nodes)
        uses = distinct(tree[self.features == feature])
        others = tree[(self.features >= 0) & (self.features != feature)]
        return not np.isin(uses, others).any()

    def steps(self, feature: int) -> Floats:
        """Thresholds of the splits on a numeric feature."""
        return self.thresholds[(self.features == feature) & (self.category < 0)]

    @classmethod
    def heading(cls, tables: Sequence["Trees"]) -> list[str]:
        """Text such as "40 trees of depth 6", or "of depth up to 6" if some are shallower; constants apart."""
        (trees,) = tables
        depths = trees.depths[trees.depths > 0]
        constants = ["a constant for each class"] if len(depths) < len(trees) else []
        if len(depths) == 0:
            return constants
        up_to = "up to " if depths.min() < depths.max() else ""
        return [f"{counted(len(depths), 'tree')} of depth {up_to}{depths.max()}", *constants]

    def separated(self) -> Separated:
        """The two classes whose outputs differ most, by root mean square over the training samples."""
        first, second = np.empty(len(self), dtype=np.int64), np.empty(len(self), dtype=np.int64)
        distance = np.empty(len(self))
        for means in self.means():
            first[means.places], second[means.places], distance[means.places] = means.separated()
        return Separated(first, second, distance)

    # ---- model files

    @classmethod
    def to_arrays(
        cls, groups: Sequence[tuple[Ints, "Trees"]], first_space: int, n_classes: int
    ) -> dict[str, NDArray[Any]]:
        """Arrays of a model file, which has one table of trees."""
        del first_space
        return (groups[0][1] if groups else cls.none(n_classes)).to_tensors()

    @classmethod
    def from_arrays(
        cls, reader: TensorReader, positions: Ints, around: Surroundings
    ) -> list[tuple[Ints, "Trees"]]:
        """Read the trees of a model file, and check them."""
        trees = cls.from_tensors(reader, len(positions), around.categorical, around.n_classes)
        return [(positions, trees)] if len(trees) else []

    def plain(self, first_space: int, n_levels: Mapping[int, int]) -> list[dict[str, Any]]:
        """Every tree as plain JSON data."""
        del first_space
        return [_plain(self.take(np.array([t])), n_levels) for t in range(len(self))]

    def to_tensors(self) -> dict[str, NDArray[Any]]:
        """Arrays of a model file."""
        table_nodes = np.flatnonzero(self.category >= 0)
        tensors: dict[str, NDArray[Any]] = {
            "depths": self.depths.astype(np.uint8),
            "signed": (self.signs[self.leaf_offsets] != 0).astype(np.uint8),
            "features": self.features,
            "thresholds": self.thresholds,
            "missing_right": self.missing_right,
            "table_nodes": table_nodes,
            "tables": np.packbits(
                self.right[self.category[table_nodes]], axis=1, bitorder="little"
            ),
            "signs": self.signs[self.signs != 0],
            "outputs": self.outputs,
        }
        if not np.isnan(self.cover).any():
            tensors["cover"] = self.cover
        return tensors | ({} if self.mean_splits is None else self.mean_splits.to_tensors())

    @classmethod
    def from_tensors(
        cls,
        reader: TensorReader,
        n_trees: int,
        categorical: NDArray[np.bool_],
        n_classes: int,
        name: str = "trees",
    ) -> "Trees":
        """Read `n_trees` trees, and check every rule that prediction relies on."""
        depths = reader.take(f"{name}.depths", np.uint8, n_trees)
        require((depths <= MOST_DEPTH).all(), f"a tree deeper than {MOST_DEPTH} layers")
        sizes = (1 << depths.astype(np.int64)) - 1
        n_nodes = int(sizes.sum())
        signed = reader.flags(f"{name}.signed", n_trees)
        has_sign = np.repeat(signed, sizes + 1) == 1
        table_nodes = reader.take(f"{name}.table_nodes", np.int64, None)
        features = reader.indices(f"{name}.features", len(categorical), n_nodes, least=NONE)
        thresholds = reader.take(f"{name}.thresholds", np.float64, n_nodes)
        missing_right = reader.flags(f"{name}.missing_right", n_nodes)
        tables = reader.take(f"{name}.tables", np.uint8, len(table_nodes), 32)
        given_signs = reader.take(f"{name}.signs", np.int8, int(np.count_nonzero(has_sign)))
        outputs = reader.numbers(f"{name}.outputs", n_nodes + n_trees, n_classes)
        cover = np.full(n_nodes + n_trees, np.nan)
        if reader.has(f"{name}.cover"):
            cover = reader.numbers(f"{name}.cover", n_nodes + n_trees)
            fine = (cover >= 0).all() and (cover < 1e300).all()
            require(fine, "leaves with a negative or huge weight of samples")
        means = MeanSplits.from_tensors(reader, name, features, categorical, n_classes)
        no_means = np.ones(n_nodes, dtype=bool) if means is None else means.place < 0
        _check_nodes(features, thresholds, missing_right, table_nodes, categorical, no_means)
        category = np.full(n_nodes, NONE, dtype=np.int32)
        category[table_nodes] = np.arange(len(table_nodes), dtype=np.int32)
        reader.room.take(256 * len(tables), "categories of splits, which are")
        require((np.abs(given_signs) == 1).all(), "signs of leaves that are neither 1 nor −1")
        signs = np.zeros(n_nodes + n_trees, dtype=np.int8)
        signs[has_sign] = given_signs
        right = np.unpackbits(tables, axis=1, bitorder="little")
        nodes = depths.astype(np.int32), features, thresholds, missing_right
        trees = cls(*nodes, category, right, signs, outputs, cover, means)
        _check_signs(signs, outputs, sizes + 1)
        return trees


def constant_response(outputs: Outputs) -> Trees:
    """One tree without a split, whose response is 1, with (1, K) outputs."""
    return replace(Trees.constants(outputs), signs=np.ones(1, dtype=np.int8))


def _check_nodes(
    features: NDArray[np.int32],
    thresholds: Floats,
    missing_right: Bytes,
    table_nodes: Ints,
    categorical: NDArray[np.bool_],
    no_means: NDArray[np.bool_],
) -> None:
    """Check that every split can be walked, whatever the sample.

    `no_means` (nodes,): nodes that do not split on means of levels.
    """
    tests = features != NONE
    require((thresholds > -np.inf).all(), "a threshold that is not a number")  # also rejects NaN
    of_categories = tests & categorical[features] if len(categorical) else np.zeros_like(tests)
    of_categories &= no_means
    require(
        np.array_equal(np.flatnonzero(of_categories), table_nodes),
        "category tables that do not match the nodes with categorical features",
    )
    endless = np.isposinf(thresholds)
    require(endless[of_categories].all(), "a threshold at a categorical feature")
    idle = endless[~tests].all() and not missing_right[~tests].any()
    require(idle, "a node without a split that sends samples right")


def _check_signs(signs: NDArray[np.int8], outputs: Outputs, n_leaves: Ints) -> None:
    """Check that leaves with signs share one output vector; `n_leaves` (T,) are those of each tree."""
    leaves = np.flatnonzero(signs)
    first = np.repeat(np.cumsum(n_leaves) - n_leaves, n_leaves)[leaves]
    for some in np.array_split(np.arange(len(leaves)), len(leaves) // CHECKED_AT_ONCE + 1):
        own, lead = leaves[some], first[some]
        turned = signs[own] * signs[lead]
        shared = turned[:, np.newaxis] * outputs[lead]
        alike = np.array_equal(outputs[own], shared)
        require(alike, "a tree whose leaves have signs but do not share one output")


def _plain(tree: Trees, n_levels: Mapping[int, int]) -> dict[str, Any]:
    """A tree; nodes that split on means of levels are written as codes, or pairs of codes, that go right."""
    crossed = [node for node in range(len(tree.features)) if tree.is_crossed(node)]
    known = [n_levels.get(feature) for feature in tree.features.tolist()]
    known = [None if node in crossed else n for node, n in enumerate(known)]
    pairs = {str(node): tree.pairs_right(node) for node in crossed}
    goes = {node: _sides(tree, node, n) for node, n in enumerate(known) if n is not None}
    thresholds = enumerate(tree.thresholds.tolist())
    missing = enumerate(tree.missing_right.tolist())
    return {
        "kind": "tree",
        "depth": tree.depth,
        "features": tree.features.tolist(),
        "thresholds": [None if node in goes else _finite(x) for node, x in thresholds],
        "missing_right": [bool(goes[node][-1] if node in goes else own) for node, own in missing],
        "categories_right": {
            str(node): np.flatnonzero(sides[:-1]).tolist() for node, sides in goes.items()
        },
        **({"pairs_right": pairs} if pairs else {}),
        "outputs": tree.outputs.tolist(),
    }


def _sides(tree: Trees, node: int, n_levels: int) -> NDArray[np.bool_]:
    """(levels + 1,) whether a node sends each code right, and missing values."""
    return tree.codes_right(node, np.append(np.arange(n_levels, dtype=np.float64), np.nan))


def _finite(threshold: float) -> float | None:
    """None for an infinite threshold, which JSON cannot represent: no number exceeds it."""
    return threshold if math.isfinite(threshold) else None


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """All integers in the ranges [start, start + length), one range after the other."""
    if len(starts) == 1:  # fast path for views of one term
        return np.arange(starts[0], starts[0] + lengths[0])
    first = np.cumsum(lengths) - lengths
    return np.repeat(starts - first, lengths) + np.arange(int(lengths.sum()))
