"""How much a model uses each feature, rule, training row and pair of classes, as arrays.

The size of a contribution is half its range over the classes, because adding the same number to all
classes decides nothing. In a regression it is the absolute value.
"""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Ints, Outputs
from rebelboost.explain.reasons import summed
from rebelboost.explain.rules import RuleHashes
from rebelboost.model.comparisons import Comparisons
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.smooth import SmoothSimilarities
from rebelboost.model.terms import Separated
from rebelboost.model.tree_means import TreeMeans
from rebelboost.model.trees import Trees

SOME_EXAMPLES = 50
"""Number of examples over which the contributions of a smooth function are averaged."""


def size(said: Floats) -> Floats:
    """Size of contributions, (…, K) → (…)."""
    if said.shape[-1] == 1:
        return np.abs(said[..., 0])
    return np.asarray((said.max(axis=-1) - said.min(axis=-1)) / 2)


def importances(ensemble: Ensemble, n_features: int) -> Floats:
    """(d,) size of the changes by the splits on each feature, averaged over training samples, summed.

    For a smooth function: the size of the feature's contribution, averaged over some of its examples.
    """
    found = np.zeros(n_features)
    for _, smooth in ensemble.of_kind(SmoothSimilarities):
        for function in smooth.functions:
            _, added = function.by_column(function.points[:SOME_EXAMPLES], 1)
            columns = function.space.feature_of_column
            found += np.bincount(columns, size(added).mean(axis=0), n_features)
    for means in _means(ensemble):
        for nodes, children in means.layers():
            before = np.repeat(means.values[:, nodes], 2, axis=1)
            changed = size(means.values[:, children] - before) * means.cover[:, children]
            by_node = changed[:, 0::2] + changed[:, 1::2]
            tested = means.features[:, nodes]
            tests = tested >= 0
            found += np.bincount(tested[tests], by_node[tests], n_features)
    return found


def _means(ensemble: Ensemble) -> list[TreeMeans]:
    return [means for _, trees in ensemble.of_kind(Trees) for means in trees.means()]


def n_testing(ensemble: Ensemble, n_features: int) -> Ints:
    """(d,) number of trees that split on each feature."""
    found = np.zeros(n_features, dtype=np.int64)
    for _, trees in ensemble.of_kind(Trees):
        of_node = np.repeat(np.arange(len(trees)), trees.n_nodes)
        tests = trees.features >= 0
        tested = np.unique(np.stack([of_node[tests], trees.features[tests]]), axis=1)[1]
        found += np.bincount(tested, minlength=n_features)
    return found


class RowUse(NamedTuple):
    """Training rows that samples are compared with, and their largest possible contributions."""

    rows: Ints
    """(E,) row numbers."""
    by_class: Outputs
    """(E, K) sums of the contributions."""
    sizes: Floats
    """(E,) sums of the sizes over all terms."""
    n_terms: Ints
    """(E,) number of terms."""


def row_use(ensemble: Ensemble) -> RowUse:
    """Sum over all comparisons: a for the anchor (2a without a rival), −a for the rival."""
    rows, said = [np.empty(0, dtype=np.int64)], [np.empty((0, ensemble.n_classes))]
    for _, table in ensemble.of_kind(Comparisons):
        if table.space is not None:
            two = ~table.of_one_point
            rows += [table.named_rows[:, 0], table.named_rows[two, 1]]
            said += [table.slopes * (1 + ~two[:, np.newaxis]), -table.slopes[two]]
    keys, outputs = np.concatenate(rows), np.concatenate(said)
    first, sums, counts = summed(keys, outputs)
    _, sizes, _ = summed(keys, size(outputs)[:, np.newaxis])
    return RowUse(keys[first].astype(np.int64), sums, sizes[:, 0], counts)


class RuleUse(NamedTuple):
    """Rules; equal ones are merged."""

    terms: Ints
    """(R,) a term with the rule."""
    leaves: Ints
    """(R,) the leaf of that term."""
    by_class: Outputs
    """(R, K) sum of the outputs, relative to the value of the root."""
    sizes: Floats
    """(R,) sum of the sizes, times the share of the training samples that satisfy the rule."""
    shares: Floats
    """(R,) mean share of the training samples that satisfy the rule."""
    n_terms: Ints
    """(R,) number of trees with the rule."""


def rule_use(trees: Trees, positions: Ints, hashes: RuleHashes) -> RuleUse:
    """Sum over all leaves with training samples."""
    n_classes = trees.outputs.shape[1]
    terms, leaves, keys, numbers = [], [], [], []
    for means in trees.means():
        said, cover = means.leaves
        tree, leaf = np.nonzero(cover > 0)
        share = cover[tree, leaf]
        beyond = said[tree, leaf] - means.values[tree, 0]
        terms.append(positions[means.places[tree]])
        leaves.append(leaf)
        keys.append(hashes.of(means.places[tree], leaf))
        numbers.append(np.column_stack([beyond, size(beyond) * share, share]))
    all_keys = np.concatenate(keys)
    first, sums, counts = summed(all_keys, np.concatenate(numbers))
    kept = np.flatnonzero(all_keys[first] != 0)  # without conditions it is part of the baseline
    first, sums, counts = first[kept], sums[kept], counts[kept]
    return RuleUse(
        np.concatenate(terms)[first],
        np.concatenate(leaves)[first],
        sums[:, :n_classes],
        sums[:, n_classes],
        sums[:, n_classes + 1] / counts,
        counts,
    )


def pair_use(ensemble: Ensemble) -> Separated:
    """The two classes that each term separates most; −1 if there are fewer than two classes."""
    n_terms = len(ensemble)
    found = Separated(np.full(n_terms, -1), np.full(n_terms, -1), np.zeros(n_terms))
    if ensemble.n_classes > 1:
        for positions, terms in ensemble.groups:
            for column, own in zip(found, terms.separated(), strict=True):
                column[positions] = own
    return found
