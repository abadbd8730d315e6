"""Decision stumps, optionally with exact thresholds or with a side for each category."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from rebelboost.base.arrays import (
    Bins,
    ByFeature,
    BySample,
    Floats,
    Indices,
    Ints,
    Layer,
    Regions,
)
from rebelboost.data.binning import middles
from rebelboost.data.training_set import TABLE, TrainingSet, bin_samples
from rebelboost.learners.base import Candidate, Focus, Prepared
from rebelboost.learners.binarize import leading_eigenvector
from rebelboost.learners.growing import tree_with_one_output
from rebelboost.learners.options import (
    Binning,
    Categorical,
    Parameters,
    check_bins,
    check_choice,
    check_search,
    schedule,
)
from rebelboost.learners.pruning import Schedule, Search, Steps
from rebelboost.losses.smooth import AnyWeights
from rebelboost.model.trees import NONE, Trees

SIGNS = np.array([-1, 1], dtype=np.int8)
"""Responses of the left and the right side."""
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
    if not loss < weights.loss_after(plain.regions, plain.plus, plain.minus, plain.term.outputs):
        return plain
    return Candidate(found.tree.with_outputs(outputs), found.regions, plus, minus)


# ---- exact thresholds


def exact_stump(data: TrainingSet, weights: AnyWeights, focus: Focus) -> FoundStump | None:
    """Best threshold among the features with more distinct values than bins [ADA, Alg. 3.1].

    Samples are sorted once for all rounds. Each feature is scanned with cumulative sums, skipping
    ties, with missing values on the left side, then on the right.
    """
    sums = _Sums(weights, focus)
    best: _Cut | None = None
    least = np.inf
    for feature in np.flatnonzero((focus.allowed != 0) & data.wide):
        order, cuts = data.order(int(feature))
        left = np.cumsum(sums.values[order], axis=0)
        missing = sums.total - left[-1] if len(order) < data.n_samples else None
        for missing_right in (False, True) if missing is not None else (False,):
            # With missing values on the right, all others may be on the left.
            ends = np.append(cuts, len(order) - 1) if missing_right else cuts
            side = left[ends] if missing is None or missing_right else left[ends] + missing
            losses = sums.losses(side)
            at = int(np.argmin(losses))
            if losses[at] < least:
                best = _Cut(int(feature), int(ends[at]), missing_right)
                least = float(losses[at])
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


@dataclass
class RootSums:
    """Fixed-point sums of the weights of all samples in focus, and the loss for a given left side."""

    mass: Ints
    """(K,) S"""
    total: Ints
    """(K,) P of a response of +1."""
    second_order: bool

    def losses(self, left: Ints) -> Floats:
        """Σ_k √(S_k² − P_k²), or −Σ_k P_k²/W_k: lower is better. P = total − 2·left, (rows, K)."""
        P = (self.total - left) - left
        losses = np.zeros(len(P))
        for k, S in enumerate(self.mass.tolist()):
            if self.second_order:
                losses -= P[:, k].astype(np.float64) ** 2 / max(S, 1)
            else:
                product = np.maximum(S - P[:, k], 0) * np.maximum(S + P[:, k], 0)
                losses += np.rint(np.sqrt(product.astype(np.float64)))
        return losses


class _Sums(RootSums):
    """The same, and the weights of the samples."""

    def __init__(self, weights: AnyWeights, focus: Focus) -> None:
        signed, mass = weights.fixed()
        self.fixed = signed
        self.values: Ints = np.zeros(mass.shape, dtype=np.int64)
        self.values[focus.samples] = signed[focus.samples, : mass.shape[1]]
        super().__init__(
            mass[focus.samples].sum(axis=0), self.values.sum(axis=0), weights.second_order
        )


# ---- categories


def split_of_categories(data: TrainingSet, weights: AnyWeights, focus: Focus) -> FoundStump | None:
    """Best stump in which each category of a feature goes to its own side [ADA 3.4.2].

    With scalar sums, the side is the sign of the category's sum. With a sum for each class, an exact
    search would have to try 2^ℓ sides; the leading eigenvector gives them instead, as in `binarize`.
    """
    categorical: ByFeature = focus.allowed * data.bins.categorical
    if not categorical.any():
        return None
    sums = _Sums(weights, focus)
    by_bin = data.class_sums(sums.fixed, focus.samples, categorical)[:, : len(sums.mass)]

    def counts_of(feature: int) -> Ints:
        return np.bincount(data.column(feature)[focus.samples])

    best = sides_of_categories(data.bins, categorical, by_bin, sums, counts_of)
    return FoundStump(Trees.grown(best, data.binner, SIGNS, UNSOLVED), data.route((best,)))


def sides_of_categories(
    bins: Bins,
    categorical: ByFeature,
    by_bin: Ints,
    sums: RootSums,
    counts_of: Callable[[int], Ints],
) -> Layer:
    """The best of these features, and the side of each of its categories, from (B, K) sums over bins.

    Categories without samples go where most samples go; `counts_of` counts the samples of each.
    """
    best, least = -1, np.inf
    for feature in map(int, np.flatnonzero(categorical)):
        own = by_bin[bins.offsets[feature] : bins.offsets[feature + 1]]
        left = own[_signs(own, sums.mass) <= 0].sum(axis=0)
        loss = float(sums.losses(left[np.newaxis])[0])
        if loss < least:
            best, least = feature, loss
    own = by_bin[bins.offsets[best] : bins.offsets[best + 1]]
    right, counts = _signs(own, sums.mass) > 0, counts_of(best)
    mostly_right = 2 * counts[right[: len(counts)]].sum() > counts.sum()
    table = np.zeros((1, TABLE), dtype=np.uint8)
    table[0, : len(own)] = np.where(own.any(axis=1), right, mostly_right)
    return Layer(np.array([best], dtype=np.int32), table)


def _signs(sums: Ints, mass: Ints) -> Floats:
    """(bins,) the side of each bin: U·q₁, U = sums/√S, q₁ the leading eigenvector of UᵀU."""
    U = sums / np.sqrt(np.maximum(mass, 1))
    gram = (U[:, :, np.newaxis] * U[:, np.newaxis]).sum(axis=0)
    sides: Floats = (U * leading_eigenvector(gram)).sum(axis=1)
    return sides


@dataclass(frozen=True)
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

    def prepare(self, samples: Any, n_threads: int = 1) -> "PreparedStump":
        """Bin the samples."""
        data = bin_samples(samples, self.bins, self.binning, n_threads)
        return PreparedStump(samples, self, data, schedule(self))


@dataclass
class PreparedStump(Prepared):
    """Searches binned samples for stumps."""

    options: Stump
    data: TrainingSet
    schedule: Schedule

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Find the stump with the lowest loss."""
        del rng
        stump = tree_with_one_output(1, self.data, weights, focus, self.schedule)
        if self.options.binning == "exact":
            stump = better(stump, exact_stump(self.data, weights, focus), weights)
        if self.options.categories == "split":
            stump = better(stump, split_of_categories(self.data, weights, focus), weights)
        return stump
