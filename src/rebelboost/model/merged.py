"""A faster form of an ensemble for prediction: what can be added beforehand is added once.

All trees with a single split on a feature become one piecewise constant function of it, and constants become
one. This needs sums that are exact, so that their order does not matter: the scores are the same to the last
bit. Everything else, such as explanations and stages, refers to the terms themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, Floats, Indices, Ints, Outputs, Scores
from rebelboost.base.hashing import distinct
from rebelboost.base.kernel_arrays import StepArrays
from rebelboost.data.level_means import LevelMeans
from rebelboost.model.terms import Queries, Terms
from rebelboost.model.trees import NONE, Trees

N_CODES = 256
"""Number of codes of a category; missing values have the row after them."""


@dataclass(frozen=True, eq=False)
class Merged:
    """The sum of all terms of an ensemble."""

    constant: ByClass
    """(K,)"""
    steps: StepArrays
    """Functions of single features."""
    means: tuple[LevelMeans, ...]
    """Means of levels that steps refer to, beside the features."""
    others: tuple[Terms, ...]
    """All other terms."""

    def add_scores(self, queries: Queries, scores: Scores, n_threads: int) -> None:
        """Add the scores of all terms."""
        scores += self.constant
        if len(self.steps.features):
            kernels.active.add_steps(queries.beside(self.means), self.steps, scores, n_threads)
        for terms in self.others:
            terms.add_scores(queries, scores, 0, len(terms), n_threads)


def merged(groups: Sequence[Terms], n_classes: int) -> Merged:
    """Merge terms, whose sums are exact."""
    constant, others = np.zeros(n_classes), list[Terms]()
    steps = _Steps.none(n_classes)
    for terms in groups:
        if isinstance(terms, Trees):
            shallow = terms.depths <= 1
            if not shallow.any():
                others.append(terms)
                continue
            constant += _constants(terms.take(np.flatnonzero(shallow)))
            steps = _Steps.of(terms.take(np.flatnonzero(shallow & (terms.depths == 1))))
            if not shallow.all():
                others.append(terms.take(np.flatnonzero(~shallow)))
        elif (own := terms.constant_outputs) is not None:
            constant += own.sum(axis=0)
        else:
            others.append(terms)
    return Merged(constant, steps.arrays(), steps.numbers.level_means, tuple(others))


def _constants(shallow: Trees) -> ByClass:
    """(K,) sum of the trees without a split: those of depth 0, and those whose only node has no feature."""
    idle = shallow.depths == 0
    idle[~idle] = shallow.features == NONE
    total: ByClass = shallow.outputs[shallow.leaf_offsets[idle]].sum(axis=0)
    return total


@dataclass(frozen=True)
class _Steps:
    """Trees of one split, by the kind of their features."""

    numbers: Trees
    categories: Trees

    @classmethod
    def none(cls, n_classes: int) -> "_Steps":
        return cls(Trees.none(n_classes), Trees.none(n_classes))

    @classmethod
    def of(cls, stumps: Trees) -> "_Steps":
        numbers = (stumps.category == NONE) & (stumps.features != NONE)
        return cls(
            stumps.take(np.flatnonzero(numbers)), stumps.take(np.flatnonzero(stumps.category >= 0))
        )

    def arrays(self) -> StepArrays:
        features, starts, thresholds, outputs = _of_numbers(self.numbers)
        of_codes, tables = _of_categories(self.categories)
        n, m = len(features), len(of_codes)
        first = starts[:-1] + 2 * np.arange(n)
        return StepArrays(
            np.concatenate([features, of_codes]).astype(np.int32),
            np.concatenate([starts, np.full(m, starts[-1])]),
            thresholds,
            np.concatenate([first, len(outputs) + (N_CODES + 1) * np.arange(m)]).astype(np.int64),
            np.repeat(np.array([0, 1], dtype=np.uint8), [n, m]),
            np.concatenate([outputs, tables]),
        )


def _sides(stumps: Trees) -> tuple[Outputs, Outputs, Outputs]:
    """(T, K) outputs of the left and the right leaf, and of that for missing values."""
    left, right = stumps.outputs[0::2], stumps.outputs[1::2]
    return left, right, np.where(stumps.missing_right[:, np.newaxis] != 0, right, left)


def _of_numbers(stumps: Trees) -> tuple[Indices, Ints, Floats, Outputs]:
    """Features, starts of their thresholds, thresholds, and rows of outputs.

    From the output of numbers below all thresholds, each threshold adds the right output less the left.
    """
    order = np.lexsort((stumps.thresholds, stumps.columns))
    left, right, missing = (side[order] for side in _sides(stumps))
    of_feature, of_threshold = stumps.columns[order], stumps.thresholds[order]
    new_feature = np.diff(of_feature, prepend=NONE) != 0
    new = new_feature.copy()
    new[1:] |= of_threshold[1:] != of_threshold[:-1]
    begins = np.flatnonzero(new_feature)
    starts = np.append(np.cumsum(new)[begins] - 1, np.count_nonzero(new)).astype(np.int64)
    n, n_classes = len(begins), stumps.outputs.shape[1]
    first = starts[:-1] + 2 * np.arange(n)
    outputs = np.zeros((int(starts[-1]) + 2 * n, n_classes))
    if n:
        function = np.repeat(np.arange(n), np.diff(starts))
        jumps = np.add.reduceat(right - left, np.flatnonzero(new))
        outputs[np.arange(len(jumps)) + 2 * function + 1] = jumps
        outputs[first] = np.add.reduceat(left, begins)
        sums = np.cumsum(outputs, axis=0)
        before = np.concatenate([np.zeros((1, n_classes)), sums[first[1:] - 1]])
        outputs = sums - np.repeat(before, np.diff(starts) + 2, axis=0)
        outputs[first + np.diff(starts) + 1] = np.add.reduceat(missing, begins)
    return of_feature[begins], starts, of_threshold[new], outputs


def _of_categories(stumps: Trees) -> tuple[Indices, Outputs]:
    """Features, and 257 rows of outputs for each."""
    left, right, missing = _sides(stumps)
    features = distinct(stumps.features)
    tables = np.empty((len(features), N_CODES + 1, stumps.outputs.shape[1]))
    for table, feature in zip(tables, features.tolist(), strict=True):
        own = stumps.features == feature
        goes_right = stumps.right[stumps.category[own]].astype(np.float64)
        table[:N_CODES] = left[own].sum(axis=0) + goes_right.T @ (right[own] - left[own])
        table[N_CODES] = missing[own].sum(axis=0)
    return features, tables.reshape(-1, tables.shape[2])
