"""From a problem to what a learner needs: bins for trees, points for similarities."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Bytes, Ints, Labels, Values
from rebelboost.base.fixed_point import fixed_weights
from rebelboost.base.hashing import hash_rows
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import Judge, State
from rebelboost.data.binning import fit_binner
from rebelboost.data.point_set import PointSet, coincident
from rebelboost.data.samples import Problem, Trainable
from rebelboost.data.spaces import Measured, Precomputed, Space, fit_embedding
from rebelboost.data.training_set import TrainingSet
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.similarity_search import SimilaritySearch

ENOUGH, FEWEST = 1 << 22, 2048
"""Scales are learned from so many values, where there are more; from no fewer samples."""


class Prepared(NamedTuple):
    """A training set, a learner for it, and the problem with its samples in the same order."""

    data: Any
    learner: Any
    problem: Any
    judge: Judge | None = None
    """Where samples were merged: judges the decisions on all of them."""
    unavoidable_cost: float = 0.0
    """Mean cost that no scores can avoid, since samples of different classes lie at one point."""

    def tolerance(self, settings: Settings) -> float:
        """The share of the first loss at which to stop; trees go on, since error keeps falling."""
        if settings.tol is not None:
            return settings.tol
        if not isinstance(self.learner, SimilaritySearch):
            return 0.0
        options, n_classes = self.learner.options, self.problem.costs.shape[1]
        return options.tolerance(n_classes, len(self.problem.labels))

    def state(self, settings: Settings) -> State:
        """Scores of 0, and their weights."""
        if self.judge is None:
            return self.problem.state(settings)
        return self.problem.state(settings, self.judge)


def prepare(problem: Trainable, learner: Any, categorical: Bytes, n_threads: int) -> Prepared:
    """Bin the values, or place them and merge the samples that lie at one point."""
    if isinstance(learner, Similarity) and isinstance(problem, Problem):
        return _prepare_points(problem, learner, categorical, n_threads)
    binner = fit_binner(
        problem.X,
        max_bins=learner.bins,
        method=learner.binning,
        weights=fixed_weights(problem.weight),
        categorical=categorical,
        n_threads=n_threads,
    )
    bins = binner.transform(problem.X, n_threads)
    return Prepared(TrainingSet(bins, binner, n_threads, values=problem.X), learner, problem)


def _prepare_points(
    problem: Problem, learner: Similarity, categorical: Bytes, n_threads: int
) -> Prepared:
    space = fit_space(problem, learner, categorical)
    placed = space.place(problem.X)
    order, group = coincident(placed)
    merged, least = merge(problem, order, group)
    judge = problem.judge()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = group
    first = order[np.flatnonzero(np.diff(group, prepend=-1))]
    placed = placed[first]
    rows = merged.rows_of_table.astype(np.int32)
    data = PointSet(space, placed, space.lay_out(placed), rows, problem.X.shape[1], n_threads)
    return Prepared(data, SimilaritySearch(learner), merged, replace(judge, place=place), least)


def fit_space(problem: Problem, learner: Similarity, categorical: Bytes) -> Space:
    """Learn the scale, from samples that do not depend on their order; or take the given metric."""
    if learner.metric == "precomputed":
        if problem.rows_of_table.max() >= problem.X.shape[1]:
            raise ValueError(
                f"with metric='precomputed', X must have a column for each sample, but it has "
                f"{problem.X.shape[1]} columns and {len(problem.labels)} samples or more"
            )
        return Precomputed()
    if not learner.is_scaled:
        return Measured(learner.metric)
    X, labels, weight = _some(problem)
    return fit_embedding(X, labels, categorical, learner.scale, weight)


def _some(problem: Problem) -> tuple[Values, Labels, BySample]:
    """Distinct samples from which scales are learned, and how much each weighs.

    Which are taken follows from their values, so that neither order nor repetition matters. All, but
    of large sets no more than ENOUGH values.
    """
    keys = hash_rows(problem.X, 1, problem.labels)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    weight = np.bincount(group, problem.weight).astype(np.float64)
    n_used = max(FEWEST, ENOUGH // problem.X.shape[1])
    used = first[:n_used]
    return problem.X[used], problem.labels[used], weight[:n_used]


def merge(problem: Problem, order: Ints, group: Ints) -> tuple[Problem, float]:
    """Make one sample of those that lie at one point [LOCAL, footnote 1].

    Its cost row is Σc − min Σc, its class the one where that is 0; what was subtracted is a cost that
    nothing can avoid. Returns its mean over all samples, too. The samples come in the given order.
    """
    if group[-1] == len(group) - 1:
        return problem.take(order), 0.0
    rows = (problem.costs if problem.by_sample else problem.costs[problem.labels])[order]
    weight = np.ones(len(order)) if problem.weight is None else problem.weight[order]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    mass = np.add.reduceat(weight, first)
    paid = np.add.reduceat(rows * weight[:, np.newaxis], first) / mass[:, np.newaxis]
    least = paid.min(axis=1)
    own = np.minimum.reduceat(problem.labels[order], first)
    merged = replace(
        problem.take(order[first]),
        labels=np.where(paid[np.arange(len(own)), own] == least, own, paid.argmin(axis=1)).astype(
            np.int32
        ),
        costs=paid - least[:, np.newaxis],
        by_sample=True,
        weight=mass,
    )
    return merged, float((least * mass).sum() / mass.sum())
