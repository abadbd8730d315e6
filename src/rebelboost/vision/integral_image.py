"""Integral images: sums over any rectangle from four numbers."""

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import Bytes, Floats, RectangleArrays
from rebelboost.vision.features import n_planes

Sums = NDArray[np.uint32]


def integral_images(images: Bytes, planes: int, n_threads: int = 1) -> Sums:
    """(n · planes, H + 1, W + 1) integral images of (n, H, W) images, modulo 2³²."""
    n, height, width = images.shape
    sums = np.empty((n * planes, height + 1, width + 1), dtype=np.uint32)
    kernels.active.integrate(images, sums, n_threads)
    return sums


class Windows:
    """Windows of equal size, ready for the computation of any of their features."""

    def __init__(self, images: Bytes, planes: int, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self.sums = integral_images(images, planes, n_threads)
        self.scales: Floats = np.empty((len(images), 2))
        kernels.active.window_scales(self.sums, self.scales, n_threads)

    def __len__(self) -> int:
        return len(self.scales)

    def values(self, features: RectangleArrays) -> Floats:
        """(N, n) values of features, divided by the contrast of the windows."""
        values = np.empty((len(self), len(features.planes)))
        kernels.active.window_values(self.sums, self.scales, features, values, self.n_threads)
        return values


def window_features(images: Bytes, features: RectangleArrays, n_threads: int = 1) -> Floats:
    """(N, n) values of features of (N, H, W) windows."""
    return Windows(images, n_planes(features), n_threads).values(features)
