"""Arrays that cross into the kernels of similarities."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Blocks, Distances, Outputs, Points, Regions


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
