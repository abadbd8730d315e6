"""A trained detector as arrays: the rectangles of its features, its trees, and when a window is left."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import Bytes, Floats, Indices, RectangleArrays, TreeArrays, WindowGrid
from rebelboost.base.cached import cached_property
from rebelboost.model.trees import Trees
from rebelboost.vision.features import Size, Windows, integral_images, n_planes, take_features


@dataclass(frozen=True)
class DetectorModel:
    """A sum of trees on features of a window; objects have a sum above the threshold."""

    window: Size
    rectangles: RectangleArrays
    """The features that the trees use."""
    trees: Trees
    """Trees with one output, on these features."""
    exit_thresholds: Floats
    """(T,) a window is left if the sum after tree t is below exit_thresholds[t]."""
    threshold: float = 0.0
    """Windows with a sum above it are detected. Scores are sums minus the threshold."""

    @classmethod
    def of(cls, window: Size, pool: RectangleArrays, trees: Trees) -> "DetectorModel":
        """Keep the used features of the pool. The score is that of class 1 minus that of class 0."""
        used, place = np.unique(trees.features[trees.features >= 0], return_inverse=True)
        features = trees.features.copy()
        features[trees.features >= 0] = place
        outputs = (trees.outputs[:, 1] - trees.outputs[:, 0])[:, np.newaxis]
        own = replace(trees, features=features, outputs=np.ascontiguousarray(outputs))
        return cls(window, take_features(pool, used), own, np.full(len(trees), -np.inf))

    def __len__(self) -> int:
        return len(self.trees)

    def partial_sums(self, images: Bytes, n_threads: int = 1) -> Floats:
        """(T, N) sums of (N, H, W) windows after each tree."""
        sums: Floats = np.cumsum(self.contributions(images, n_threads), axis=0)
        return sums

    @property
    def planes(self) -> int:
        """Number of planes of an image that the features need."""
        return n_planes(self.rectangles)

    @cached_property
    def walked(self) -> TreeArrays:
        """The trees in the form that the kernels take."""
        return self.trees.walked

    def scan(
        self, image: Bytes, step: int = 1, n_threads: int = 1
    ) -> tuple[Floats, NDArray[np.int32]]:
        """Sum of each window of (H, W) image, and the number of trees used until it was left."""
        shape = tuple((image.shape[i] - self.window[i]) // step + 1 for i in range(2))
        scores, used = np.empty(shape), np.empty(shape, dtype=np.int32)
        kernels.active.scan_windows(
            integral_images(image[np.newaxis], self.planes, n_threads),
            WindowGrid(*self.window, step),
            self.rectangles,
            self.walked,
            self.exit_thresholds,
            scores,
            used,
            n_threads,
        )
        return scores, used

    def contributions(self, images: Bytes, n_threads: int = 1) -> Floats:
        """(T, N) output of each tree for (N, H, W) windows."""
        values = Windows(images, self.planes, n_threads).values(self.rectangles)
        outputs = np.zeros((len(self), len(images), 1))
        for t in range(len(self)):
            kernels.active.predict(values, self.walked, t, t + 1, outputs[t], n_threads)
        return outputs[..., 0]

    def scores(self, images: Bytes, n_threads: int = 1) -> Floats:
        """(N,) scores of windows, with all trees."""
        total: Floats = np.full(len(images), -self.threshold)
        for output in self.contributions(images, n_threads):
            total += output
        return total

    def path(self, tree: int, image: Bytes) -> Indices:
        """The features that a tree tests on a window, from its root on."""
        values = Windows(image[np.newaxis], self.planes).values(self.rectangles)[0]
        first, node, path = int(self.trees.node_offsets[tree]), 0, []
        while node < self.trees.n_nodes[tree]:
            feature = int(self.trees.features[first + node])
            if feature < 0:
                break
            path.append(feature)
            right = values[feature] > self.trees.thresholds[first + node]
            node = 2 * node + 1 + int(right)
        return np.array(path, dtype=np.int32)
