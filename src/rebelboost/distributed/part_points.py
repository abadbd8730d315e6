"""The points of a part, for similarities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Blocks, Ints, Points
from rebelboost.base.hashing import Keys
from rebelboost.data.spaces import Embedding


@dataclass
class PartPoints:
    """The distinct points of a part, by increasing key."""

    space: Embedding
    placed: Points
    """(m, D)"""
    laid: Blocks
    keys: Keys
    """(m,)"""
    rows: Ints
    """(m,) first row of the part at each point."""

    def distances(self, points: Points, n_threads: int) -> NDArray[np.float32]:
        """(points, m) squared distances from some points to all."""
        none = np.empty(0, dtype=np.int32)
        found = self.space.distances(self.laid, points, none, n_threads)
        return np.ascontiguousarray(found[:, : len(self.keys)])
