"""Arrays that cross into the kernels that do several rounds of boosting at once."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    Blocks,
    ByClass,
    Bytes,
    Floats,
    GrownTree,
    Indices,
    JudgedLabels,
    Labels,
    LeafSums,
    Outputs,
    Planes,
    Points,
    Scores,
    TreeScratch,
)
from rebelboost.base.pair_arrays import PairOptions


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
