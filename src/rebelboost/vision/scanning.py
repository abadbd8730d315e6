"""Scan an image at several scales for windows that hold objects, and merge those that overlap.

In each resized copy of the image, objects of one size fill the window.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Floats, Ints
from rebelboost.kernels.elementary import portable_exp
from rebelboost.vision.features import Size
from rebelboost.vision.images import resized
from rebelboost.vision.model import DetectorModel


class Level(NamedTuple):
    """An image at one scale."""

    image: Bytes
    """(h, w)"""
    scale: tuple[float, float]
    """Height and width of a pixel of the level, in pixels of the original."""


def scales_between(smallest: float, largest: float, factor: float) -> NDArray[np.float64]:
    """Scales from the smallest to the largest, each `factor` times the one before it."""
    if largest < smallest:
        return np.empty(0)
    n = int(np.floor(np.log(largest / smallest) / np.log(factor) + 1e-9)) + 1
    return np.cumprod(np.append(smallest, np.full(n - 1, factor)))


def levels(image: Bytes, window: Size, scales: NDArray[np.float64]) -> Iterator[Level]:
    """The image at each scale at which a window fits into it."""
    for scale in scales:
        size = round(image.shape[0] / scale), round(image.shape[1] / scale)
        if size[0] >= window[0] and size[1] >= window[1]:
            yield Level(resized(image, size), (image.shape[0] / size[0], image.shape[1] / size[1]))


# ---- windows that are found


class FoundWindows(NamedTuple):
    """Windows detected in an image, before they are merged."""

    boxes: Floats
    """(n, 4) left, top, width and height, in pixels of the image."""
    scores: Floats
    """(n,)"""
    windows: Bytes
    """(n, H, W) pixels of the windows."""


class Scanned(NamedTuple):
    """What was found at one scale, and at what cost."""

    found: FoundWindows
    n_windows: int
    n_terms: int


def scan_level(
    model: DetectorModel, level: Level, step: int, least: float, n_threads: int
) -> Scanned:
    """Scan an image at one scale for windows with a score above `least`."""
    sums, used = model.scan(level.image, step, n_threads)
    scores = sums - model.threshold
    rows, columns = np.nonzero((scores > least) & (used == len(model)))
    tops, lefts = step * rows, step * columns
    height, width = model.window
    down, across = level.scale
    boxes = np.stack(
        [
            across * lefts,
            down * tops,
            np.full(len(tops), across * width),
            np.full(len(tops), down * height),
        ],
        axis=1,
    )
    windows = np.empty((len(tops), height, width), dtype=np.uint8)
    for i, (top, left) in enumerate(zip(tops, lefts, strict=True)):
        windows[i] = level.image[top : top + height, left : left + width]
    return Scanned(FoundWindows(boxes, scores[rows, columns], windows), sums.size, int(used.sum()))


def merge_overlaps(found: FoundWindows, overlap: float) -> tuple[FoundWindows, Ints]:
    """Merge windows whose intersection is more than `overlap` of the smaller one, best first.

    The box of a group is the mean of its windows, weighted by exp(score), the score that of its best window.
    Also returns the number of windows of each group.
    """
    left = np.argsort(-found.scores, kind="stable")
    boxes, best, counts = [], [], []
    while len(left):
        inside = _overlap(found.boxes[left[0]], found.boxes[left]) > overlap
        inside[0] = True
        group = left[inside]
        weights = portable_exp(found.scores[group] - found.scores[group[0]])
        boxes.append((weights[:, np.newaxis] * found.boxes[group]).sum(axis=0) / weights.sum())
        best.append(int(group[0]))
        counts.append(len(group))
        left = left[~inside]
    merged = FoundWindows(
        np.array(boxes).reshape(-1, 4), found.scores[best], found.windows[np.array(best, dtype=int)]
    )
    return merged, np.array(counts, dtype=np.int64)


def _overlap(box: Floats, others: Floats) -> NDArray[np.float64]:
    """Intersection with each of the others, divided by the smaller area."""
    first = np.maximum(box[:2], others[:, :2])
    last = np.minimum(box[:2] + box[2:], others[:, :2] + others[:, 2:])
    shared = np.prod(np.maximum(0, last - first), axis=1)
    return shared / np.minimum(box[2] * box[3], others[:, 2] * others[:, 3])
