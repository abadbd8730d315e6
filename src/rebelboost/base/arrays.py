"""Array types, named by their axes.

N samples, d features, K classes; V planes of weights (1 or 2); m nodes; L regions (leaves);
B bins of all features together. Padded axes are marked as such.
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
"""(N,) class codes."""
Scores = Floats
"""(N, K), H(x)."""
Outputs = Floats
"""(L, K), the contribution of each region of a term to the scores."""
Planes = Floats
"""(V, N, K) weights: positive entries are w⁺, negative ones −w⁻."""
Regions = NDArray[np.uint16]
"""(N,) the region of a term that contains each sample."""
Pairs = Ints
"""(N,) fixed-point pairs, signed · 2³² + mass."""
Indices = NDArray[np.int32]
"""(n,) indices of samples."""
Order = NDArray[np.uint32]
"""(d, N) samples by ascending bin of each feature, as bin · 2²⁴ + sample; or (0, N), if not sorted."""
Points = NDArray[np.float32]
"""(m, d) samples in the space where distances are measured."""
Blocks = NDArray[np.float32]
"""(ceil(N / 16), d, 16): the values of 16 samples are adjacent, feature by feature."""
Distances = NDArray[np.float32]
"""(m, N) squared distances."""


class Bins(NamedTuple):
    """Binned samples. The last bin of each feature is for missing values and unknown categories."""

    blocks: Bytes
    """(ceil(d / 16), N, 16): the bins of 16 features are adjacent."""
    offsets: NDArray[np.int32]
    """(d + 1,): feature f occupies [offsets[f], offsets[f + 1]) on an axis of B bins."""
    categorical: Bytes
    """(d,): 1 for features whose bins have no order."""


class Layer(NamedTuple):
    """Nodes of a tree: the feature that each splits on (−1: none), and the bins that go right."""

    features: NDArray[np.int32]
    """(m,)"""
    right: Bytes
    """(m, 256)"""


class Nodes(NamedTuple):
    """The samples of each node of a layer, in subsets: those of node i are at cuts[i, 0] … cuts[i, -1]."""

    samples: Indices
    cuts: NDArray[np.int32]
    """(m, subsets + 1)"""


class Splits(NamedTuple):
    """Result of a search, for each node of a layer."""

    features: NDArray[np.int32]
    """(m,), −1 if no split has a gain."""
    right: Bytes
    """(m, 256)"""
    sides: Ints
    """(m, 2) pair sums of the left and the right side, or masses, where a search is by classes."""
    gains: Floats
    """(m,)"""

    @classmethod
    def empty(cls, n_nodes: int) -> "Splits":
        """Memory for the splits of so many nodes."""
        return cls(
            np.empty(n_nodes, dtype=np.int32),
            np.empty((n_nodes, 256), dtype=np.uint8),
            np.empty((n_nodes, 2), dtype=np.int64),
            np.empty(n_nodes),
        )


class RootTotals(NamedTuple):
    """Fixed-point sums of the weights of all samples in focus."""

    mass: Ints
    """(K,) S"""
    total: Ints
    """(K,) P of a response of +1."""
    second_order: bool
    """Whether the loss is −Σ P²/S instead of Σ √(S² − P²)."""


class SearchOptions(NamedTuple):
    """How a search evaluates a split; see `CRITERIA`."""

    criterion: int
    least_mass: int
    """Minimum mass of each side of a split."""
    least_gain: float = 0.0
    """The gain of a split must exceed this."""


class Work(NamedTuple):
    """Work done by searches."""

    visited: int = 0
    """Number of (sample, feature) pairs visited, each counted once."""
    possible: int = 0
    """Number of pairs that an exhaustive search visits."""
    dropped: int = 0
    """Number of features dropped before their last sample, summed over nodes."""
    heavy: float = math.nan
    """Share of all samples that are in the root's first subset of heaviest samples."""

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
"""Used where nothing is counted, as for trees with leaf outputs."""

