"""Logistic regression on values and ranks: curves of single features, solved at once.

A feature enters as its value and as its rank, in bins, and a category by a flag for each level. What is found
is written as trees of a single split each, one for each edge of the bins, which add up to the same curve: so
files, explanations and exported code know it already.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, Floats, Ints, Outputs
from rebelboost.base.fixed_point import fixed_weights
from rebelboost.base.hashing import hash_rows
from rebelboost.base.kernel_arrays import Features
from rebelboost.data.binning import Binner, fit_binner
from rebelboost.data.level_means import OutOfFold, with_level_means
from rebelboost.data.samples import Samples
from rebelboost.learners.base import Traits
from rebelboost.learners.options import Parameters, check_number
from rebelboost.learners.smooth import logistic_path
from rebelboost.model.trees import NONE, Trees

PENALTIES = (100.0, 10.0, 1.0, 0.1)
"""Penalties on squared slopes of columns with variance 1, in log-odds, beside the sum of the log-losses."""
USUAL = 1
"""Index of the penalty that is used where no sample can be left out."""
LEAST_VARIANCE = 1e-12
"""Columns that vary less, relative to their largest value, are left out."""


class Curve(NamedTuple):
    """The columns that a feature becomes, by bin."""

    table: Floats
    """(bins + 1, c) standardised values of the columns in each bin; the last are those of missing values."""
    mass: Floats
    """(bins + 1,) share of the samples in each bin."""
    like_missing: int
    """The bin to which missing values are sent by splits between numbers."""


class Columns(NamedTuple):
    """Samples as columns of a regression."""

    binner: Binner
    curves: tuple[Curve, ...]
    features: Features
    """(N, R) values of all columns, padded to a multiple of 8."""
    starts: Ints
    """(d + 1,) first column of each feature."""


def columns_of(samples: Samples, max_bins: int) -> Columns:
    """Bin the samples, and standardise their values and ranks."""
    weights = fixed_weights(samples.weight)
    mass = np.ones(len(samples)) if weights is None else weights.astype(np.float64)
    X = samples.X.astype(np.float64)
    binner = fit_binner(X, max_bins=max_bins, weights=weights, categorical=samples.categories)
    places = [_bins(X[:, f], binner, f) for f in range(X.shape[1])]
    curves = tuple(_curve(X[:, f], place, mass, binner, f) for f, place in enumerate(places))
    starts = np.cumsum([0, *(curve.table.shape[1] for curve in curves)])
    features = np.zeros((len(X), -(-max(1, int(starts[-1])) // 8) * 8), dtype=np.float32)
    for curve, place, start in zip(curves, places, starts.tolist(), strict=False):
        features[:, start : start + curve.table.shape[1]] = curve.table[place]
    return Columns(binner, curves, features, starts)


def _bins(x: Floats, binner: Binner, feature: int) -> Ints:
    """(N,) the bin of each value; the last is that of missing values."""
    edges = binner.edges[feature]
    place = np.searchsorted(edges, np.where(np.isnan(x), 0.0, x), side="left")
    return np.where(np.isnan(x), len(edges) + 1, place)


def _curve(x: Floats, place: Ints, mass: Floats, binner: Binner, feature: int) -> Curve:
    n_bins = len(binner.edges[feature]) + 1
    found = np.bincount(place, mass, n_bins + 1)
    share = found / found.sum()
    if binner.categorical[feature]:
        columns = np.eye(n_bins + 1)
        return Curve(_standardised(columns, share), share, n_bins)
    values = _typical(x, place, n_bins)
    below = np.cumsum(found[:n_bins]) - found[:n_bins] / 2  # whole or half numbers, which are exact
    ranks = below / max(float(found[:n_bins].sum()), 1.0)
    like_missing = int(np.argmin(np.abs(ranks - 0.5)))
    columns = np.zeros((n_bins + 1, 3))
    columns[:n_bins, 0] = values
    columns[:n_bins, 1] = ranks if n_bins > 2 else 0.0
    columns[n_bins] = columns[like_missing]
    columns[n_bins, 2] = 1.0
    return Curve(_standardised(columns, share), share, like_missing)


def _typical(x: Floats, place: Ints, n_bins: int) -> Floats:
    """(bins,) the middle one of the values in each bin, relative to the largest; 0 in empty bins."""
    order = np.lexsort((x, place))
    counts = np.bincount(place, minlength=n_bins + 1)[:n_bins]
    middle = np.cumsum(counts) - (counts + 1) // 2
    values = np.where(counts > 0, x[order[np.minimum(middle, len(x) - 1)]], 0.0)
    return values / (float(np.abs(values).max(initial=0.0)) or 1.0)


def _standardised(columns: Floats, share: Floats) -> Floats:
    """The columns with mean 0 and variance 1 over the samples; those that do not vary are left out."""
    kept = []
    for column in columns.T:
        centred = column - math.fsum(share * column)
        variance = math.fsum(share * centred**2)
        if variance > LEAST_VARIANCE:
            kept.append(centred / math.sqrt(variance))
    return np.stack(kept, axis=1) if kept else np.empty((len(columns), 0))


# ---- trees


def logistic_trees(
    samples: Samples, learner: "Logistic", stages: Sequence[int]
) -> Iterator[tuple[int, Trees]]:
    """Yield, for some of the penalties, the largest first, trees of one split that add up to the function."""
    by_means = with_level_means(samples)
    given = samples if by_means is None else by_means.samples
    # In an order that depends on the values only: sums depend on it.
    keys = hash_rows(given.X, 0)
    weight = np.ones(len(given)) if given.weight is None else given.weight
    given = given.take(np.lexsort((weight, given.labels, keys)))
    columns = columns_of(given, learner.bins)
    mass = np.zeros((len(given), given.n_classes))
    mass[np.arange(len(given)), given.labels] = 1.0 if given.weight is None else given.weight
    n_effective = float(mass.sum()) ** 2 / math.fsum(mass.sum(axis=1) ** 2)
    # Scores are half the log-odds, and losses are means.
    ridges = [4 * PENALTIES[stage] / n_effective for stage in stages]
    for stage, solved in zip(stages, _path(columns, mass, ridges), strict=True):
        yield stage, _named(staircases(columns, solved), by_means)


def _path(columns: Columns, mass: Outputs, ridges: Sequence[float]) -> Iterator[Outputs]:
    size = columns.features.shape[1]
    gram, whitening = np.empty((size, size)), np.empty((size, size))
    weight = np.add.accumulate(mass, axis=1)[:, -1]
    kernels.active.weighted_gram(columns.features, weight / math.fsum(weight), gram)
    kernels.active.ridge_factor(gram, max(ridges), whitening)
    return logistic_path(columns.features, whitening, mass, [(ridge, size) for ridge in ridges])


def _named(trees: Trees, by_means: OutOfFold | None) -> Trees:
    return trees if by_means is None else trees.on_columns(by_means.columns)


class _Splits(NamedTuple):
    """Splits on one feature."""

    thresholds: Floats
    missing_right: Floats
    levels: Ints
    """The level that goes right; −1: a split between numbers, or off missing values."""
    jumps: Outputs
    """(splits, K) what the right side has more than the left."""
    right: Floats
    """(splits,) share of the samples that go right."""


def _splits(curve: Curve, values: Outputs, edges: Floats, *, categorical: bool) -> _Splits:
    """The splits that add up to a function, but for a constant; `values` (bins + 1, K) are the function's."""
    n_bins = len(values) - 1
    if categorical:
        levels = np.arange(n_bins)
        endless, none = np.full(n_bins, np.inf), np.zeros(n_bins)
        return _Splits(endless, none, levels, values[:-1] - values[-1], curve.mass[:-1])
    middle = curve.like_missing
    goes_right = np.arange(n_bins - 1) < middle
    right = 1 - curve.mass[-1] - np.cumsum(curve.mass[: n_bins - 1]) + goes_right * curve.mass[-1]
    return _Splits(
        np.append(edges, np.inf),
        np.append(goes_right, 1.0),
        np.full(n_bins, NONE),
        np.concatenate([np.diff(values[:-1], axis=0), values[-1:] - values[middle]]),
        np.append(right, curve.mass[-1]),
    )


