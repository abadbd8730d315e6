"""Sums over rectangles in the windows of images, and detection."""
# ruff: noqa: ARG001, PLR0913, PLR0917  (n_threads; arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    N_GREY_PLANES,
    N_ORIENTATIONS,
    Bytes,
    Floats,
    Ints,
    RectangleArrays,
    TreeArrays,
    WindowGrid,
)

Sums = NDArray[np.uint32]
"""(planes, H + 1, W + 1) integral images, modulo 2³²."""


def integrate(images: Bytes, sums: Sums, n_threads: int) -> None:
    """Integral images of the planes of each of (n, H, W) images, modulo 2³²."""
    n_planes = len(sums) // len(images)
    for i, image in enumerate(images):
        own = sums[i * n_planes : (i + 1) * n_planes]
        own[:] = 0
        planes = _planes(image.astype(np.int64), n_planes)
        own[:, 1:, 1:] = planes.cumsum(axis=1).cumsum(axis=2) % 2**32


def _planes(image: Ints, n_planes: int) -> Ints:
    planes = np.zeros((n_planes, *image.shape), dtype=np.int64)
    planes[0], planes[1] = image**2, image
    if n_planes > N_GREY_PLANES:
        padded = np.pad(image, 1, mode="edge")
        gx = padded[1:-1, 2:] - padded[1:-1, :-2]
        gy = padded[2:, 1:-1] - padded[:-2, 1:-1]
        magnitude = np.sqrt(16 * (gx**2 + gy**2)).astype(np.int64)
        planes[N_GREY_PLANES] = magnitude
        for o in range(N_ORIENTATIONS):
            planes[N_GREY_PLANES + 1 + o] = np.where(_orientation(gx, gy) == o, magnitude, 0)
    return planes


def _orientation(gx: Ints, gy: Ints) -> Ints:
    """The nearest of 0°, 30°, …, 150°, as 0 to 5: tan 15° ≈ 268/1000, tan 75° ≈ 3732/1000."""
    x, y = np.abs(gx), np.abs(gy)
    steep = np.select([1000 * y < 268 * x, y < x, 1000 * y < 3732 * x], [0, 1, 2], 3)
    falls = (gx < 0) != (gy < 0)
    return np.where(falls, (N_ORIENTATIONS - steep) % N_ORIENTATIONS, steep)


def window_scales(sums: Sums, scales: Floats, n_threads: int) -> None:
    """The factors of each window that make features independent of contrast, (windows, 2).

    For grey, 1/√(A·Σp² − (Σp)²), where A is the number of pixels; for gradients, 1/Σ magnitude. The
    outermost pixels do not count. 0 if the window is constant.
    """
    windows = sums.reshape(len(scales), -1, *sums.shape[1:])
    height, width = sums.shape[1] - 1, sums.shape[2] - 1
    scales[:] = np.stack(_factors(windows.swapaxes(0, 1), (0, 0), (height, width)), axis=-1)


def window_values(
    sums: Sums, scales: Floats, rectangles: RectangleArrays, values: Floats, n_threads: int
) -> None:
    """Features of windows, times the factor of their plane."""
    windows = sums.reshape(len(scales), -1, *sums.shape[1:]).swapaxes(0, 1)
    for i, plane in enumerate(rectangles.planes):
        factor = scales[:, 1 if plane >= N_GREY_PLANES else 0]
        values[:, i] = _feature(windows, rectangles, i, (0, 0)) * factor


def scan_windows(
    sums: Sums,
    grid: WindowGrid,
    rectangles: RectangleArrays,
    trees: TreeArrays,
    floors: Floats,
    scores: Floats,
    used: NDArray[np.int32],
    n_threads: int,
) -> None:
    """Sum the trees' outputs for each window of an image, until the sum is below the tree's floor."""
    top, left = (grid.step * a.ravel() for a in np.indices(scores.shape))
    factors = np.stack(_factors(sums, (top, left), (grid.height, grid.width)))
    score = np.zeros(len(top))
    count = np.zeros(len(top), dtype=np.int32)
    alive = np.arange(len(top))
    for t, floor in enumerate(floors):
        leaf = np.zeros(len(alive), dtype=np.int64)
        for layer in range(trees.depths[t]):
            nodes = trees.node_offsets[t] + 2**layer - 1 + leaf
            right = np.zeros(len(alive), dtype=bool)
            for node in np.unique(nodes):
                own = nodes == node
                at, feature = alive[own], int(trees.features[node])
                of_gradient = int(rectangles.planes[feature] >= N_GREY_PLANES)
                found = _feature(sums, rectangles, feature, (top[at], left[at]))
                right[own] = found * factors[of_gradient, at] > trees.thresholds[node]
            leaf = 2 * leaf + right
        score[alive] += trees.outputs[trees.leaf_offsets[t] + leaf, 0]
        count[alive] = t + 1
        alive = alive[~(score[alive] < floor)]
    scores[:], used[:] = score.reshape(scores.shape), count.reshape(used.shape)


# ---- sums over rectangles; `at` is the top left corner of windows: numbers, or an array of each

Corner = tuple[int, int] | tuple[Ints, Ints]


def _sum_over(plane: Sums, corners: Ints, at: Corner) -> Ints:
    """Sums modulo 2³² of (…, H + 1, W + 1) integral images, which are then exact."""
    top, left, bottom, right = (corners[i] + at[i % 2] for i in range(4))
    inside = plane[..., bottom, right] - plane[..., bottom, left]
    return (inside - plane[..., top, right] + plane[..., top, left]).astype(np.int64)


def _feature(sums: Sums, rectangles: RectangleArrays, i: int, at: Corner) -> Floats:
    plane, total = sums[rectangles.planes[i]], np.int64(0)
    for r, weight in enumerate(rectangles.weights[i].astype(np.int64)):
        if weight != 0:
            corners = rectangles.corners[i, 4 * r : 4 * r + 4].astype(np.int64)
            total = total + weight * _sum_over(plane, corners, at)
    return np.asarray(total, dtype=np.float64)


def _factors(sums: Sums, at: Corner, size: tuple[int, int]) -> tuple[Floats, Floats]:
    inner = np.array([1, 1, size[0] - 1, size[1] - 1])
    pixels = (size[0] - 2) * (size[1] - 2)
    total = _sum_over(sums[1], inner, at)
    spread = pixels * _sum_over(sums[0], inner, at) - total**2
    gradient = np.zeros_like(spread)
    if len(sums) > N_GREY_PLANES:
        gradient = _sum_over(sums[N_GREY_PLANES], inner, at)
    return _inverse(np.sqrt(spread.astype(np.float64))), _inverse(gradient.astype(np.float64))


def _inverse(numbers: Floats) -> Floats:
    return np.divide(1, numbers, out=np.zeros_like(numbers), where=numbers > 0)
