"""Cells of trees: between neighbouring thresholds, and for each category, the scores are constant.

Splits look at one feature each. So the values of a feature fall into finitely many cells, all values of a cell
give the same scores, and what a table of any size would show can be found from a grid of cells, exactly.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints, Outputs, Values
from rebelboost.base.cached import cached_property
from rebelboost.model.trees import NONE, Trees

Flags = NDArray[np.bool_]
WHOLE_BITS = 60
"""Bits of the sums of outputs as integers. Sums may pass through larger numbers: integers wrap around."""


class Axis(NamedTuple):
    """The cells of a feature."""

    low: Floats
    """(m,) lower ends, which do not belong to the cells; or the codes of categories."""
    high: Floats
    """(m,) upper ends, which do; or the codes of categories."""
    is_category: bool

    def __len__(self) -> int:
        return len(self.low)

    def cell(self, x: float) -> int:
        """The cell of a value; −1 if it is missing, or a category that is unknown."""
        if np.isnan(x) or (self.is_category and x >= len(self)):
            return NONE
        return int(x) if self.is_category else int(np.searchsorted(self.high, x))


class Paths(NamedTuple):
    """The splits on the way to each leaf; shallow trees have fewer of them."""

    nodes: Ints
    """(L, D) nodes; −1: none."""
    right: Flags
    """(L, D) the sides that are taken."""
    tree: Ints
    """(L,) the tree of each leaf."""


def paths_of(trees: Trees) -> Paths:
    """The paths to all leaves, in their order."""
    tree = np.repeat(np.arange(len(trees)), trees.n_nodes + 1)
    leaf = np.arange(len(tree)) - trees.leaf_offsets[tree]
    depth = trees.depths[tree].astype(np.int64)
    n_layers = int(trees.depths.max(initial=0))
    nodes = np.full((len(tree), n_layers), NONE, dtype=np.int64)
    right = np.zeros((len(tree), n_layers), dtype=bool)
    for layer in range(n_layers):
        below = np.maximum(depth - layer, 1)
        there = depth > layer
        node = trees.node_offsets[tree] + 2**layer - 1 + (leaf >> below)
        nodes[there, layer] = node[there]
        right[:, layer] = there & ((leaf >> (below - 1) & 1) == 1)
    return Paths(nodes, right, tree)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of all features, and on which side of each split they are."""

    trees: Trees
    n_levels: Mapping[int, int]
    """Categorical feature → number of its categories."""
    more_steps: Mapping[int, Floats]
    """Feature → values at which something else than the scores changes."""

    @cached_property
    def paths(self) -> Paths:
        """The paths to all leaves."""
        return paths_of(self.trees)

    @cached_property
    def features(self) -> Ints:
        """(L, D) the feature of each split on the paths; −1: none."""
        features = np.append(self.trees.features, NONE)  # for nodes that are not there
        return features[self.paths.nodes].astype(np.int64)

    @cached_property
    def unit(self) -> float:
        """A power of two of which the outputs are multiples, if they are on a grid, or nearly."""
        return 2.0 ** (math.frexp(self.trees.bound)[1] - WHOLE_BITS)

    @cached_property
    def whole(self) -> Ints:
        """(L, K) the outputs in these units."""
        return np.rint(self.trees.outputs / self.unit).astype(np.int64)

    def axis(self, feature: int) -> Axis:
        """The cells of a feature."""
        return self._axes[feature]

    @cached_property
    def _axes(self) -> "_Axes":
        return _Axes(self)

    def right(self, feature: int) -> tuple[Ints, Flags]:
        """The nodes that split on a feature, and (n, m) whether they send each of its cells right."""
        return self._axes.right(feature)

    def sides(self, x: Values) -> Flags:
        """(nodes + 1,) whether each node sends a sample right; the last stands for no node."""
        trees = self.trees
        sides = np.zeros(len(trees.features) + 1, dtype=bool)
        for feature in trees.used_features.tolist():
            nodes, right = self.right(feature)
            cell = self.axis(feature).cell(float(x[feature]))
            if cell >= 0:
                sides[nodes] = right[:, cell]
            elif feature in self.n_levels:
                lost = np.array([np.nan])
                sides[nodes] = [trees.codes_right(node, lost)[0] for node in nodes.tolist()]
            else:
                sides[nodes] = trees.missing_right[nodes] != 0
        return sides