CRITERIA = {"variance": 0, "error": 1, "entropy": 2, "gain_ratio": 3}
"""Criteria, given each side's signed sum P and mass M. variance: P_L²/M_L + P_R²/M_R. error: |P_L| + |P_R|.
entropy, for labels ±1 with weights (M ± P)/2: the information gain M − M_L·H_L − M_R·H_R. gain_ratio: the
information gain divided by the entropy of the sides. By classes, variance is the Gini impurity.
"""


class Projection(NamedTuple):
    """Projection of weights to pairs: signed = ⟨G, direction⟩, mass = ⟨W, squares⟩, times the scales.

    So that all implementations add the same numbers in the same order, class k is added to the
    (k mod 4)-th of four sums, and these are added in pairs.
    """

    direction: ByClass
    squares: ByClass
    signed_scale: float
    mass_scale: float


class Step(NamedTuple):
    """Effect of a term on each region: scores + outputs, w⁺ · up, w⁻ · down; (L, K) each."""

    outputs: Outputs
    up: Outputs
    down: Outputs
    scales: ByClass
    """(K,) scales for the fixed-point totals of the new weights."""


class LogisticLine(NamedTuple):
    """Arguments of a line search on the logistic loss, whose odds are multiplied by region."""

    subcosts: Planes
    odds: Planes
    """(V, N, K) e^H where the subcost is positive, else e^−H."""
    up: Outputs
    """(L, K) e^a"""
    down: Outputs
    """(L, K) e^−a"""
    scales: ByClass
    """(K,) scales of the fixed-point sums."""


class JudgedLabels(NamedTuple):
    """Labelled samples whose decisions are judged in a kernel, and the costs of mistakes by class."""

    labels: Labels
    """(N,), or empty: not judged."""
    counts: Floats
    """(N,) weights as multiples of a unit."""
    costs: Floats
    """(K, K)"""
    place: Ints
    """(N,) index of each sample among those decided on; or empty: the same samples in the same order."""


class Focus(NamedTuple):
    """Part of the training set that is searched for a term. The outputs are solved on all samples."""

    samples: Indices
    """Indices of the samples to search."""
    allowed: ByFeature
    """(d,): 1 for features that the term may use."""


class TreeData(NamedTuple):
    """What leaf trees are grown on besides the bins."""

    order: Order
    edges: Floats
    """All bin edges, one feature after the other."""
    edge_offsets: NDArray[np.int32]
    """(d + 1,) start of each feature's edges."""
    counts: BySample
    """(N,) weights of the samples, as multiples of a unit."""
    unit: float


class GrownTree(NamedTuple):
    """Memory for one tree of complete layers: m = 2^depth − 1 nodes, in level order."""

    features: NDArray[np.int32]
    """(m,) feature of the split; −1: none."""
    right: Bytes
    """(m, 256) bins that go right."""
    thresholds: Floats
    """(m,)"""
    missing_right: Bytes
    """(m,)"""
    category: NDArray[np.int32]
    """(m,) number of a node among those with a categorical feature, else −1."""
    cover: Floats
    """(m + 1,) weight of the samples in each leaf."""
    regions: Regions
    """(N,) leaf of each sample."""


class LeafSums(NamedTuple):
    """Memory for the sums and outputs of leaves, (L, K) each."""

    plus: Outputs
    """Σ w⁺"""
    minus: Outputs
    """Σ w⁻"""
    outputs: Outputs


class LeafTreeOptions(NamedTuple):
    """How a leaf tree is found."""

    key: int
    """Key of the random direction (`kernels.reference.random`)."""
    least_mass: float
    """Minimum mass of a leaf, as a fraction of all."""
    smoothing: float
    """Shrinks outputs towards 0, in units of the average mass of a leaf."""


