"""Binning of feature values.

A feature has at most 255 bins plus one more, the last, for missing values. A numeric feature is divided
at edges: x ≤ edge goes left. A categorical feature has codes 0, 1, …, with one bin per code.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import Bins, Bytes, Floats, Ints, Values
from rebelboost.base.cached import cached_property
from rebelboost.base.hashing import distinct
from rebelboost.data.encoder import MOST_LEVELS

MOST_BINS = 255
"""Maximum number of bins of a feature, not counting the one for missing values."""
BLOCK = 16
"""Number of features whose bins are adjacent in memory."""
METHODS = ("quantile", "even", "exact")
"""Allowed values of `binning`."""


@dataclass(frozen=True)
class Binner:
    """The bin edges of every feature; converts values to bins."""

    edges: tuple[Floats, ...]
    """d arrays of increasing edges, each (bins − 1,)."""
    categorical: Bytes
    """(d,) 1 for categorical features."""

    @cached_property
    def flat_edges(self) -> Floats:
        """All edges, one feature after the other."""
        return np.concatenate([*self.edges, np.empty(0)])

    @cached_property
    def edge_offsets(self) -> NDArray[np.int32]:
        """(d + 1,) start of each feature's edges."""
        return np.cumsum([0, *map(len, self.edges)], dtype=np.int32)

    @cached_property
    def n_bins(self) -> NDArray[np.int32]:
        """(d,) number of bins, including the one for missing values."""
        return np.diff(self.edge_offsets) + np.int32(2)

    def transform(self, X: Values, n_threads: int = 1, blocks: Bytes | None = None) -> Bins:
        """Bin the values of (N, d) `X`, C-ordered, into `blocks` if given, which must be 0."""
        if blocks is None:
            blocks = np.zeros(blocks_shape(X), dtype=np.uint8)
        X = self._without_unknown(X)
        missing = (self.n_bins - 1).astype(np.uint8)
        kernels.active.bin_values(X, self.flat_edges, self.edge_offsets, missing, blocks, n_threads)
        offsets = np.concatenate([[0], np.cumsum(self.n_bins)]).astype(np.int32)
        return Bins(blocks, offsets, self.categorical)

    def _without_unknown(self, X: Values) -> Values:
        """The same values, with codes of categories that have no bin as missing."""
        codes = np.flatnonzero(self.categorical)
        unknown = X[:, codes] > self.n_bins[codes] - 2
        if unknown.any():
            X = X.copy()
            X[:, codes] = np.where(unknown, np.nan, X[:, codes])
        return X

    def thresholds(self, features: NDArray[np.int32], right: Bytes) -> Floats:
        """Split values of nodes, given (m,) features and (m, 256) flags of the bins that go right.

        Infinite if only missing values go right, and for categorical features.
        """
        first_right = np.argmax(right != 0, axis=1)
        missing = self.n_bins[features] - 1
        cuts = (first_right > 0) & (first_right < missing) & (self.categorical[features] == 0)
        edge = np.where(cuts, self.edge_offsets[features] + first_right - 1, 0)
        return np.where(cuts, np.append(self.flat_edges, np.inf)[edge], np.inf)


def fit_binner(
    X: Values,
    *,
    max_bins: int = MOST_BINS,
    method: str = "quantile",
    weights: Ints | None = None,
    categorical: Bytes | None = None,
    n_threads: int = 1,
) -> Binner:
    """Choose the bin edges of each feature.

    `weights` (N,) are counts, or weights in fixed point: sample n counts as weights[n] equal samples.
    "quantile" puts about the same weight into every bin. "even" divides the range into equal parts
    [THESIS]. "exact" puts an edge between any two values, with up to 255 bins. A feature with at most
    `max_bins` values always has an edge between any two values.
    """
    if categorical is None:
        categorical = np.zeros(X.shape[1], dtype=np.uint8)

    def edges_of(f: int) -> Floats:
        if categorical[f]:
            return _between_codes(X[:, f])
        values, mass = _distinct(X[:, f], weights)
        return _edges(values, mass, max_bins, method)

    # Sorting takes nearly all of the time, and releases the GIL.
    features = range(X.shape[1])
    if n_threads > 1 and X.size > 100_000:
        with ThreadPoolExecutor(n_threads) as pool:
            edges = tuple(pool.map(edges_of, features))
    else:
        edges = tuple(map(edges_of, features))
    return Binner(edges, categorical.astype(np.uint8))


def blocks_shape(X: Values) -> tuple[int, int, int]:
    """Shape of the blocks that bins of (N, d) `X` take."""
    return -(-X.shape[1] // BLOCK), len(X), BLOCK


def _between_codes(codes: NDArray[np.floating]) -> Floats:
    return edges_between_codes(float(np.nanmax(codes, initial=0.0)))


def edges_between_codes(largest: float) -> Floats:
    """Edges between the codes 0, 1, … up to the largest; codes without a bin count as missing."""
    return np.arange(min(int(largest), MOST_LEVELS - 1), dtype=np.float64) + 0.5


def _distinct(x: NDArray[np.floating], weights: Ints | None) -> tuple[Floats, Ints]:
    """Return the distinct values, in increasing order, and the weight of each."""
    if weights is None:
        ordered = np.sort(x)  # NaN last
        present = ordered[: np.searchsorted(ordered, np.nan)].astype(np.float64, copy=False)
        first = np.flatnonzero(
            np.concatenate([[True], present[1:] != present[:-1]])[: len(present)]
        )
        return present[first], np.diff(np.append(first, len(present)))
    present_mask = ~np.isnan(x) & (weights > 0)
    values, inverse = np.unique(x[present_mask].astype(np.float64), return_inverse=True)
    mass = np.zeros(len(values), dtype=np.int64)
    np.add.at(mass, inverse, weights[present_mask])
    return values, mass


def _edges(values: Floats, mass: Ints, max_bins: int, method: str) -> Floats:
    between = middles(values)
    most = MOST_BINS if method == "exact" else max_bins
    if len(values) <= most:
        return between
    if method == "even":
        return even_edges(float(values[0]), float(values[-1]), most)
    # A value with more than a bin's share gets its own bin; the others divide the rest evenly.
    after = ends_of_bins(np.minimum(mass * most, mass.sum()), most)
    return between[after[after < len(between)]]


def even_edges(low: float, high: float, n_bins: int) -> Floats:
    """Edges that divide a range evenly."""
    cuts = 4 * np.linspace(low / 4, high / 4, n_bins + 1)[1:-1]  # no overflow
    return np.unique(cuts)


def ends_of_bins(shares: Ints, n_bins: int) -> Ints:
    """Where bins end that have about the same share, given the shares of the values in increasing order."""
    below = np.cumsum(shares)
    wanted = below[-1] * np.arange(1, n_bins, dtype=np.float64) / n_bins
    return distinct(np.searchsorted(below, wanted))


def middles(values: Floats) -> Floats:
    """Midpoints between increasing values."""
    between = values[:-1] / 2 + values[1:] / 2  # halved first: the sum could overflow
    # Adjacent floats have no number between them: the threshold is then the lower one.
    return np.where(between < values[1:], between, values[:-1])
