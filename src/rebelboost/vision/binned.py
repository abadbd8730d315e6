"""Features of training windows, binned block by block: a byte for each feature of each window.

45,396 features of 10,000 windows take 454 MB as bytes, and 3.6 GB as the floats that are never held at once.
"""

from dataclasses import dataclass, field

import numpy as np

from rebelboost.base.arrays import Bins, Floats, RectangleArrays
from rebelboost.data.binning import BLOCK, Binner, fit_binner
from rebelboost.data.training_set import TrainingSet
from rebelboost.learners.options import schedule
from rebelboost.learners.tree import PreparedTree, Tree
from rebelboost.rows.base import Rows
from rebelboost.vision.features import take_features
from rebelboost.vision.integral_image import Windows

AT_ONCE = 16 * BLOCK
"""Number of features that are computed before they are binned."""


def bin_windows(
    windows: Windows, features: RectangleArrays, max_bins: int, n_threads: int = 1
) -> TrainingSet:
    """Compute and bin the features of windows."""
    n_features = len(features.planes)
    blocks = np.zeros((-(-n_features // BLOCK), len(windows), BLOCK), dtype=np.uint8)
    edges: list[Floats] = []
    for first in range(0, n_features, AT_ONCE):
        some = np.arange(first, min(first + AT_ONCE, n_features))
        values = windows.values(take_features(features, some))
        binner = fit_binner(values, max_bins=max_bins, n_threads=n_threads)
        own = binner.transform(values, n_threads).blocks
        blocks[first // BLOCK : first // BLOCK + len(own)] = own
        edges += binner.edges
    binner = Binner(tuple(edges), np.zeros(n_features, dtype=np.uint8))
    offsets = np.concatenate([[0], np.cumsum(binner.n_bins)]).astype(np.int32)
    return TrainingSet(Bins(blocks, offsets, binner.categorical), binner, n_threads)


@dataclass(frozen=True)
class WindowTrees:
    """A weak learner of trees on features that are already binned."""

    data: TrainingSet
    options: Tree = field(default_factory=Tree)

    @property
    def rounds(self) -> int:
        """Number of rounds used for n_rounds="auto"."""
        return self.options.rounds

    @property
    def shrinkage(self) -> float:
        """Shrinkage used for shrinkage="auto"."""
        return self.options.shrinkage

    @property
    def categorical(self) -> list[int]:
        """No feature is categorical."""
        return []

    def prepare(self, rows: Rows, n_threads: int = 1) -> "PreparedWindowTrees":
        """The binned features."""
        del n_threads  # the data have their own
        return PreparedWindowTrees(rows, self.options, self.data, schedule(self.options))


class PreparedWindowTrees(PreparedTree):
    """Grows trees on binned features of windows."""

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return self.data.n_features
