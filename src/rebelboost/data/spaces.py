"""Spaces in which distances are measured: scales, and embeddings of the samples."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import Blocks, Bytes, Distances, Floats, Indices, Labels, Points, Values
from rebelboost.base.fixed_point import exact_gram, exact_mean, exact_product
from rebelboost.base.hashing import distinct
from rebelboost.base.triangular import inverse_factor
from rebelboost.data.encoder import MOST_LEVELS
from rebelboost.data.measured import Tensors

Scale = Literal["none", "standard", "whitened"]
SCALES: tuple[Scale, ...] = ("none", "standard", "whitened")
"""Scales, simplest first."""
MOST_ONE_HOT = 600
"""With more categories in all, distances say little, and take long."""
LARGEST_SQUARABLE = 1e100
"""Distances are measured for values up to this one, and differences down to its inverse."""


def unmeasurable(X: Values) -> int | None:
    """The first feature without measurable distances: squares of its values leave the range of floats."""
    sizes = np.abs(X)
    largest = np.nanmax(sizes, axis=0, initial=0.0).astype(np.float64)  # float32 knows no 1e100
    width = largest - np.nanmin(sizes, axis=0, initial=np.inf)
    tiny = (width > 0) & (width < 1 / LARGEST_SQUARABLE)
    outside = np.flatnonzero((largest > LARGEST_SQUARABLE) | tiny)
    return int(outside[0]) if len(outside) else None


def scales_for(X: Values, categorical: Bytes) -> tuple[Scale, ...]:
    """Scales worth trying: none for values far too large or small; whitening needs more samples than columns.

    Its D × D matrix takes D³ operations and, in a model file, D² numbers for each fit. On nine tables with
    about 0.6 rows for each column it had the lowest error on two, and the highest on six.
    """
    if unmeasurable(X) is not None or sum(levels_of(X, categorical).values()) > MOST_ONE_HOT:
        return ()
    return SCALES if n_columns(X, categorical) <= len(X) else SCALES[:2]


def n_columns(X: Values, categorical: Bytes) -> int:
    """D: number of columns after expansion, with one for each category and missing indicator."""
    levels = levels_of(X, categorical)
    missing = np.isnan(X).any(axis=0) & (categorical == 0)
    return X.shape[1] - len(levels) + int(missing.sum()) + sum(levels.values())


def levels_of(X: Values, categorical: Bytes) -> dict[int, int]:
    """Categorical feature → number of categories."""
    return {
        int(f): min(int(np.nanmax(X[:, f], initial=-1)) + 1, MOST_LEVELS)
        for f in np.flatnonzero(categorical)
    }


# ---- embeddings


ABREAST = 16
"""Number of samples whose values are adjacent in memory."""
CHUNK = 1 << 22
"""Number of values converted to points at a time, to limit copies in double precision."""
GRID, FAR = 2.0**30, 1e15
"""Points are rounded to a grid, with about 10⁹ steps per standard deviation, and clipped to ±FAR, so that
squared distances in single precision neither underflow nor overflow."""
SCALED = "scaled"
"""Kind of a space in a model file; others are in `measured`."""
LEAST_SHRINKAGE = 1e-10
"""Columns that depend on others have a variance of 0 in some direction, which cannot be made 1."""
RAREST = 0.05
"""Mismatches of a category count at most as if this share of sample pairs had one."""


class Space(Protocol):
    """Maps samples to points, and computes squared distances between points."""

    def place(self, X: Values) -> NDArray[Any]:
        """(N, …) points of samples."""

    def lay_out(self, placed: NDArray[Any]) -> NDArray[Any]:
        """Convert points to the memory layout that `distances` needs."""

    def keep(self, placed: NDArray[Any]) -> NDArray[Any]:
        """(m, …) what a model stores of points that samples are compared with."""

    def distances(
        self, laid: NDArray[Any], points: NDArray[Any], rows: Indices, n_threads: int
    ) -> NDArray[Any]:
        """(m, N or more) from stored points, with their rows in the training table, to laid-out points."""

    def to_tensors(self, points: NDArray[Any]) -> Tensors:
        """The space and stored points as arrays and a JSON object, for a model file."""


def distances_between(a: Floats, b: Floats) -> Floats:
    """(A, B) Euclidean distances between points."""
    squares = (a**2).sum(axis=1)[:, np.newaxis] + (b**2).sum(axis=1) - 2 * (a @ b.T)
    found: Floats = np.sqrt(np.maximum(squares, 0.0))
    return found


# ---- scaled values


@dataclass(frozen=True)
class Embedding:
    """Maps values to points of Euclidean space."""

    fill: Floats
    """(d,) values that replace missing numbers."""
    indicated: NDArray[np.int64]
    """Numeric features with missing training values."""
    levels: dict[int, int]
    """Categorical feature → number of categories."""
    offset: Floats
    """(D,) offsets of the expanded columns."""
    factor: Floats
    """(D,) factors of the expanded columns."""
    turn: Floats | None = field(default=None, repr=False)
    """(D, D) whitening matrix, or None."""

    def place(self, X: Values) -> Points:
        """(N, D) points."""
        out = np.empty((len(X), len(self.offset)), dtype=np.float32)
        step = max(1, CHUNK // max(1, len(self.offset)))
        for first in range(0, len(X), step):
            with np.errstate(over="ignore"):  # values far beyond those of the training
                spread = (self.spread(X[first : first + step]) - self.offset) * self.factor
            spread = np.clip(spread, -LARGEST_SQUARABLE, LARGEST_SQUARABLE)
            placed = spread if self.turn is None else exact_product(spread, self.turn)
            out[first : first + step] = np.clip(np.rint(placed * GRID) / GRID, -FAR, FAR)
        return out

    def spread(self, X: Values) -> Floats:
        """(N, D): missing numbers filled in, with a column for each category and missing indicator."""
        X = X.astype(np.float64)
        if not self.levels and not len(self.indicated) and not np.isnan(X).any():
            return X
        numeric = np.ones(X.shape[1], dtype=bool)
        numeric[list(self.levels)] = False
        columns = [np.where(np.isnan(X), self.fill, X)[:, numeric]]
        columns += [np.isnan(X[:, self.indicated]).astype(np.float64)]
        columns += [X[:, [f]] == np.arange(n) for f, n in self.levels.items()]
        return np.concatenate(columns, axis=1)

    @property
    def feature_of_column(self) -> NDArray[np.int64]:
        """(D,) the feature that each expanded column comes from, without whitening."""
        numeric = np.ones(len(self.fill), dtype=bool)
        numeric[list(self.levels)] = False
        of_levels = np.repeat(list(self.levels), list(self.levels.values())).astype(np.int64)
        return np.concatenate([np.flatnonzero(numeric), self.indicated, of_levels])

    def lay_out(self, placed: Points) -> Blocks:
        """(ceil(N / 16), D, 16), with the last block padded with zeros."""
        n_samples, n_columns = placed.shape
        padded = np.zeros((-(-n_samples // ABREAST) * ABREAST, n_columns), dtype=np.float32)
        padded[:n_samples] = placed
        return np.ascontiguousarray(padded.reshape(-1, ABREAST, n_columns).transpose(0, 2, 1))

    def keep(self, placed: Points) -> Points:
        """The whole points."""
        return placed

    def distances(self, laid: Blocks, points: Points, rows: Indices, n_threads: int) -> Distances:
        """(m, N), with the padding of the last block."""
        del rows
        out = np.empty((len(points), len(laid) * ABREAST), dtype=np.float32)
        kernels.active.squared_distances(laid, np.ascontiguousarray(points), out, n_threads)
        return out

    def to_tensors(self, points: NDArray[Any]) -> Tensors:
        """The points, and the mapping from values to points."""
        arrays: dict[str, NDArray[Any]] = {
            "points": points,
            "fill": self.fill,
            "indicated": self.indicated.astype(np.int32),
            "level_features": np.array(list(self.levels), dtype=np.int32),
            "level_counts": np.array(list(self.levels.values()), dtype=np.int32),
            "offset": self.offset,
            "factor": self.factor,
        }
        if self.turn is not None:
            arrays["turn"] = self.turn
        return arrays, {"kind": SCALED, "turned": self.turn is not None}


def fit_embedding(
    X: Values, labels: Labels, categorical: Bytes, scale: str, weight: Floats | None = None
) -> Embedding:
    """Fit offsets and factors. `weight` (N,) are sample weights."""
    feature = unmeasurable(X)
    if feature is not None:
        values = np.abs(X[:, feature])
        raise ValueError(
            f"feature {feature} has values up to {np.nanmax(values):.3g}, whose squares leave the range of "
            "floating point, so that no distances can be measured: change its unit, or use trees"
        )
    levels = levels_of(X, categorical)
    missing = np.isnan(X).any(axis=0) & (categorical == 0)
    mean = np.nan_to_num(exact_mean(X, weight))
    plain = Embedding(mean, np.flatnonzero(missing), levels, np.empty(0), np.empty(0))
    spread = plain.spread(X)
    is_plain = not levels and not missing.any()
    offset = mean if is_plain else exact_mean(spread, weight)
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
    # In a numeric feature, the mean squared distance of two random samples is 2 · variance.
    apart = 2 * float(np.mean(numeric * factor**2)) if numeric.any() else 1.0
    factors, first = [factor], n_numeric
    for width in [*indicators, *levels.values()]:
        # For one-hot columns, Σ variance = 1 − Σp² is the share of pairs with a mismatch.
        share = float(variance[first : first + width].sum()) * (2 if width == 1 else 1)
        factors.append(np.full(width, np.sqrt(apart / max(share, RAREST) / 2)))
        first += width
    flat = np.concatenate(factors)
    largest = float(np.sqrt(np.max(variance * flat**2, initial=0.0)))
    # Scaling by a power of two changes no comparison, and prevents overflow and underflow of squares.
    return flat if largest == 0 else np.ldexp(flat, -int(np.frexp(largest)[1]))


def _within_classes(centred: Floats, labels: Labels, weight: Floats | None) -> Floats:
    """Deviations from the class means."""
    deviations = centred.copy()
    for k in distinct(labels):
        own = labels == k
        deviations[own] -= exact_mean(deviations[own], None if weight is None else weight[own])
    return deviations


def whitening(deviations: Floats, weight: Floats | None = None) -> Floats:
    """(D, D) matrix that makes deviations uncorrelated, with about the same variance."""
    share = np.full(len(deviations), 1.0) if weight is None else weight
    # Shares of 1, whatever the unit of the weights: their roots are rounded by `exact_gram`.
    share = share / (float(exact_mean(share[:, np.newaxis])[0]) * len(share))
    covariance = exact_gram(deviations * np.sqrt(share)[:, np.newaxis])
    level = np.trace(covariance) / len(covariance)
    if level == 0:
        return np.eye(len(covariance))
    shrinkage = max(ledoit_wolf(covariance, deviations, weight), LEAST_SHRINKAGE)
    shrunk = (1 - shrinkage) * covariance + shrinkage * level * np.eye(len(covariance))
    return inverse_factor(shrunk)


def ledoit_wolf(covariance: Floats, deviations: Floats, weight: Floats | None = None) -> float:
    """Optimal weight of the identity in a shrunk covariance [Ledoit and Wolf 2004]."""
    level = np.trace(covariance) / len(covariance)
    spread = float(((covariance - level * np.eye(len(covariance))) ** 2).sum())
    fourth = float(exact_mean(((deviations**2).sum(axis=1) ** 2)[:, np.newaxis], weight)[0])
    noise = (fourth - float((covariance**2).sum())) / len(deviations)
    return min(1.0, max(0.0, noise / spread)) if spread > 0 else 1.0
