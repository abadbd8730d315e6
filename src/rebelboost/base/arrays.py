"""Names for arrays, by their axes.

N samples, d features, K classes; V planes of weights (1 or 2); m nodes; L regions (leaves);
B bins of all features together. A padded axis says so.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

ByFeature = Bytes
"""(d,) flags."""
BySample = Floats
"""(N,)"""
ByClass = Floats
"""(K,)"""
Values = NDArray[np.float64] | NDArray[np.float32]
"""(N, d) features; NaN is a missing value."""
Labels = NDArray[np.int32]
"""(N,) codes of classes."""
Scores = Floats
"""(N, K), H(x)."""
Outputs = Floats
"""(L, K), what each region of a term adds to the scores."""
Planes = Floats
"""(V, N, K) weights: positive entries are w⁺, negative ones −w⁻."""
Regions = NDArray[np.uint16]
"""(N,) the region of a hypothesis that each sample falls into."""
Pairs = Ints
"""(N,) fixed-point pairs, signed · 2³² + mass."""
Indices = NDArray[np.int32]
"""(n,) indices of samples."""
Points = NDArray[np.float32]
"""(m, d) samples in the space in which distances are measured."""
Blocks = NDArray[np.float32]
"""(ceil(N / 16), d, 16): the values of 16 samples lie side by side, feature by feature."""
Distances = NDArray[np.float32]
"""(m, N) squared."""


class Bins(NamedTuple):
    """A binned set. The last bin of each feature is for missing values, and unknown categories."""

    blocks: Bytes
    """(ceil(d / 16), N, 16): the bins of 16 features lie side by side."""
    offsets: NDArray[np.int32]
    """(d + 1,): the sums of feature f lie at [offsets[f], offsets[f + 1]) of an axis of B bins."""
    categorical: Bytes
    """(d,): 1 where bins have no order."""


class Layer(NamedTuple):
    """Nodes of a tree: which feature each asks (−1: none), and which bins go right."""

    features: NDArray[np.int32]
    """(m,)"""
    right: Bytes
    """(m, 256)"""


class Nodes(NamedTuple):
    """The samples of each node of a layer, in subsets: node i has cuts[i, 0] … cuts[i, -1]."""

    samples: Indices
    cuts: NDArray[np.int32]
    """(m, subsets + 1)"""


class Splits(NamedTuple):
    """What a search found for each node of a layer."""

    features: NDArray[np.int32]
    """(m,), −1 where no split gains anything."""
    right: Bytes
    """(m, 256)"""
    sides: Ints
    """(m, 2) pair sums of the left and the right side."""
    gains: Floats
    """(m,)"""


class SearchOptions(NamedTuple):
    """How a search values a split; see `CRITERIA`."""

    criterion: int
    least_mass: int
    """No side of a split has less."""
    least_gain: float = 0.0
    """A split must gain more."""


class Work(NamedTuple):
    """What searches have done."""

    visited: int = 0
    """Pairs of a sample and a feature that were visited."""
    possible: int = 0
    """Pairs that an exhaustive search visits."""
    dropped: int = 0
    """Features dropped before their last sample, summed over nodes."""
    heavy: float = math.nan
    """Share of the samples, the heaviest of all, that make up the root's first subset."""

    def row(self) -> dict[str, float]:
        """Numbers by name, for a table."""
        return {
            "visited": self.visited,
            "saved": self.possible - self.visited,
            "dropped_features": self.dropped,
            "heavy_share": self.heavy,
        }

    def plus(self, more: "Work") -> "Work":
        """Add the counts of a further search."""
        return Work(
            self.visited + more.visited,
            self.possible + more.possible,
            self.dropped + more.dropped,
            self.heavy,
        )


NO_WORK = Work()
"""Where nothing is counted, as for trees with leaf outputs."""

CRITERIA = {"variance": 0, "error": 1, "entropy": 2, "gain_ratio": 3}
"""Of each side's signed sum P and mass M: P_L²/M_L + P_R²/M_R; |P_L| + |P_R|; and for labels ±1 with
weights of (M ± P)/2 the information M − M_L·H_L − M_R·H_R, and its gain over the sides' entropy."""


class Projection(NamedTuple):
    """How weights become pairs: signed = ⟨G, direction⟩, mass = ⟨W, squares⟩, times the scales.

    To add the same numbers in the same order everywhere, class k is added to the (k mod 4)-th of
    four sums, and those to one another in pairs.
    """

    direction: ByClass
    squares: ByClass
    signed_scale: float
    mass_scale: float


class Step(NamedTuple):
    """What a term does to each region: scores + outputs, w⁺ · up, w⁻ · down; (L, K) each."""

    outputs: Outputs
    up: Outputs
    down: Outputs
    scales: ByClass
    """(K,) of the new weights, for their fixed-point totals."""


class LogisticLine(NamedTuple):
    """What the logistic loss needs to move along outputs: its odds are multiplied by region."""

    subcosts: Planes
    odds: Planes
    """(V, N, K) e^H where the subcost is positive, else e^−H."""
    up: Outputs
    """(L, K) e^a"""
    down: Outputs
    """(L, K) e^−a"""
    scales: ByClass
    """(K,) of the fixed-point sums."""


class TreeArrays(NamedTuple):
    """Trees for prediction, one after the other, each with complete layers in level order."""

    depths: NDArray[np.int32]
    """(trees,)"""
    node_offsets: Ints
    """(trees,) where a tree's 2^depth − 1 nodes begin."""
    leaf_offsets: Ints
    """(trees,) where the outputs of its 2^depth leaves begin."""
    features: NDArray[np.int32]
    thresholds: Floats
    """(nodes,): x > threshold goes right."""
    missing_right: Bytes
    """(nodes,)"""
    category: NDArray[np.int32]
    """(nodes,) row of `right` for a categorical feature, else −1."""
    right: Bytes
    """(categorical nodes, 256)"""
    outputs: Outputs
    """(leaves, K)"""


class PairList(NamedTuple):
    """Pairs of an anchor and a rival, by the rows of their distances."""

    anchors: NDArray[np.int32]
    rivals: NDArray[np.int32]
    apart: Floats
    """Squared distances of the two."""


class ComparisonArrays(NamedTuple):
    """Similarities for prediction: which points each compares, and what it adds to the scores."""

    anchors: NDArray[np.int32]
    """(T,) rows of the distances."""
    rivals: NDArray[np.int32]
    """(T,) the same; the anchor again where there is no rival."""
    kinds: NDArray[np.int32]
    """(T,) see `COMPARISONS`."""
    apart: Floats
    """(T,) squared distance of anchor and rival; for one point, τ."""
    outputs: Outputs
    """(T, K) a of f·a + b."""
    offsets: Outputs
    """(T, K) b."""


STEPS, OCTAVES = 16, 8
"""Levels of a response: so many to an octave, and how many octaves below 1 have levels."""
COMPARISONS = {"two_points": 0, "nearer": 1, "one_point": 2, "inside": 3}
"""f_ij, its sign, f_i and its sign [LOCAL, Sec. 5]."""
