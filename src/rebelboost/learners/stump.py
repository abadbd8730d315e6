"""Decision stumps, optionally with exact thresholds or with a side for each category."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import NO_WORK, BySample, Indices, Regions, RootTotals
from rebelboost.data.binning import middles
from rebelboost.data.training_set import TABLE, TrainingSet
from rebelboost.learners.base import AnyWeights, Candidate, Focus, Traits
from rebelboost.learners.binned import PreparedBins, bin_rows
from rebelboost.learners.growing import SIGNS, search_of, solve, tree_with_one_output
from rebelboost.learners.options import (
    Binning,
    Categorical,
    Parameters,
    check_bins,
    check_choice,
    check_search,
    schedule,
)
from rebelboost.learners.pruning import Search, Steps
from rebelboost.model.trees import NONE, Trees
from rebelboost.rows.base import Rows

UNSOLVED = np.empty((2, 0))
"""Placeholder for outputs that have not been solved."""


class FoundStump(NamedTuple):
    """A stump whose output has not been solved, and the side of each training sample."""

    tree: Trees
    regions: Regions


def better(plain: Candidate, found: FoundStump | None, weights: AnyWeights) -> Candidate:
    """The stump found, if its loss is lower than that of the plain candidate; else the plain candidate."""
    if found is None:
        return plain
    plus, minus = weights.sums(found.regions, 2)
    output = weights.signed_output(found.regions, SIGNS, plus, minus)
    outputs = SIGNS[:, np.newaxis] * output
    loss = weights.loss_after(found.regions, plus, minus, outputs)
    if not loss < _loss_after(plain, weights):
        return plain
    return Candidate(found.tree.with_outputs(outputs), found.regions, plus, minus)


# ---- exact thresholds


def exact_stump(data: TrainingSet, weights: AnyWeights, focus: Focus) -> FoundStump | None:
    """Best threshold among the features with more distinct values than bins [ADA, Alg. 3.1].

    Samples are sorted once for all rounds (kernels.exact_cut).
    """
    values, totals = _sums(weights, focus)
    best: _Cut | None = None
    least = np.inf
    for feature in np.flatnonzero((focus.allowed != 0) & data.wide).tolist():
        order, cuts = data.order(feature)
        place, missing_right, loss = kernels.active.exact_cut(order, cuts, values, totals, least)
        if place >= 0:
            best, least = _Cut(feature, place, missing_right), loss
    if best is None or data.values is None:
        return None
    x = data.values[:, best.feature].astype(np.float64)
    return _sides(best, data.order(best.feature)[0], x, focus)


class _Cut(NamedTuple):
    feature: int
    place: int
    """Position, in the sorted samples, of the last one on the left side."""
    missing_right: bool


def _sides(cut: _Cut, order: Indices, x: BySample, focus: Focus) -> FoundStump:
    last = cut.place + 1 == len(order)
    threshold = np.inf if last else middles(x[order[cut.place : cut.place + 2]])[0]
    right = x > threshold
    missing_right = cut.missing_right
    if len(order) < len(x):
        right[np.isnan(x)] = missing_right
    else:  # no value is missing in training: missing values go where most samples go
        missing_right = bool(2 * np.count_nonzero(right[focus.samples]) > len(focus.samples))
    tree = Trees.one(
        np.array([cut.feature], dtype=np.int32),
        np.array([threshold]),
        np.array([missing_right], dtype=np.uint8),
        (np.array([NONE], dtype=np.int32), np.empty((0, TABLE), dtype=np.uint8)),
        SIGNS,
        UNSOLVED,
    )
    return FoundStump(tree, right.astype(np.uint16))


def _sums(weights: AnyWeights, focus: Focus) -> tuple[NDArray[np.int32], RootTotals]:
    """(N, K) signed weights of the samples in focus, 0 for others, and the totals."""
    signed, mass = weights.fixed()
    values = np.zeros(mass.shape, dtype=np.int32)
    values[focus.samples] = signed[focus.samples, : mass.shape[1]]
    total = values.sum(axis=0, dtype=np.int64)
    return values, RootTotals(mass[focus.samples].sum(axis=0), total, weights.second_order)


@dataclass(frozen=True, repr=False)
class Stump(Parameters):
    """Decision stumps as weak learners: f(x) = sign(x_j − τ), or a constant.

    Parameters
    ----------
    bins : int, default=255
        Maximum number of bins of a numeric feature, from 2 to 255.
    binning : {"quantile", "even", "exact"}, default="quantile"
        Position of the thresholds; see `Tree`. For stumps, "exact" has no limit on the number of
        values [ADA, Alg. 3.1].
    categorical : "from_dtype" or list, default="from_dtype"
        Categorical features; see `Tree`.
    categories : {"one", "split"}, default="one"
        "one" separates one category from the rest. "split" also lets every category choose its side
        [ADA 3.4.2], which learns faster but overfits if there are many categories.
    search : {"auto", "pruned", "exhaustive"}, default="auto"
        How the best split is found; see `Tree`.
    first_subset : float, default=0.9
        Fraction of the weight in the first subset of a pruned search; see `Tree`.
    subset_steps : int or "auto", default="auto"
        Number of further subsets of a pruned search; see `Tree`.
    """

    bins: int = 255
    binning: Binning = "quantile"
    categorical: Categorical = "from_dtype"
    categories: Literal["one", "split"] = "one"
    search: Search = "auto"
    first_subset: float = 0.9
    subset_steps: Steps = "auto"

    rounds = 1000
    shrinkage = 1.0
    depth = 1

    def __post_init__(self) -> None:
        check_bins(self)
        check_choice("categories", self.categories, ("one", "split"))
        check_search(self)

    @property
    def traits(self) -> Traits:
        """Rows may be in several blocks, but not for thresholds between any two values."""
        return Traits(searches_blocks=self.binning != "exact", predicts_numbers=True)

    def prepare(self, rows: Rows, n_threads: int = 1) -> "PreparedStump":
        """Bin the rows."""
        return PreparedStump(rows, self, bin_rows(rows, self, n_threads), schedule(self))


class PreparedStump(PreparedBins):
    """Searches binned rows for stumps."""

    options: Stump

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Find the stump with the lowest loss."""
        del rng
        search = search_of(self.data, focus, self.draw, self.schedule)
        stump = search.candidate(tree_with_one_output(1, search, weights))
        if self.options.binning == "exact" and isinstance(self.data, TrainingSet):
            stump = better(stump, exact_stump(self.data, weights, focus), weights)
        if self.options.categories == "split":
            layer = search.sides_of_categories(weights)
            split = None if layer is None else solve((layer,), SIGNS, search, weights, NO_WORK)
            if split is not None and split.loss < _loss_after(stump, weights):
                stump = search.candidate(split)
        return stump


def _loss_after(found: Candidate, weights: AnyWeights) -> float:
    return weights.loss_after(found.where, found.plus, found.minus, found.term.outputs)
