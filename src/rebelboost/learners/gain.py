"""The stump of the largest second-order gain Σ_k P_k²/W_k, for losses other than the exponential.

f = ±1, so W_k is that of all samples, whatever the stump: for two classes this is LogitBoost's and
L₂Boost's choice, the stump that fits the working response best by least squares.
"""

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Floats, Ints, Layer
from rebelboost.data.training_set import TABLE, TrainingSet
from rebelboost.learners.base import Focus
from rebelboost.losses.smooth import Slopes


def stump_of_largest_gain(data: TrainingSet, slopes: Slopes, focus: Focus) -> Layer:
    """Search all thresholds and categories; ties go to the lowest (feature, bin).

    Thresholds are tried with missing values left, then right. Feature −1 says that no stump gains
    more than the constant response.
    """
    signed, mass = slopes.fixed()
    n_classes = mass.shape[1]
    curvature = mass[focus.samples].sum(axis=0).astype(np.float64)
    sums = data.class_sums(signed, focus.samples, focus.allowed)[:, :n_classes]
    total = signed[focus.samples, :n_classes].sum(axis=0, dtype=np.int64)
    left = _left_sides(data, sums, focus.allowed)
    gains = _gains(total - 2 * left.sums, curvature)
    best = int(np.argmax(gains)) if len(gains) else 0
    nothing = Layer(np.array([-1], dtype=np.int32), np.zeros((1, TABLE), dtype=np.uint8))
    if len(gains) == 0 or not gains[best] > _gains(total[np.newaxis], curvature)[0]:
        return nothing
    return _marked(data, left, best, focus)


class _LeftSides:
    """The left side of every stump, in the order of (feature, missing right or not, bin)."""

    def __init__(self, sums: Ints, places: NDArray[np.int64], features: Ints, flags: Ints) -> None:
        self.sums = sums
        self.bins = places
        self.features = features
        self.missing_right = flags


def _left_sides(data: TrainingSet, sums: Ints, allowed: NDArray[np.uint8]) -> _LeftSides:
    offsets = data.bins.offsets.astype(np.int64)
    n_bins = np.diff(offsets)
    feature = np.repeat(np.arange(len(n_bins)), n_bins)
    place = np.arange(len(feature)) - offsets[feature]
    missing = sums[offsets[1:] - 1][feature]
    before = np.cumsum(sums, axis=0) - sums
    through = before + sums - before[offsets[:-1]][feature]
    holds = sums.any(axis=1)  # a threshold after an empty bin is worth what the one before it is
    numeric = data.bins.categorical[feature] == 0
    may = allowed[feature] != 0
    last = n_bins[feature] - 1
    with_missing = may & numeric & holds & (place < last - 1)
    without = may & numeric & holds & (place < last) & missing.any(axis=1)
    alone = may & ~numeric & holds
    rows = [np.flatnonzero(kind) for kind in (with_missing | alone, without)]
    first = np.where(numeric[:, np.newaxis], through + missing, sums)
    sides = np.concatenate([first[rows[0]], through[rows[1]]])
    places = np.concatenate([place[rows[0]], place[rows[1]]])
    features = np.concatenate([feature[rows[0]], feature[rows[1]]])
    flags = np.repeat([0, 1], [len(rows[0]), len(rows[1])])
    order = np.lexsort((places, flags, features))
    return _LeftSides(sides[order], places[order], features[order], flags[order])


def _gains(P: Ints, curvature: ByClass) -> Floats:
    """Σ_k P_k²/W_k of each row, added class after class: the same bits for any number of rows."""
    gains = np.zeros(len(P))
    for k in np.flatnonzero(curvature > 0):
        gains += P[:, k].astype(np.float64) ** 2 / curvature[k]
    return gains


def _marked(data: TrainingSet, left: _LeftSides, best: int, focus: Focus) -> Layer:
    feature, place = int(left.features[best]), int(left.bins[best])
    n_bins = int(np.diff(data.bins.offsets)[feature])
    right = np.zeros((1, TABLE), dtype=np.uint8)
    if data.bins.categorical[feature]:
        right[0, :n_bins] = np.arange(n_bins) != place
    else:
        right[0, place + 1 : n_bins - 1] = 1
        codes = data.column(feature)[focus.samples]
        met = bool(np.any(codes == n_bins - 1))
        mostly_right = 2 * np.count_nonzero(right[0, codes]) > len(codes)
        right[0, n_bins - 1] = left.missing_right[best] if met else mostly_right
    return Layer(np.array([feature], dtype=np.int32), right)