class _Axes(dict[int, Axis]):
    """The axes of features, made when they are asked for."""

    def __init__(self, cells: Cells) -> None:
        super().__init__()
        self._cells = cells
        self._right: dict[int, tuple[Ints, Flags]] = {}

    def __missing__(self, feature: int) -> Axis:
        cells = self._cells
        if feature in cells.n_levels:
            codes = np.arange(cells.n_levels[feature], dtype=np.float64)
            self[feature] = Axis(codes, codes, is_category=True)
        else:
            steps = np.append(cells.trees.steps(feature), cells.more_steps.get(feature, ()))
            steps = np.unique(steps[np.isfinite(steps)])
            self[feature] = Axis(
                np.append(-np.inf, steps), np.append(steps, np.inf), is_category=False
            )
        return self[feature]

    def right(self, feature: int) -> tuple[Ints, Flags]:
        """See `Cells.right`."""
        if feature not in self._right:
            trees, axis = self._cells.trees, self[feature]
            nodes = np.flatnonzero(trees.features == feature)
            if axis.is_category:
                right = np.array([trees.codes_right(node, axis.low) for node in nodes.tolist()])
                right = right.reshape(len(nodes), len(axis))
            else:
                right = axis.low >= trees.thresholds[nodes][:, np.newaxis]
            self._right[feature] = nodes, right
        return self._right[feature]


class Edges(NamedTuple):
    """Where leaves begin and end along an axis: a leaf counts from a place with sign +1 to one with −1."""

    leaf: Ints
    place: Ints
    sign: Ints

    def joined(self, other: "Edges", size: int) -> "Edges":
        """The edges along two axes, of which the other has this many places."""
        first = np.searchsorted(other.leaf, self.leaf)
        count = np.searchsorted(other.leaf, self.leaf, side="right") - first
        own = np.repeat(np.arange(len(self.leaf)), count)
        there = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(own))
        place = self.place[own] * size + other.place[there]
        return Edges(self.leaf[own], place, self.sign[own] * other.sign[there])


