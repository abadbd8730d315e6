"""Boxes around the objects found in an image; overlapping windows are merged into one box."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Floats, Ints
from rebelboost.base.text import Table
from rebelboost.kernels.elementary import portable_exp
from rebelboost.vision.model import DetectorModel
from rebelboost.vision.pyramid import Level


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


@dataclass(frozen=True)
class Detection:
    """An object found in an image."""

    left: float
    top: float
    width: float
    height: float
    score: float
    """Score of the best window; above 0."""
    n_merged: int
    """Number of overlapping windows that were merged."""
    window: Bytes
    """(H, W) pixels of the best window, as the detector saw it."""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height, in pixels."""
        return self.left, self.top, self.width, self.height


@dataclass(frozen=True)
class Detections:
    """Objects found in an image, by decreasing score. `len`, iteration and indices work as for a list."""

    boxes: Floats
    """(n, 4) left, top, width and height, in pixels."""
    scores: Floats
    """(n,)"""
    n_merged: Ints
    """(n,) number of windows merged into each box."""
    windows: Bytes
    """(n, H, W) best window of each box."""
    n_windows: int
    """Number of windows scanned."""
    n_terms: int
    """Number of terms that they used, all together."""

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, i: int) -> Detection:
        left, top, width, height = self.boxes[i].tolist()
        score, n = float(self.scores[i]), int(self.n_merged[i])
        return Detection(left, top, width, height, score, n, self.windows[i])

    def __iter__(self) -> Iterator[Detection]:
        return (self[i] for i in range(len(self)))

    @property
    def terms_per_window(self) -> float:
        """Mean number of terms used for a window."""
        return self.n_terms / self.n_windows if self.n_windows else 0.0

    def table(self) -> Table:
        """Columns left, top, width, height, score and windows."""
        columns: Table = {
            name: self.boxes[:, i].tolist()
            for i, name in enumerate(("left", "top", "width", "height"))
        }
        return columns | {"score": self.scores.tolist(), "windows": self.n_merged.tolist()}

    def plot(self, image: Any, ax: Any = None) -> Any:
        """Draw the boxes and scores on the image."""
        from matplotlib import pyplot as plt
        from matplotlib.patches import Rectangle

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        ax.imshow(image, cmap="gray")
        for found in self:
            corner = (found.left - 0.5, found.top - 0.5)
            ax.add_patch(
                Rectangle(corner, found.width, found.height, fill=False, ec="#00c853", lw=1.8)
            )
            ax.text(
                found.left, found.top - 1.5, f"{found.score:.1f}", color="black", size=7, va="bottom",
                bbox={"facecolor": "#00c853", "edgecolor": "none", "pad": 1},
            )  # fmt: skip
        ax.set_axis_off()
        return ax


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
