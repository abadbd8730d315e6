"""What a model uses, as arrays: how much of its outputs is due to features, rules, rows, pairs of classes.

The size of something added to the scores is half its spread over the classes, since what is added to all
of them alike decides nothing; in a regression, its absolute value.
"""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Ints, Outputs
from rebelboost.explain.reasons import summed
from rebelboost.explain.rules import RuleHashes
from rebelboost.explain.shares import Forest, forests, of_one_point
from rebelboost.model.comparisons import Comparison
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.packing import ComparisonGroup, TreeGroup
from rebelboost.model.trees import GrownTree
from rebelboost.model.wrapped import Wrapped


def size(said: Floats) -> Floats:
    """(…, K) → (…)."""
    if said.shape[-1] == 1:
        return np.abs(said[..., 0])
    return np.asarray((said.max(axis=-1) - said.min(axis=-1)) / 2)


def importances(ensemble: Ensemble, n_features: int) -> Floats:
    """(d,): size of what its questions change, on average over the training samples, summed over all."""
    found = np.zeros(n_features)
    for forest in forests(ensemble):
        for nodes, children in forest.layers():
            before = np.repeat(forest.values[:, nodes], 2, axis=1)
            changed = size(forest.values[:, children] - before) * forest.cover[:, children]
            by_node = changed[:, 0::2] + changed[:, 1::2]
            asked = forest.features[:, nodes]
            asks = asked >= 0
            found += np.bincount(asked[asks], by_node[asks], n_features)
    return found


def n_asking(ensemble: Ensemble, n_features: int) -> Ints:
    """(d,): trees that ask each feature."""
    found = np.zeros(n_features, dtype=np.int64)
    for term in ensemble.terms:
        if isinstance(term.hypothesis, GrownTree):
            found[term.hypothesis.used_features] += 1
    return found


class RowUse(NamedTuple):
    """Training rows that others are compared with, and how they can pull at most: right where they are."""

    rows: Ints
    by_class: Outputs
    """(E, K)"""
    sizes: Floats
    """(E,) sum of the sizes over all terms."""
    n_terms: Ints


def row_use(ensemble: Ensemble) -> RowUse:
    """Add up over all comparisons: a for the anchor, −a for the rival."""
    rows, said = [np.empty(0, dtype=np.int64)], [np.empty((0, ensemble.n_classes))]
    for group in ensemble.groups:
        if isinstance(group, ComparisonGroup):
            named, two = group.comparisons, ~of_one_point(group)
            of_points = group.rows.astype(np.int64)
            rows += [of_points[named.anchors], of_points[named.rivals[two]]]
            said += [named.outputs * (1 + ~two[:, np.newaxis]), -named.outputs[two]]
    keys, outputs = np.concatenate(rows), np.concatenate(said)
    first, sums, counts = summed(keys, outputs)
    _, sizes, _ = summed(keys, size(outputs)[:, np.newaxis])
    return RowUse(keys[first].astype(np.int64), sums, sizes[:, 0], counts)


class RuleUse(NamedTuple):
    """Rules, equal ones as one."""

    terms: Ints
    """(R,) a term that has it,"""
    leaves: Ints
    """and its leaf there."""
    by_class: Outputs
    """(R, K) what it adds in all, beyond what is said on average."""
    sizes: Floats
    """(R,) sum of the sizes, times the share of the training samples that pass."""
    shares: Floats
    """(R,) mean share of the training samples that pass."""
    n_terms: Ints


def rule_use(ensemble: Ensemble, group: TreeGroup, hashes: RuleHashes) -> RuleUse:
    """Add up over all leaves that training samples fall into."""
    n_classes = ensemble.n_classes
    terms, leaves, keys, numbers = [], [], [], []
    for forest in forests(ensemble):
        said, cover = _leaves(forest)
        tree, leaf = np.nonzero(cover > 0)
        share = cover[tree, leaf]
        beyond = said[tree, leaf] - forest.values[tree, 0]
        terms.append(forest.positions[tree])
        leaves.append(leaf)
        keys.append(hashes.of(np.searchsorted(group.positions, forest.positions[tree]), leaf))
        numbers.append(np.column_stack([beyond, size(beyond) * share, share]))
    all_keys = np.concatenate(keys)
    first, sums, counts = summed(all_keys, np.concatenate(numbers))
    kept = np.flatnonzero(all_keys[first] != 0)  # a rule without conditions is baseline
    first, sums, counts = first[kept], sums[kept], counts[kept]
    return RuleUse(
        np.concatenate(terms)[first],
        np.concatenate(leaves)[first],
        sums[:, :n_classes],
        sums[:, n_classes],
        sums[:, n_classes + 1] / counts,
        counts,
    )


def _leaves(forest: Forest) -> tuple[Floats, Floats]:
    first = 2**forest.depth - 1
    return forest.values[:, first:], forest.cover[:, first:]


class PairUse(NamedTuple):
    """Which two classes each term separates most."""

    first: Ints
    """(T,) code of one; −1 where there are no two."""
    second: Ints
    separation: Floats
    """(T,) by how much, in scores: root mean square over the training samples; for ±1 responses |a_k − a_l|."""


def pair_use(ensemble: Ensemble) -> PairUse:
    """Find them for all terms."""
    n_terms = len(ensemble)
    first, second = np.full(n_terms, -1), np.full(n_terms, -1)
    separation = np.zeros(n_terms)
    if ensemble.n_classes > 1:
        for forest in forests(ensemble):
            said, cover = _leaves(forest)
            weighed = np.matmul((said * cover[:, :, np.newaxis]).transpose(0, 2, 1), said)
            own = np.diagonal(weighed, axis1=1, axis2=2)
            squares = own[:, :, np.newaxis] + own[:, np.newaxis] - 2 * weighed
            flat = squares.reshape(len(squares), -1)
            best = flat.argmax(axis=1)
            pair = np.sort(np.divmod(best, own.shape[1]), axis=0)
            first[forest.positions], second[forest.positions] = pair
            separation[forest.positions] = np.sqrt(np.maximum(flat.max(axis=1), 0.0))
        for t, term in enumerate(ensemble.terms):
            if isinstance(term.hypothesis, Comparison | Wrapped):
                output = term.outputs[0]
                first[t], second[t] = sorted([int(output.argmin()), int(output.argmax())])
                separation[t] = np.ptp(output)
    return PairUse(first, second, separation)
