"""Features of windows: Haar features [ADA, Sec. 3.4.3] and sums over integral channels [QUICK, Sec. 5.1].

A feature is a weighted sum of one plane of the image over rectangles in the window (`RectangleArrays`). It is
divided by the contrast of the window, so that brightness and contrast change no decision. Integral
images give the sum over any rectangle from four numbers.
"""

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import N_GREY_PLANES, PLANES, Bytes, Floats, RectangleArrays

GREY = PLANES.index("grey")
Size = tuple[int, int]
"""Height and width."""
Box = tuple[float, float, float, float]
"""Top, left, height and width, in units of the feature's size."""

WHOLE: Box = (0, 0, 1, 1)
HAAR_TYPES: dict[str, tuple[Size, tuple[tuple[Box, int], ...]]] = {
    "left-right": ((1, 2), ((WHOLE, -1), ((0, 1 / 2, 1, 1 / 2), 2))),
    "top-bottom": ((2, 1), ((WHOLE, -1), ((1 / 2, 0, 1 / 2, 1), 2))),
    "middle column": ((1, 3), ((WHOLE, -1), ((0, 1 / 3, 1, 1 / 3), 3))),
    "middle row": ((3, 1), ((WHOLE, -1), ((1 / 3, 0, 1 / 3, 1), 3))),
    "diagonal": (
        (2, 2),
        ((WHOLE, -1), ((0, 0, 1 / 2, 1 / 2), 2), ((1 / 2, 1 / 2, 1 / 2, 1 / 2), 2)),
    ),
}
"""Each type's numbers of equal rectangles down and across, and its rectangles with their weights.

Σ black − Σ white is written as in OpenCV: the whole with weight −1 and the black rectangles with 2 or 3. The
weights times the areas sum to 0 (a middle row counts twice), so that the feature of a constant image is 0.
"""


LEAST_SIDE, MOST_PIXELS_OF_WINDOW = 6, 1 << 15


def check_window(window: object) -> Size:
    """Height and width of a window, at least 6 × 6 and at most 2¹⁵ pixels."""
    try:
        height, width = (int(side) for side in window)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ValueError(
            f"window is {window!r}: give its height and width, such as (24, 24)"
        ) from None
    if min(height, width) < LEAST_SIDE or height * width > MOST_PIXELS_OF_WINDOW:
        raise ValueError(
            f"window is {height} × {width}: give at least {LEAST_SIDE} pixels a side, and at most "
            f"{MOST_PIXELS_OF_WINDOW:,} pixels"
        )
    return height, width


def haar_features(
    window: Size, step: int = 1, types: Iterable[str] = tuple(HAAR_TYPES)
) -> RectangleArrays:
    """All Haar features of the window, at offsets that are multiples of `step`.

    In a 24 × 24 window, five types at offsets of 2 are the 45,396 features of [ADA, Sec. 3.4.3].
    """
    parts = []
    for name in types:
        (down, across), _ = HAAR_TYPES[name]
        for height, width in product(
            range(down, window[0] + 1, down), range(across, window[1] + 1, across)
        ):
            tops = np.arange(0, window[0] - height + 1, step)
            lefts = np.arange(0, window[1] - width + 1, step)
            top, left = (a.ravel() for a in np.meshgrid(tops, lefts, indexing="ij"))
            parts.append(_haar(name, top, left, (height, width), GREY))
    return joined_features(parts)


def n_haar_features(window: Size, step: int = 1) -> int:
    """Number of all Haar features of the window, without listing them."""
    total = 0
    for unit, _ in HAAR_TYPES.values():
        down, across = (
            sum((side - size) // step + 1 for size in range(least, side + 1, least))
            for least, side in zip(unit, window, strict=True)
        )
        total += down * across
    return total


def channel_features(window: Size, n_features: int, seed: int = 0) -> RectangleArrays:
    """Draw features of all channels: Haar features of the grey plane, and sums of the gradient planes.

    Every plane has the same number of features. Gradients at the border of a window depend on pixels outside
    of it, and are not used.
    """
    rng = np.random.default_rng(seed)
    n_gradient = len(PLANES) - N_GREY_PLANES
    n_each = -(-n_features // (1 + n_gradient))
    parts = [random_haar_features(window, n_each, rng)]
    for plane in range(N_GREY_PLANES, len(PLANES)):
        (top, bottom), (left, right) = (_random_range(side, n_each, rng) for side in window)
        parts.append(_sums(plane, np.stack([top, left, bottom, right], axis=1)))
    return take_features(joined_features(parts), np.arange(n_features))


def _random_range(side: int, n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Random ranges of 1 to `side` − 2 pixels that leave out the first and the last."""
    first = rng.integers(1, side - 1, n)
    last = rng.integers(1, side - 1, n)
    return np.minimum(first, last), np.maximum(first, last) + 1


def random_haar_features(window: Size, n: int, rng: np.random.Generator) -> RectangleArrays:
    """Draw Haar features: type, size and place, each uniformly."""
    parts = []
    names = [name for name, (unit, _) in HAAR_TYPES.items() if np.all(np.less_equal(unit, window))]
    for name in rng.choice(names, n):
        (down, across), _ = HAAR_TYPES[name]
        height = down * int(rng.integers(1, window[0] // down + 1))
        width = across * int(rng.integers(1, window[1] // across + 1))
        top = rng.integers(0, window[0] - height + 1, 1)
        left = rng.integers(0, window[1] - width + 1, 1)
        parts.append(_haar(name, top, left, (height, width), GREY))
    return joined_features(parts)


def _haar(
    name: str, top: NDArray[np.int64], left: NDArray[np.int64], size: Size, plane: int
) -> RectangleArrays:
    _, boxes = HAAR_TYPES[name]
    n = len(top)
    corners, weights = np.zeros((n, 12), dtype=np.int32), np.zeros((n, 3), dtype=np.int32)
    for r, ((y, x, height, width), weight) in enumerate(boxes):
        first = top + round(y * size[0]), left + round(x * size[1])
        sides = round(height * size[0]), round(width * size[1])
        corners[:, 4 * r : 4 * r + 4] = np.stack(
            [*first, first[0] + sides[0], first[1] + sides[1]], axis=1
        )
        weights[:, r] = weight
    return RectangleArrays(np.full(n, plane, dtype=np.int32), corners, weights)


def _sums(plane: int, boxes: NDArray[np.int64]) -> RectangleArrays:
    corners = np.zeros((len(boxes), 12), dtype=np.int32)
    corners[:, :4] = boxes
    weights = np.zeros((len(boxes), 3), dtype=np.int32)
    weights[:, 0] = 1
    return RectangleArrays(np.full(len(boxes), plane, dtype=np.int32), corners, weights)


def joined_features(parts: Sequence[RectangleArrays]) -> RectangleArrays:
    """All features of the parts, in order."""
    return RectangleArrays(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def take_features(features: RectangleArrays, chosen: NDArray[np.integer]) -> RectangleArrays:
    """Select features, in the given order."""
    return RectangleArrays(*(np.ascontiguousarray(array[chosen]) for array in features))


def n_planes(features: RectangleArrays) -> int:
    """Number of planes of an image that the features need."""
    gradient = np.any(features.planes >= N_GREY_PLANES)
    return len(PLANES) if gradient else N_GREY_PLANES


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