class Around:
    """The scores in the cells around a sample that differ from it in few features."""

    def __init__(self, cells: Cells, x: Values, most: int) -> None:
        self._cells = cells
        paths, features = cells.paths, cells.features
        differs = cells.sides(x)[paths.nodes] != paths.right
        reachable = ~(differs & (features < 0)).any(axis=1)
        away = np.sort(np.where(differs, features, NONE), axis=1)
        is_new = (away >= 0) & np.diff(away, axis=1, prepend=NONE).astype(bool)
        n_away = is_new.sum(axis=1)
        own = np.flatnonzero(reachable & (n_away == 0))
        self._own = own[np.argsort(paths.tree[own], kind="stable")]
        """(T,) the leaf of each tree that the sample reaches."""
        self._sums = cells.whole[self._own].sum(axis=0)
        self._by_features: dict[tuple[int, ...], Ints] = {}
        """Features → the leaves that changes of all of them, and of no others, can reach."""
        near = np.flatnonzero(reachable & (n_away > 0) & (n_away <= most))
        distinct = np.sort(np.where(is_new[near], away[near], NONE), axis=1)
        keys, group = np.unique(distinct, axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(group.ravel(), minlength=len(keys)))
        for key, members in zip(keys.tolist(), np.split(near[order], ends)[:-1], strict=True):
            self._by_features[tuple(f for f in key if f >= 0)] = members

    def reached(self, chosen: Sequence[int]) -> tuple[Ints, Ints]:
        """What the other trees add, and the leaves of trees that changes of the chosen features can reach."""
        cells, inside = self._cells, set(chosen)
        away = [own for key, own in self._by_features.items() if inside.issuperset(key)]
        leaves = np.concatenate([np.empty(0, dtype=np.int64), *away])
        touched = np.unique(cells.paths.tree[leaves])
        own = self._own[touched]
        return self._sums - cells.whole[own].sum(axis=0), np.concatenate([own, leaves])

    def extremes(self, base: Ints, leaves: Ints) -> Outputs:
        """(2, K) scores with the lowest and the highest lead of the second class that are conceivable."""
        outputs, tree = self._cells.whole[leaves], self._cells.paths.tree[leaves]
        lead = outputs[:, 1] - outputs[:, 0]
        ends = []
        for sign in (1, -1):
            order = np.lexsort((sign * lead, tree))
            first = order[np.diff(tree[order], prepend=NONE) != 0]
            ends.append(base + outputs[first].sum(axis=0))
        found: Outputs = (np.array(ends) * self._cells.unit).astype(np.float64)
        return found

    def grid(
        self, base: Ints, leaves: Ints, chosen: Sequence[int], inside: Sequence[Ints]
    ) -> Floats:
        """(m₁, …, K) the scores in the product of some cells of each chosen feature.

        A leaf counts in a block of cells. Its output is added where the block begins and subtracted where it
        ends; cumulative sums then give the scores. They are sums of integers, and so exact.
        """
        cells = self._cells
        shape = tuple(len(own) + 1 for own in inside)
        edges = self._edges(leaves, chosen[0], inside[0])
        for feature, own in zip(chosen[1:], inside[1:], strict=True):
            edges = edges.joined(self._edges(leaves, feature, own), len(own) + 1)
        sums = np.zeros((int(np.prod(shape)), len(base)), dtype=np.int64)
        np.add.at(sums, edges.place, edges.sign[:, np.newaxis] * cells.whole[leaves[edges.leaf]])
        sums = sums.reshape(*shape, len(base))
        for axis in range(len(shape)):
            np.cumsum(sums, axis=axis, out=sums)
        sums = sums[tuple(slice(n - 1) for n in shape)] + base
        found: Floats = (sums * cells.unit).astype(np.float64)
        return found

    def alive(self, leaves: Ints, chosen: Sequence[int], inside: Sequence[Ints]) -> Ints:
        """The leaves that some of these cells of the chosen features reach."""
        for feature, own in zip(chosen, inside, strict=True):
            leaves = leaves[np.unique(self._edges(leaves, feature, own).leaf)]
        return leaves

    def _edges(self, leaves: Ints, feature: int, inside: Ints) -> Edges:
        """Where the splits on a feature let leaves begin and end among some of its cells."""
        cells = self._cells
        asks, layer = np.nonzero(cells.features[leaves] == feature)
        nodes, right = (
            cells.paths.nodes[leaves[asks], layer],
            cells.paths.right[leaves[asks], layer],
        )
        if cells.axis(feature).is_category:
            tested, goes = cells.right(feature)
            passes = np.ones((len(leaves), len(inside) + 2), dtype=np.int64)
            passes[:, 0] = passes[:, -1] = 0
            same = goes[:, inside][np.searchsorted(tested, nodes)] == right[:, np.newaxis]
            np.minimum.at(passes[:, 1:-1], asks, same.astype(np.int64))
            steps = np.diff(passes, axis=1)
            leaf, place = np.nonzero(steps)
            return Edges(leaf, place, steps[leaf, place])
        step = np.searchsorted(cells.axis(feature).high, cells.trees.thresholds[nodes]) + 1
        step = np.searchsorted(inside, step)
        begin = np.zeros(len(leaves), dtype=np.int64)
        end = np.full(len(leaves), len(inside), dtype=np.int64)
        np.maximum.at(begin, asks[right], step[right])
        np.minimum.at(end, asks[~right], step[~right])
        there = np.flatnonzero(begin < end)
        place = np.stack([begin[there], end[there]], axis=1).ravel()
        return Edges(np.repeat(there, 2), place, np.tile([1, -1], len(there)))
