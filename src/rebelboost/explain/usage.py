"""How much a model uses each feature, rule, training row and pair of classes, as arrays.

The size of a contribution is half its range over the classes, because adding the same number to all
classes decides nothing. In a regression it is the absolute value.
"""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Ints, Outputs
from rebelboost.explain.reasons import summed
from rebelboost.explain.rules import RuleHashes
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.shares import size
from rebelboost.model.terms import Separated
from rebelboost.model.trees import Trees


def importances(ensemble: Ensemble, n_features: int) -> Floats:
    """(d,) size of the changes by each feature, averaged over training samples and summed over all terms."""
    found = np.zeros(n_features)
    # Always in this order, since sums of floats depend on it.
    for group in sorted(ensemble.groups, key=lambda group: -group.terms.rank):
        group.terms.add_importances(found)
    return found


def n_testing(ensemble: Ensemble, n_features: int) -> Ints:
    """(d,) number of trees that split on each feature."""
    none = np.zeros(n_features, dtype=np.int64)
    return sum((group.terms.n_splitting(n_features) for group in ensemble.groups), none)


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
    """Sum over all comparisons."""
    rows, said = [np.empty(0, dtype=np.int64)], [np.empty((0, ensemble.n_classes))]
    for _, terms in ensemble.groups:
        own_rows, own_said = terms.row_pulls()
        rows.append(own_rows)
        said.append(own_said)
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