def staircases(columns: Columns, solved: Outputs) -> Trees:
    """Trees of one split each, and one without, from (K, 1 + R) constants and slopes."""
    parts, constant = [], [solved[:, 0]]
    for f, curve in enumerate(columns.curves):
        slopes = solved[:, 1 + columns.starts[f] : 1 + columns.starts[f + 1]]
        values = _products(curve.table, slopes)
        constant.append(_products(curve.mass[np.newaxis], values.T)[0])
        splits = _splits(
            curve, values, columns.binner.edges[f], categorical=bool(columns.binner.categorical[f])
        )
        parts.append(_of_splits(f, splits))
    total: ByClass = np.array([math.fsum(each) for each in np.transpose(constant)])
    return Trees.joined([Trees.constant(total), *parts])


def _products(left: Floats, right: Floats) -> Outputs:
    """(n, K) left · rightᵀ, one product after the other."""
    total = np.zeros((len(left), len(right)))
    for column, slope in zip(left.T, right.T, strict=True):
        total += np.multiply.outer(column, slope)
    return total


def _of_splits(feature: int, splits: _Splits) -> Trees:
    """A tree for each split that has samples on both sides; outputs are 0 on average."""
    share = np.clip(splits.right, 0.0, 1.0)
    kept = np.flatnonzero((share > 0) & (share < 1) & splits.jumps.any(axis=1))
    share, jumps, levels = share[kept, np.newaxis], splits.jumps[kept], splits.levels[kept]
    n, of_level = len(kept), levels >= 0
    right = np.zeros((int(of_level.sum()), 256), dtype=np.uint8)
    right[np.arange(len(right)), levels[of_level]] = 1
    category = np.full(n, NONE, dtype=np.int32)
    category[of_level] = np.arange(len(right), dtype=np.int32)
    return Trees(
        np.ones(n, dtype=np.int32),
        np.full(n, feature, dtype=np.int32),
        splits.thresholds[kept],
        splits.missing_right[kept].astype(np.uint8),
        category,
        right,
        np.zeros(2 * n, dtype=np.int8),
        np.stack([-share * jumps, (1 - share) * jumps], axis=1).reshape(2 * n, jumps.shape[1]),
        np.concatenate([1 - share, share], axis=1).ravel(),
    )


# ---- options


@dataclass(frozen=True, repr=False)
class Logistic(Parameters):
    """Logistic regression on the values and the ranks of features, each class against the others.

    Parameters
    ----------
    bins : int, default=32
        Maximum number of bins of a numeric feature, between which its curve has steps.
    """

    bins: int = 32

    rounds = 1
    shrinkage = 1.0
    traits: ClassVar[Traits] = Traits(is_solved_at_once=True)

    def __post_init__(self) -> None:
        check_number("bins", self.bins, 2, 255)

    def prepare(self, rows: Any, n_threads: int = 1) -> NoReturn:
        """Raise an error: there are no rounds, and a single fit could not choose its penalty."""
        del rows, n_threads
        raise ValueError("Logistic chooses its penalty on held-out samples and has no rounds")