class SlopeArrays(NamedTuple):
    """Slopes and curvatures of a loss."""

    signed: Floats
    """(N, K) slopes."""
    mass: Floats
    """(N, K) curvatures."""
    totals: ByClass
    """(K,) sums of the curvatures."""


class TreeScratch(NamedTuple):
    """Memory that growing a tree works in."""

    values: Pairs
    """(N,)"""
    sums: Ints
    """(3/4 · 2^depth or more, B)"""


class TreeArrays(NamedTuple):
    """Trees for prediction, one after the other, each with complete layers in level order."""

    depths: NDArray[np.int32]
    """(trees,)"""
    node_offsets: Ints
    """(trees,) start of a tree's 2^depth − 1 nodes."""
    leaf_offsets: Ints
    """(trees,) start of the outputs of its 2^depth leaves."""
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
    """Pairs of an anchor and a rival, as rows of their distance matrices."""

    anchors: NDArray[np.int32]
    rivals: NDArray[np.int32]
    apart: Floats
    """Squared distance between the two."""


class ComparisonArrays(NamedTuple):
    """Similarities for prediction: the points that each compares, and its contribution."""

    anchors: NDArray[np.int32]
    """(T,) rows of the distances."""
    rivals: NDArray[np.int32]
    """(T,) rows of the distances; the anchor's if there is no rival."""
    kinds: NDArray[np.int32]
    """(T,) codes of `COMPARISONS`."""
    apart: Floats
    """(T,) squared distance between anchor and rival; for one point, τ."""
    outputs: Outputs
    """(T, K) a of f·a + b."""
    offsets: Outputs
    """(T, K) b."""


class RectangleArrays(NamedTuple):
    """Features of windows of an image: weighted sums of one of its planes over up to three rectangles."""

    planes: NDArray[np.int32]
    """(n,) plane of each feature, one of `PLANES`."""
    corners: NDArray[np.int32]
    """(n, 12) top, left, bottom and right of three rectangles, within the window."""
    weights: NDArray[np.int32]
    """(n, 3) factor of the sum over each rectangle; 0 for one that does not count."""


class WindowGrid(NamedTuple):
    """Size of the windows of an image that are scanned, and the distance between them, in pixels."""

    height: int
    width: int
    step: int = 1


N_ORIENTATIONS = 6
PLANES = ("squares", "grey", "magnitude", *(f"{30 * o}°" for o in range(N_ORIENTATIONS)))
"""Planes of an image: squared pixels, pixels, and the magnitude of the gradient, by its direction."""
N_GREY_PLANES = 2
"""Number of planes if gradients are not needed."""


class ComparedPoints(NamedTuple):
    """Comparisons in one space, and the samples as its points, for a cascade."""

    placed: Points
    """(N, D) the samples."""
    points: Points
    """(E, D) the examples, in the order in which the comparisons refer to them."""
    comparisons: ComparisonArrays


class Checks(NamedTuple):
    """Checks of a cascade: the terms added up to each, and the values beyond which samples leave."""

    stops: Ints
    """(B, 1 + spaces) number of trees, and of comparisons in each space."""
    low: Floats
    """(B,)"""
    high: Floats
    """(B,)"""


STEPS, OCTAVES = 16, 8
"""Levels of a response: number of levels per octave, and number of octaves below 1."""
COMPARISONS = {"two_points": 0, "nearer": 1, "one_point": 2, "inside": 3}
"""Kinds of responses: f_ij, its sign, f_i and its sign [LOCAL, Sec. 5]."""


# ---- how far scores are ahead


def lead_of(scores: Scores) -> BySample:
    """(N,) the second score minus the first with two classes, else the highest minus the second highest."""
    if scores.shape[1] == 2:
        return scores[:, 1] - scores[:, 0]
    ends: Floats = np.partition(scores, -2, axis=1)
    return ends[:, -1] - ends[:, -2]


def by_class_or_difference(scores: Scores) -> Floats:
    """With two classes, the second score minus the first; otherwise the scores."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
