"""Scores that rise with some features, whatever the other features are: proved leaf by leaf.

A tree is a function with one value in each leaf, and each leaf is a box of feature values. The function rises
with a feature if no leaf has a higher value than another that can be reached from it by raising the feature
alone. Such pairs of leaves are found from their boxes, so the proof holds for all values, not only for those
of a table. A sum of functions that rise, rises. Which values must rise depends on the task: a prediction;
with two classes, the lead of the second over the first; with ordered classes, the lead of each class over the
one before.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints, Outputs
from rebelboost.model.cells import Paths, paths_of
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.trees import Trees

Directions = Mapping[int, int]
"""Feature → +1 if scores must not fall as it rises, −1 if they must not rise."""
Relation = NDArray[np.bool_]
"""(L, L) whether leaf b can be reached from leaf a by moves that must not lower the scores."""
DEEPEST = 8
"""Trees with more layers have too many pairs of leaves."""
ROUNDING = 2.0**-10
"""Violations up to this share of a tree's largest output are rounding (`rounded_parts`), and are mended."""


class _Boxes(NamedTuple):
    """The values of one column in each leaf."""

    low: Floats
    high: Floats
    missing: Relation
    """(L,) whether missing values reach the leaf, as far as this column goes."""

    def meet(self) -> Relation:
        """(L, L) whether two leaves have a value in common."""
        filled = self.low < self.high
        overlap = (self.low[:, np.newaxis] < self.high) & (self.low < self.high[:, np.newaxis])
        overlap &= filled[:, np.newaxis] & filled
        return overlap | (self.missing[:, np.newaxis] & self.missing)

    def rise(self) -> Relation:
        """(L, L) whether a value of the first leaf is not above a value of the second."""
        filled = self.low < self.high
        ordered = (self.low[:, np.newaxis] < self.high) & filled[:, np.newaxis] & filled
        return ordered | (self.missing[:, np.newaxis] & self.missing)


def relation_of(tree: Trees, directions: Directions) -> Relation | None:
    """Of a single tree: the pairs of leaves whose values must not fall; None if there are none."""
    if not np.isin(tree.features, list(directions)).any():
        return None
    paths = paths_of(tree)
    columns = np.append(tree.columns, -1)[paths.nodes]
    related: Relation = np.ones((len(paths.tree), len(paths.tree)), dtype=bool)
    possible: Relation = np.all((columns >= 0) | ~paths.right, axis=1)
    for column in np.unique(columns[columns >= 0]).tolist():
        asks = columns == column
        if (tree.category[paths.nodes[asks]] >= 0).any():
            related &= _categories_meet(tree, paths, asks)
            continue
        boxes = _boxes(tree, paths, asks)
        possible &= (boxes.low < boxes.high) | boxes.missing
        sign = directions.get(column, 0)
        related &= boxes.meet() if sign == 0 else boxes.rise() if sign > 0 else boxes.rise().T
    related &= possible[:, np.newaxis] & possible
    np.fill_diagonal(related, val=False)
    return _closed(related)


def _boxes(tree: Trees, paths: Paths, asks: Relation) -> _Boxes:
    n = len(paths.tree)
    low, high, missing = np.full(n, -np.inf), np.full(n, np.inf), np.ones(n, dtype=bool)
    for layer in range(asks.shape[1]):
        node, right, own = paths.nodes[:, layer], paths.right[:, layer], asks[:, layer]
        threshold = tree.thresholds[node]
        low = np.where(own & right, np.maximum(low, threshold), low)
        high = np.where(own & ~right, np.minimum(high, threshold), high)
        missing = missing & (~own | np.equal(tree.missing_right[node] != 0, right))
    return _Boxes(low, high, missing)


def _categories_meet(tree: Trees, paths: Paths, asks: Relation) -> Relation:
    """Whether two leaves have a category, or missing values, in common."""
    passes = np.ones((len(paths.tree), tree.right.shape[1] + 1), dtype=bool)
    for layer in range(asks.shape[1]):
        rows = np.flatnonzero(asks[:, layer])
        node, right = paths.nodes[rows, layer], paths.right[rows, layer, np.newaxis]
        goes = np.column_stack([tree.right[tree.category[node]], tree.missing_right[node]]) != 0
        passes[rows] &= np.equal(goes, right)
    bits = np.packbits(passes, axis=1)
    found: Relation = np.any(bits[:, np.newaxis] & bits, axis=2)
    return found


def _closed(related: Relation) -> Relation:
    """With the pairs that follow from others [Warshall 1962]."""
    for leaf in np.flatnonzero(related.any(axis=0) & related.any(axis=1)).tolist():
        related |= related[:, leaf, np.newaxis] & related[leaf]
    return related


# ---- the values that must rise


