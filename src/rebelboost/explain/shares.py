"""What a model says of samples, shared out exactly: H(x) = baseline + features + training rows + others.

Trees. A node says what its leaves say on average, by the weight of the training samples in each. From
the root to a leaf, what is said changes with every question, and the change is the contribution of the
feature that was asked [Saabas 2014]. What the roots say, the mean over the training samples, is baseline.

Similarities. f·a + b: b is baseline. With two points, f·a is the pull of the one that the sample is
nearer to: of the anchor where f > 0, else of the rival. With one point f goes to −1 far away, so that −a
is baseline and (1 + f)·a, which fades with distance, is the pull of the anchor.

Classifiers of other libraries are not looked into: what they say is shared out by their names.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import COMPARISONS, ByClass, Floats, Ints, Outputs, Scores, Values
from rebelboost.losses.levels import LEVELS
from rebelboost.model.ensemble import Ensemble, Term
from rebelboost.model.packing import ComparisonGroup, ConstantGroup, TreeGroup, WrappedGroup
from rebelboost.model.queries import Queries
from rebelboost.model.trees import GrownTree

CHUNK = 1 << 22
"""Numbers that are worked on at a time."""


@dataclass(frozen=True)
class Contributions:
    """Of n samples. The scores are the sum of all parts, up to rounding."""

    baseline: ByClass
    """What is said of every sample."""
    features: Floats
    """(n, d, K)"""
    rows: Ints
    """(E,) training samples that others are compared with, by their rows in the user's table."""
    pulls: Floats
    """(n, E, K)"""
    others: dict[str, Scores]
    """Name → (n, K)."""
    forest: "ForestVotes | None"
    comparisons: tuple["ComparisonVotes", ...]

    @property
    def total(self) -> Scores:
        """(n, K): the sum of all parts."""
        parts = self.baseline + self.features.sum(axis=1) + self.pulls.sum(axis=1)
        return parts + sum(self.others.values(), np.zeros_like(parts))


class ForestVotes(NamedTuple):
    """Which leaf each sample falls into."""

    group: TreeGroup
    leaves: NDArray[np.uint16]
    """(n, trees)"""
    roots: Outputs
    """(trees, K) what each tree says on average."""

    def said(self, sample: int) -> Outputs:
        """(trees, K): what each tree says of a sample, beyond what it says on average."""
        trees = self.group.trees
        return trees.outputs[trees.leaf_offsets + self.leaves[sample]] - self.roots


class ComparisonVotes(NamedTuple):
    """How each comparison of one space responds."""

    group: ComparisonGroup
    places: Ints
    """(points,) of the group's points in `Contributions.rows`."""
    responses: Floats
    """(n, T), from 0 for those of one point."""

    def said(self, sample: int) -> Outputs:
        """(T, K): what each comparison says of a sample, without its constant part."""
        return self.responses[sample][:, np.newaxis] * self.group.comparisons.outputs

    def pairs(self, sample: int) -> Ints:
        """(T, 2): rows of the example that a sample is nearer to, and of the other; −1 where there is none."""
        named, rows = self.group.comparisons, self.group.rows.astype(np.int64)
        alone = of_one_point(self.group)
        pairs = np.stack([rows[named.anchors], np.where(alone, -1, rows[named.rivals])], axis=1)
        keeps = alone | (self.responses[sample] > 0)
        return np.where(keeps[:, np.newaxis], pairs, pairs[:, ::-1])

    def pulling(self) -> Ints:
        """(n, T): place of the training sample that each comparison's pull goes to."""
        named = self.group.comparisons
        return self.places[np.where(self.responses > 0, named.anchors, named.rivals)]


