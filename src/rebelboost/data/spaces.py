"""Where samples lie: from values to points, and squared distances between points.

Scale decides what "similar" means, so values are scaled first. "none": as they are. "standard": every
feature has variance 1. "whitened": also, the features of samples of one class are uncorrelated, which
takes the pooled covariance within classes, drawn to a multiple of the identity [Ledoit and Wolf 2004].

A category is spread out over a column for each level, with a factor by which two random samples are
on average as far apart as in a numeric feature: a mismatch counts more where mismatches are rare. A
missing number lies at the mean, and whether it is missing is a category of its own; a missing
category is half as far from every level as those are from one another.

Sums over samples are exact, on a scale that makes integers of the summands: their order changes no bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import Blocks, Bytes, Distances, Floats, Labels, Points, Samples, Values

Scale = Literal["none", "standard", "whitened"]
SCALES: tuple[Scale, ...] = ("none", "standard", "whitened")
"""The plainest first."""
ABREAST = 16
CHUNK = 1 << 22
"""Values that are turned into points at a time, to keep copies in double precision small."""
GRID, FAR = 2.0**30, 1e15
"""Points lie on a grid, of about 10⁹ to a standard deviation, and no further away than this, so that
squared distances in single precision neither underflow nor overflow."""
RAREST = 0.05
"""Mismatches of a category count no more than if so many pairs of samples had one."""


class Space(Protocol):
    """Where samples lie, and squared distances between them."""

    def place(self, X: Values) -> NDArray[Any]:
        """(N, …): where samples lie."""

    def lay_out(self, placed: NDArray[Any]) -> NDArray[Any]:
        """Make them ready for `distances`."""

    def keep(self, placed: NDArray[Any]) -> NDArray[Any]:
        """(m, …): what is kept of samples that others are compared with."""

    def distances(
        self, laid: NDArray[Any], points: NDArray[Any], rows: Samples, n_threads: int
    ) -> Distances:
        """(m, N or more): from kept points, rows of the training table, to what is laid out."""


# ---- scaled values


@dataclass(frozen=True)
class Embedding:
    """Values → points of Euclidean space."""

    fill: Floats
    """(d,) in place of missing numbers."""
    indicated: NDArray[np.int64]
    """Numeric features some of whose values were missing."""
    levels: dict[int, int]
    """Categorical feature → number of levels."""
    offset: Floats
    """(D,) of the spread-out columns."""
    factor: Floats
    """(D,)"""
    turn: Floats | None = field(default=None, repr=False)
    """(D, D), for "whitened"."""

    def place(self, X: Values) -> Points:
        """(N, D) points."""
        out = np.empty((len(X), len(self.offset)), dtype=np.float32)
        step = max(1, CHUNK // max(1, len(self.offset)))
        for first in range(0, len(X), step):
            spread = (self.spread(X[first : first + step]) - self.offset) * self.factor
            placed = spread if self.turn is None else _times(spread, self.turn)
            out[first : first + step] = np.clip(np.rint(placed * GRID) / GRID, -FAR, FAR)
        return out

    def spread(self, X: Values) -> Floats:
        """(N, D): numbers filled in, a column for each level and for what was missing."""
        X = X.astype(np.float64)
        if not self.levels and not len(self.indicated) and not np.isnan(X).any():
            return X
        numeric = np.ones(X.shape[1], dtype=bool)
        numeric[list(self.levels)] = False
        columns = [np.where(np.isnan(X), self.fill, X)[:, numeric]]
        columns += [np.isnan(X[:, self.indicated]).astype(np.float64)]
        columns += [X[:, [f]] == np.arange(n) for f, n in self.levels.items()]
        return np.concatenate(columns, axis=1)

    def lay_out(self, placed: Points) -> Blocks:
        """(ceil(N / 16), D, 16), the last block filled up with zeros."""
        n_samples, n_columns = placed.shape
        padded = np.zeros((-(-n_samples // ABREAST) * ABREAST, n_columns), dtype=np.float32)
        padded[:n_samples] = placed
        return np.ascontiguousarray(padded.reshape(-1, ABREAST, n_columns).transpose(0, 2, 1))

    def keep(self, placed: Points) -> Points:
        """All of it."""
        return placed

    def distances(self, laid: Blocks, points: Points, rows: Samples, n_threads: int) -> Distances:
        """(m, N), with the padding of the last block."""
        del rows
        out = np.empty((len(points), len(laid) * ABREAST), dtype=np.float32)
        kernels.active.squared_distances(laid, np.ascontiguousarray(points), out, n_threads)
        return out


def fit_embedding(
    X: Values, labels: Labels, categorical: Bytes, scale: str, weight: Floats | None = None
) -> Embedding:
    """Learn offsets and factors; `weight` (N,) counts the samples."""
    levels = {int(f): int(np.nanmax(X[:, f], initial=-1)) + 1 for f in np.flatnonzero(categorical)}
    missing = np.isnan(X).any(axis=0) & (categorical == 0)
    mean = np.nan_to_num(exact_mean(X, weight))
    plain = Embedding(mean, np.flatnonzero(missing), levels, np.empty(0), np.empty(0))
    spread = plain.spread(X)
    offset = exact_mean(spread, weight)
    centred = spread - offset
    variance = exact_mean(centred**2, weight)
    n_numeric = X.shape[1] - len(levels)
    factor = _factors(variance, n_numeric, [1] * len(plain.indicated), levels, scale)
    embedding = Embedding(mean, plain.indicated, levels, offset, factor)
    if scale != "whitened":
        return embedding
    turn = whitening(_within_classes(centred * factor, labels, weight), weight)
    return Embedding(mean, plain.indicated, levels, offset, factor, turn)


def _factors(
    variance: Floats,
    n_numeric: int,
    indicators: Sequence[int],
    levels: dict[int, int],
    scale: str,
) -> Floats:
    numeric = variance[:n_numeric]
    factor = np.ones(n_numeric)
    if scale != "none":
        np.divide(1.0, np.sqrt(numeric), out=factor, where=numeric > 0)
    # Two random samples are 2 · variance apart in a numeric feature, on average.
    apart = 2 * float(np.mean(numeric * factor**2)) if numeric.any() else 1.0
    factors, first = [factor], n_numeric
    for width in [*indicators, *levels.values()]:
        # Of one-hot columns: Σ variance = 1 − Σp², the share of pairs with a mismatch.
        share = float(variance[first : first + width].sum()) * (2 if width == 1 else 1)
        factors.append(np.full(width, np.sqrt(apart / max(share, RAREST) / 2)))
        first += width
    flat = np.concatenate(factors)
    largest = float(np.sqrt(np.max(variance * flat**2, initial=0.0)))
    # A power of two changes no comparison, and keeps squares from over- and underflowing.
    return flat if largest == 0 else np.ldexp(flat, -int(np.frexp(largest)[1]))


def _within_classes(centred: Floats, labels: Labels, weight: Floats | None) -> Floats:
    """Deviations from the class means."""
    deviations = centred.copy()
    for k in np.unique(labels):
        own = labels == k
        deviations[own] -= exact_mean(deviations[own], None if weight is None else weight[own])
    return deviations


def whitening(deviations: Floats, weight: Floats | None = None) -> Floats:
    """(D, D): turns deviations into ones that are uncorrelated and have about the same variance."""
    share = np.full(len(deviations), 1.0) if weight is None else weight
    total = float(exact_mean(share[:, np.newaxis])[0]) * len(share)
    covariance = exact_gram(deviations * np.sqrt(share)[:, np.newaxis]) / total
    level = np.trace(covariance) / len(covariance)
    if level == 0:
        return np.eye(len(covariance))
    shrinkage = ledoit_wolf(covariance, deviations, weight)
    shrunk = (1 - shrinkage) * covariance + shrinkage * level * np.eye(len(covariance))
    values, vectors = np.linalg.eigh(shrunk)
    return vectors / np.sqrt(np.maximum(values, 1e-10 * values.max()))


def ledoit_wolf(covariance: Floats, deviations: Floats, weight: Floats | None = None) -> float:
    """The share of the identity that makes a covariance best on average [Ledoit and Wolf 2004]."""
    level = np.trace(covariance) / len(covariance)
    spread = float(((covariance - level * np.eye(len(covariance))) ** 2).sum())
    fourth = float(exact_mean(((deviations**2).sum(axis=1) ** 2)[:, np.newaxis], weight)[0])
    noise = (fourth - float((covariance**2).sum())) / len(deviations)
    return min(1.0, max(0.0, noise / spread)) if spread > 0 else 1.0


def exact_mean(X: Values, weight: Floats | None = None) -> Floats:
    """(d,) means of what is present, from integers that sum to less than 2⁶²: order does not matter."""
    present = ~np.isnan(X)
    values = np.where(present, X, 0.0).astype(np.float64, copy=False)
    counted = present.astype(np.float64)
    if weight is not None:
        values, counted = values * weight[:, np.newaxis], counted * weight[:, np.newaxis]
    total = _exact_sum(counted)
    return np.divide(_exact_sum(values), total, out=np.full(X.shape[1], np.nan), where=total > 0)


def _exact_sum(values: Floats) -> Floats:
    largest = np.maximum(values.max(axis=0, initial=0.0), -values.min(axis=0, initial=0.0))
    exponent = 61 - len(values).bit_length() - np.frexp(largest)[1]
    integers = np.rint(np.ldexp(values, exponent)).astype(np.int64)
    return np.ldexp(integers.sum(axis=0).astype(np.float64), -exponent)


def exact_gram(X: Floats, squares: Floats | None = None) -> Floats:
    """XᵀX, from integers whose squares sum to less than 2⁵²: every partial sum is exact in a float.

    `squares` (d,) are bounds on the sums of squares, where they are known.
    """
    if squares is None:
        squares = exact_mean(X**2) * len(X)
    exponent = 25 - (np.frexp(squares)[1] + 1) // 2
    integers = np.rint(np.ldexp(X, exponent))
    gram = integers.T @ integers
    return np.ldexp(gram, -(exponent[:, np.newaxis] + exponent))


def _times(left: Floats, right: Floats) -> Floats:
    """A matrix product of integers that sum to less than 2⁵³: how it is shared out changes no bit.

    `left` is kept to 2⁻¹⁴ of a standard deviation, `right` to 2⁻²¹ of its largest entry.
    """
    _, exponent = np.frexp(np.abs(right).max(initial=0.0))
    integers = np.rint(np.ldexp(left, 14)) @ np.rint(np.ldexp(right, 21 - exponent))
    return np.ldexp(integers, exponent - 35)


# ---- distances from elsewhere


class Measured(NamedTuple):
    """Squared distances by a function of two samples, or by one of SciPy's metrics, by name."""

    metric: str | Callable[[Floats, Floats], float]

    def place(self, X: Values) -> Values:
        """Keep the values as they are."""
        return X

    def lay_out(self, placed: Values) -> Values:
        """As they are."""
        return placed

    def keep(self, placed: Values) -> Values:
        """All of it."""
        return placed

    def distances(self, laid: Values, points: Values, rows: Samples, n_threads: int) -> Distances:
        """(m, N)."""
        from scipy.spatial.distance import cdist  # takes time that most users need not spend

        del rows, n_threads
        return checked(cdist(points, laid, self.metric))


class Precomputed:
    """The values are squared distances from the samples of the training table, a column for each."""

    def place(self, X: Values) -> Values:
        """Keep the values as they are."""
        return X

    def lay_out(self, placed: Values) -> Values:
        """As they are."""
        return placed

    def keep(self, placed: Values) -> Values:
        """Nothing: its row names a sample's column."""
        return placed[:, :0]

    def distances(self, laid: Values, points: Values, rows: Samples, n_threads: int) -> Distances:
        """(m, N)."""
        del points, n_threads
        return checked(laid[:, rows].T)


def checked(distances: Values) -> Distances:
    """Refuse what cannot be a squared distance."""
    if not (distances >= 0).all():  # NaN too
        worst = distances[~(distances >= 0)][0]
        raise ValueError(f"a squared distance is {worst:g}: give numbers of 0 or more")
    return np.ascontiguousarray(distances, dtype=np.float32)