def leads(outputs: Outputs) -> Floats:
    """(L, max(1, K − 1)) the leads of each class over the one before; of numbers, the outputs."""
    return outputs if outputs.shape[1] == 1 else np.diff(outputs, axis=1)


def with_leads(outputs: Outputs, wanted: Floats) -> Outputs:
    """Outputs with these leads: symmetric with two classes; otherwise the first class keeps its own."""
    n_classes = outputs.shape[1]
    if n_classes == 1:
        return wanted
    if n_classes == 2:
        return np.column_stack([-wanted[:, 0] / 2, wanted[:, 0] / 2])
    return np.column_stack([outputs[:, 0], outputs[:, :1] + np.cumsum(wanted, axis=1)])


def risen(values: Floats, related: Relation) -> Floats:
    """(L, m) each value raised to the highest of those that it must not be below."""
    before = np.where(related[:, :, np.newaxis], values[:, np.newaxis], -np.inf).max(axis=0)
    return np.maximum(values, before)


def projected(values: Floats, weight: BySample, related: Relation) -> Floats:
    """(L, m) values that rise as they must, near those given in weighted squares.

    Leaves are taken in an order in which those before come first; a leaf whose value is too low is merged with
    the groups that it must not be below, the highest first [Burdakov et al. 2006].
    """
    if np.array_equal(risen(values, related), values):
        return values
    found = np.empty_like(values)
    order = np.argsort(related.sum(axis=0), kind="stable").tolist()
    for k in range(values.shape[1]):
        found[:, k] = _pooled(values[:, k], weight, related, order)
    return risen(found, related)


def _pooled(value: BySample, weight: BySample, related: Relation, order: list[int]) -> BySample:
    group = np.full(len(value), -1)
    mean, mass = value.astype(np.float64).copy(), np.maximum(weight, 1e-300)
    for leaf in order:
        own = leaf
        group[leaf] = own
        members = group == own
        while True:
            before = related[:, members].any(axis=1) & (group >= 0) & ~members
            groups = np.unique(group[before])
            if len(groups) == 0:
                break
            highest = int(groups[np.argmax(mean[groups])])
            if mean[highest] <= mean[own]:
                break
            total = mass[own] + mass[highest]
            mean[own] = (mass[own] * mean[own] + mass[highest] * mean[highest]) / total
            mass = mass.copy()
            mass[own] = total
            group[group == highest] = own
            members = group == own
    return mean[group]


# ---- whole models


class Violation(NamedTuple):
    """A tree whose values do not rise as they must."""

    tree: int
    size: float
    """The largest fall, as a share of the tree's largest output."""


def violations(trees: Trees, directions: Directions) -> Iterator[Violation]:
    """The trees that are not proved to rise: none if the model is."""
    for t in _concerned(trees, directions).tolist():
        tree = trees.take(np.array([t]))
        related = relation_of(tree, directions)
        if related is None:
            continue
        values = leads(tree.outputs)
        size = float((risen(values, related) - values).max(initial=0.0))
        if size > 0:
            yield Violation(t, size / float(np.abs(tree.outputs).max()))


def _concerned(trees: Trees, directions: Directions) -> Ints:
    """The trees that split on these features."""
    of_node = np.repeat(np.arange(len(trees)), trees.n_nodes)
    return np.unique(of_node[np.isin(trees.features, list(directions))])


def trees_of(ensemble: Ensemble) -> Trees | None:
    """The trees of an ensemble that has nothing else; None if it has."""
    groups = [group.terms for group in ensemble.groups]
    if not groups:
        return Trees.none(ensemble.n_classes)
    if len(groups) == 1 and isinstance(groups[0], Trees):
        return groups[0]
    return None


def mended(ensemble: Ensemble, directions: Directions) -> Ensemble:
    """The ensemble without violations by rounding; larger ones raise an error."""
    trees = trees_of(ensemble)
    if trees is None:
        raise ValueError("monotone= needs a model of trees only")
    wrong = list(violations(trees, directions))
    if not wrong:
        return ensemble
    worst = max(wrong, key=lambda each: each.size)
    if worst.size > ROUNDING:
        raise ValueError(
            f"tree {worst.tree} does not rise with the features that monotone= names: it may come from the "
            "model that a warm start continues; train anew"
        )
    outputs = trees.outputs.copy()
    for t, _ in wrong:
        tree = trees.take(np.array([t]))
        related = relation_of(tree, directions)
        assert related is not None
        own = slice(int(trees.leaf_offsets[t]), int(trees.leaf_offsets[t] + trees.n_nodes[t] + 1))
        outputs[own] = with_leads(tree.outputs, risen(leads(tree.outputs), related))
    (group,) = ensemble.groups
    better = group._replace(terms=trees.with_outputs(outputs))
    return replace(ensemble, groups=(better,))