def contributions(ensemble: Ensemble, X: Values, n_threads: int = 1) -> Contributions:
    """Share out what the ensemble says of each sample."""
    queries, n_classes = Queries(X), ensemble.n_classes
    baseline = np.zeros(n_classes)
    features = np.zeros((*X.shape, n_classes))
    others: dict[str, Scores] = {}
    forest, compared = None, []
    groups: list[ComparisonGroup] = []
    for group in ensemble.groups:
        if isinstance(group, TreeGroup):
            forest = _vote(group, ensemble, queries, features, n_threads)
            baseline += forest.roots.sum(axis=0)
        elif isinstance(group, ConstantGroup):
            baseline += group.outputs.sum(axis=0)
        elif isinstance(group, WrappedGroup):
            _ask_others(group, queries, others, n_threads)
        elif isinstance(group, ComparisonGroup):
            groups.append(group)
    rows = _rows(groups)
    pulls = np.zeros((len(X), len(rows), n_classes))
    for group in groups:
        votes = _compare(group, rows, queries, n_threads)
        baseline += _constants(group)
        for first, last in _slices(len(X), len(group.positions) * n_classes):
            said = votes.responses[first:last, :, np.newaxis] * group.comparisons.outputs
            add_at(pulls[first:last], votes.pulling()[first:last], said)
        compared.append(votes)
    return Contributions(baseline, features, rows, pulls, others, forest, tuple(compared))


def add_at(sums: Floats, places: Ints, summands: Floats) -> None:
    """sums[n, places[n, t]] += summands[n, t], for (n, m, K) sums and (n, T, K) summands."""
    n_samples, width, n_classes = sums.shape
    flat = (np.arange(n_samples)[:, np.newaxis] * width + places).ravel()
    for k in range(n_classes if width else 0):
        added = np.bincount(flat, summands[:, :, k].ravel(), n_samples * width)
        sums[:, :, k] += added.reshape(n_samples, width)


