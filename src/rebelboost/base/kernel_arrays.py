"""Arrays that cross into kernels: of several rounds, similarities, smooth functions and predictions."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    OCTAVES,
    STEPS,
    Blocks,
    ByClass,
    Bytes,
    Distances,
    Floats,
    GrownTree,
    Indices,
    Ints,
    JudgedLabels,
    Labels,
    LeafSums,
    Outputs,
    Planes,
    Points,
    Regions,
    Scores,
    TreeScratch,
)


def _levels() -> Floats:
    """Increasing responses: the middle of every level, 0, and ±1 at the ends."""
    step = np.arange(STEPS * OCTAVES)
    sizes = np.ldexp(1 + (step % STEPS + 0.5) / STEPS, step // STEPS - OCTAVES)
    return np.concatenate([[-1.0], -sizes[::-1], [0.0], sizes, [1.0]])


LEVELS = _levels()
"""(levels,) the values of a response."""
CONSTANT = len(LEVELS) - 1
"""The level of a constant response, 1."""


# ---- similarities


class LevelSums(NamedTuple):
    """Sums of the weights of each level of a response, and the outputs solved from them."""

    plus: Outputs
    """(levels, K) Σ w⁺."""
    minus: Outputs
    """(levels, K) Σ w⁻."""
    outputs: Outputs
    """(2, K) a and b of f·a + b."""


AFFINE, SLOPE, SIGN = 0, 1, 2
"""How outputs are found: a and b; a alone, with b = 0; the same for f = ±1, in closed form."""


class PairSpace(NamedTuple):
    """Training samples as points. Distances are looked up if they are known, else computed."""

    blocks: Blocks
    points: Points
    """(N, d)."""
    distances: Distances
    """(N, N), or none if they are not known."""


class PairOptions(NamedTuple):
    """Options of the search for pairs."""

    kind: int
    """A code of `COMPARISONS`."""
    rule: int
    """AFFINE, SLOPE or SIGN."""
    n_anchors: int
    """Anchors drawn at a time."""
    n_rivals: int
    """Rivals compared for each of them."""
    n_subset: int
    """Samples that gains are computed on."""


class PairQueue(NamedTuple):
    """Pairs that were found together, and wait to be used."""

    waiting: NDArray[np.int32]
    """(2,) index of the first, and number."""
    pairs: NDArray[np.int32]
    """(anchors, 2)."""
    rows: Distances
    """(2·anchors, N) the distances from each, unless all are known."""


class PairTerm(NamedTuple):
    """Responses of a term that compares samples with training samples, and its outputs."""

    regions: Regions
    """(N,) the levels of the responses."""
    plus: Outputs
    """For these see `LevelSums`."""
    minus: Outputs
    outputs: Outputs


Proposed = tuple[int, int, int, float, float]
"""Kind (a code of `COMPARISONS`, or 4 for a constant), anchor, rival (−1 if there is none), the squared
distance between the two (or τ), and the edge ‖P‖₁/ΣS."""


# ---- smooth functions


Features = NDArray[np.float32]
"""(N, R) features of the points. R is a multiple of 8; columns of 0 pad it."""


class DescentOptions(NamedTuple):
    """How a regression is solved."""

    ridge: float
    """Penalty on the squares of the coefficients."""
    precision: float
    """Stop where a step promises to lower the loss by less than half of this."""
    most_steps: int
    """Maximum number of slopes that are computed."""
    n_features: int
    """Number of features that are used, a multiple of 8: the first ones."""


# ---- predictions


class CodedColumns(NamedTuple):
    """How samples become bytes, for trees whose tests look at bytes."""

    features: NDArray[np.int32]
    """(columns,)"""
    starts: Ints
    """(columns + 1,) a number's code is how many of the thresholds [starts[c], starts[c + 1]) it exceeds."""
    thresholds: Floats
    """Rising within a column, at most 254 of them."""
    missing: Bytes
    """(columns,) code of missing values and unknown categories."""
    categorical: Bytes
    """(columns,) 1 if the code is the category itself, 0 to 254."""


class CodedTrees(NamedTuple):
    """Trees as in `TreeArrays`, with tests that look at bytes."""

    depths: NDArray[np.int32]
    node_offsets: Ints
    leaf_offsets: Ints
    nodes: NDArray[np.uint16]
    """(nodes, 2) column, and test: codes above it go right, or from 256 on those in a set."""
    sets: Bytes
    """(m, 32) the bits of the codes in each set, the lowest code first."""
    outputs: Outputs


class StepArrays(NamedTuple):
    """Piecewise constant functions of single features, for prediction."""

    features: NDArray[np.int32]
    """(functions,)"""
    starts: Ints
    """(functions + 1,) the thresholds of function i are [starts[i], starts[i + 1])."""
    thresholds: Floats
    """Rising within a function."""
    rows: Ints
    """(functions,) first row of its outputs: of numbers that exceed no threshold, or of code 0."""
    categorical: Bytes
    """(functions,) 1 if the values are codes of categories; missing values have row 256 then."""
    outputs: Outputs
    """A row for each number of exceeded thresholds, or for each code, and one for missing values."""


