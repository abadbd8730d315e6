"""Stumps over our bins: sums of weights left of every cut, and the side of every sample."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rebelboost.data.binning import fit_binner


class Stump(NamedTuple):
    """x ≤ edge is left; a missing value is right."""

    feature: int
    edge: float

    def right(self, X: np.ndarray) -> np.ndarray:
        """(N,) which samples are on the right side."""
        return ~(X[:, self.feature] <= self.edge)


class Cuts:
    """All stumps of a training set, numbered: feature by feature, edges rising."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        binner = fit_binner(X)
        self.edges = binner.flat_edges
        self.feature_of = np.repeat(np.arange(X.shape[1]), [len(e) for e in binner.edges])
        bins = binner.transform(X)
        codes = np.concatenate(list(bins.blocks), axis=1)[:, : X.shape[1]]
        places = (codes + bins.offsets[:-1]).ravel()
        self._n_bins = int(bins.offsets[-1])
        samples = np.repeat(np.arange(len(X)), X.shape[1])
        # The samples of each bin.
        self._held = csr_matrix((np.ones(len(places)), (places, samples)), (self._n_bins, len(X)))
        self._first = bins.offsets[:-1]
        self._widths = np.diff(bins.offsets)

    def __len__(self) -> int:
        return len(self.edges)

    def __getitem__(self, i: int) -> Stump:
        return Stump(int(self.feature_of[i]), float(self.edges[i]))

    def left_sums(self, weights: np.ndarray) -> np.ndarray:
        """(cuts, …) sums over the samples on the left, of (N,) or (N, K) weights."""
        running = np.cumsum(self._held @ np.ascontiguousarray(weights), axis=0)
        before = np.concatenate([np.zeros_like(running[:1]), running])[self._first]
        left: np.ndarray = (running - np.repeat(before, self._widths, axis=0))[self._is_cut]
        return left

    @cached_property
    def _is_cut(self) -> np.ndarray:
        """A feature's last two bins, the top one and that of missing values, end no stump."""
        ends = self._first + self._widths
        is_cut = np.ones(self._n_bins, dtype=bool)
        is_cut[ends - 1] = is_cut[ends - 2] = False
        return is_cut


def best_sign_stump(cuts: Cuts, signed: np.ndarray) -> tuple[Stump, int]:
    """The stump with the largest |Σ h·signed| for h = ±1, and h on its right side.

    With labels times weights for `signed` that is the least weighted error.
    """
    edges = signed.sum() - 2 * cuts.left_sums(signed)
    best = int(np.argmax(np.abs(edges)))
    return cuts[best], 1 if edges[best] >= 0 else -1