def _slices(n_samples: int, width: int) -> Iterator[tuple[int, int]]:
    step = max(1, CHUNK // max(1, width))
    for first in range(0, n_samples, step):
        yield first, min(first + step, n_samples)


# ---- trees


@dataclass(frozen=True)
class Forest:
    """Trees of one depth as arrays, nodes in level order and then the leaves."""

    depth: int
    positions: Ints
    """(T,) among all terms."""
    features: NDArray[np.int32]
    """(T, 2^depth − 1); −1 asks nothing."""
    values: Floats
    """(T, 2^(depth+1) − 1, K): what each node says on average."""
    cover: Floats
    """(T, 2^(depth+1) − 1): share of the training samples, by weight."""

    def layers(self) -> Iterator[tuple[slice, slice]]:
        """Where the nodes of each layer are, and their children."""
        for layer in range(self.depth):
            first, middle, last = 2**layer - 1, 2 ** (layer + 1) - 1, 2 ** (layer + 2) - 1
            yield slice(first, middle), slice(middle, last)


def forests(ensemble: Ensemble) -> Iterator[Forest]:
    """All trees, some at a time."""
    by_depth: dict[int, list[int]] = {}
    for t, term in enumerate(ensemble.terms):
        if isinstance(term.hypothesis, GrownTree):
            by_depth.setdefault(term.hypothesis.depth, []).append(t)
    for depth, chosen in by_depth.items():
        step = max(1, CHUNK // (2 ** (depth + 1) * max(1, ensemble.n_classes)))
        for first in range(0, len(chosen), step):
            some = chosen[first : first + step]
            yield _forest(depth, np.array(some), [ensemble.terms[t] for t in some])


def _forest(depth: int, positions: Ints, terms: Sequence[Term]) -> Forest:
    trees = [term.hypothesis for term in terms if isinstance(term.hypothesis, GrownTree)]
    features = np.stack([tree.features for tree in trees])
    values = [np.stack([term.outputs for term in terms])]
    even = np.ones(2**depth)  # of a model from elsewhere, that does not know its cover
    cover = [np.stack([even if tree.cover is None else tree.cover for tree in trees])]
    for layer in reversed(range(depth)):
        below, weight = values[0], cover[0]
        left, right = weight[:, 0::2], weight[:, 1::2]
        total = left + right
        share = np.divide(left, total, out=np.full_like(total, 0.5), where=total > 0)
        share[features[:, 2**layer - 1 : 2 ** (layer + 1) - 1] < 0] = 1.0  # all go left
        share = share[:, :, np.newaxis]
        values.insert(0, share * below[:, 0::2] + (1 - share) * below[:, 1::2])
        cover.insert(0, total)
    shares = np.concatenate(cover, axis=1)
    return Forest(
        depth,
        positions,
        features,
        np.concatenate(values, axis=1),
        shares / np.maximum(shares[:, :1], np.finfo(np.float64).tiny),
    )


def _vote(
    group: TreeGroup, ensemble: Ensemble, queries: Queries, features: Floats, n_threads: int
) -> ForestVotes:
    """Find all leaves, and add to the features what each question changed."""
    n_trees = len(group.positions)
    leaves = np.empty((n_trees, len(queries)), dtype=np.uint16)
    for t in range(n_trees):
        kernels.active.apply(queries.X, group.trees, t, leaves[t], n_threads)
    roots = np.empty((n_trees, ensemble.n_classes))
    for forest in forests(ensemble):
        chosen = np.searchsorted(group.positions, forest.positions)
        roots[chosen] = forest.values[:, 0]
        for first, last in _slices(len(queries), len(chosen) * ensemble.n_classes):
            _add_changes(
                forest, leaves[chosen, first:last].T.astype(np.int64), features[first:last]
            )
    return ForestVotes(group, np.ascontiguousarray(leaves.T), roots)


def _add_changes(forest: Forest, leaves: Ints, features: Floats) -> None:
    """Follow the paths to (n, T) leaves."""
    trees = np.arange(len(forest.positions))
    said = np.broadcast_to(forest.values[:, 0], (*leaves.shape, forest.values.shape[2]))
    for layer in range(forest.depth):
        node = 2**layer - 1 + (leaves >> (forest.depth - layer))
        child = 2 ** (layer + 1) - 1 + (leaves >> (forest.depth - layer - 1))
        then = forest.values[trees, child]
        # A node that asks nothing says what its left child says: any feature will do.
        add_at(features, np.maximum(forest.features[trees, node], 0), then - said)
        said = then


# ---- similarities


def _rows(groups: Sequence[ComparisonGroup]) -> Ints:
    rows = [group.rows.astype(np.int64) for group in groups]
    return np.unique(np.concatenate(rows)) if rows else np.empty(0, dtype=np.int64)


def _compare(
    group: ComparisonGroup, rows: Ints, queries: Queries, n_threads: int
) -> ComparisonVotes:
    named = group.comparisons
    distances = group.distances(queries, n_threads)
    levels = np.empty((len(named.kinds), len(queries)), dtype=np.uint16)
    for t, (i, j, kind, apart) in enumerate(
        zip(
            named.anchors.tolist(),
            named.rivals.tolist(),
            named.kinds.tolist(),
            named.apart.tolist(),
            strict=True,
        )
    ):
        kernels.active.compare(distances[i], distances[j], kind, apart, levels[t], n_threads)
    responses = LEVELS[levels.T] + of_one_point(group)
    return ComparisonVotes(group, np.searchsorted(rows, group.rows), responses)


def of_one_point(group: ComparisonGroup) -> NDArray[np.bool_]:
    """(T,): which comparisons know one point only."""
    one_point = [COMPARISONS["one_point"], COMPARISONS["inside"]]
    return np.isin(group.comparisons.kinds, one_point)


def _constants(group: ComparisonGroup) -> ByClass:
    """What the comparisons say of samples that are far away."""
    one_point = of_one_point(group)[:, np.newaxis]
    constants: Outputs = group.comparisons.offsets - one_point * group.comparisons.outputs
    return constants.sum(axis=0)


# ---- classifiers of other libraries


def _ask_others(
    group: WrappedGroup, queries: Queries, others: dict[str, Scores], n_threads: int
) -> None:
    for wrapped, outputs in zip(group.wrapped, group.outputs, strict=True):
        said = outputs[wrapped.regions(queries.X, n_threads)]
        name = wrapped.describe()
        others[name] = others.get(name, 0.0) + said