# ---- several rounds at once


class Boosted(NamedTuple):
    """Samples that terms are added to. All arrays but the last are changed in place."""

    weights: Planes
    scores: Scores
    totals: ByClass
    """(K,) sums of the weights."""
    decided: Labels
    """(N,) class with the highest score."""
    judged: JudgedLabels


class RoundLog(NamedTuple):
    """What is noted of R rounds; where an axis has length 2, of the training and the held-out samples."""

    edges: Floats
    """(R,) edge of each term [THESIS, Eq. 4.12]."""
    shifts: NDArray[np.int32]
    """(R, 2) exponents of the powers of two by which the weights were divided."""
    totals: Floats
    """(R, 2, K) totals of the weights."""
    rates: Floats
    """(R, 2, 2) error and cost of the decisions."""

    @classmethod
    def empty(cls, n_rounds: int, n_classes: int) -> "RoundLog":
        """Memory for so many rounds."""
        return cls(
            np.empty(n_rounds),
            np.empty((n_rounds, 2), dtype=np.int32),
            np.empty((n_rounds, 2, n_classes)),
            np.empty((n_rounds, 2, 2)),
        )

    def first(self, n_rounds: int) -> "RoundLog":
        """The first rounds."""
        return RoundLog(
            self.edges[:n_rounds],
            self.shifts[:n_rounds],
            self.totals[:n_rounds],
            self.rates[:n_rounds],
        )


class TreePlan(NamedTuple):
    """How trees are found in R rounds."""

    samples: Indices
    """Samples that are searched."""
    allowed: Bytes
    """(R, d) features that are searched in each round; or (1, d), in all rounds."""
    keys: NDArray[np.uint64]
    """(R,) keys of the random directions."""
    least_mass: float
    """Minimum mass of a leaf, as a fraction of all."""
    smoothing: float
    """Shrinks outputs towards 0, in units of the average mass of a leaf."""
    shrinkage: float
    """Factor of the outputs."""
    least_total: float
    """The rounds end when the training samples' weights sum to this or less."""


class TreeMemory(NamedTuple):
    """Memory that a tree is found in."""

    tree: GrownTree
    leaves: LeafSums
    scratch: TreeScratch


class TreeTable(NamedTuple):
    """Memory for the trees of R rounds with up to m nodes each, one after the other, as in `Trees`."""

    depths: NDArray[np.int32]
    """(R,)"""
    features: NDArray[np.int32]
    """(R·m,)"""
    thresholds: Floats
    """(R·m,)"""
    missing_right: Bytes
    """(R·m,)"""
    category: NDArray[np.int32]
    """(R·m,) row of `right` for a categorical feature, else −1."""
    right: Bytes
    """(m or more, 256)"""
    outputs: Outputs
    """(R·(m + 1), K)"""
    cover: Floats
    """(R·(m + 1),)"""

    @classmethod
    def empty(cls, n_rounds: int, depth: int, n_classes: int, n_tables: int) -> "TreeTable":
        """Memory for trees of up to this depth."""
        n_nodes, n_leaves = n_rounds * (2**depth - 1), n_rounds * 2**depth
        return cls(
            np.empty(n_rounds, dtype=np.int32),
            np.empty(n_nodes, dtype=np.int32),
            np.empty(n_nodes),
            np.empty(n_nodes, dtype=np.uint8),
            np.empty(n_nodes, dtype=np.int32),
            np.empty((n_tables, 256), dtype=np.uint8),
            np.empty((n_leaves, n_classes)),
            np.empty(n_leaves),
        )


class PairPlan(NamedTuple):
    """How similarities are found in R rounds."""

    samples: Indices
    """Samples that are searched."""
    options: PairOptions
    keys: NDArray[np.uint64]
    """(R,) keys of the random draws."""
    shrinkage: float
    """Factor of the outputs."""
    least_total: float
    """The rounds end when the training samples' weights sum to this or less."""


class HeldPoints(NamedTuple):
    """The training samples as points, and the held-out samples that are compared with them."""

    points: Points
    """(N, d) training samples."""
    blocks: Blocks
    """(ceil(M / 16), d, 16) held-out samples."""


class PairTable(NamedTuple):
    """Memory for the similarities of R rounds, as in `Comparisons`."""

    kinds: Bytes
    """(R,)"""
    anchors: NDArray[np.int32]
    """(R,) training sample; −1 for a constant."""
    rivals: NDArray[np.int32]
    """(R,) training sample; −1 if there is none."""
    apart: Floats
    """(R,) squared distance between the two, or τ."""
    outputs: Floats
    """(R, 2, K) a and b of f·a + b."""

    @classmethod
    def empty(cls, n_rounds: int, n_classes: int) -> "PairTable":
        """Memory for so many rounds."""
        return cls(
            np.empty(n_rounds, dtype=np.uint8),
            np.empty(n_rounds, dtype=np.int32),
            np.empty(n_rounds, dtype=np.int32),
            np.empty(n_rounds),
            np.empty((n_rounds, 2, n_classes)),
        )
