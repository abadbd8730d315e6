"""Boxes around the objects found in an image, and how many of them are right."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Bytes, Floats, Ints
from rebelboost.base.text import Table


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


class DetectionCounts(NamedTuple):
    """Right and wrong boxes of some images."""

    n_true: int
    """Objects that there are."""
    n_right: int
    """Objects found."""
    n_false: int
    """Boxes that are no object, or one found already."""

    def plus(self, more: "DetectionCounts") -> "DetectionCounts":
        """Add the counts of further images."""
        return DetectionCounts(*(a + b for a, b in zip(self, more, strict=True)))

    @property
    def recall(self) -> float:
        """Share of the objects that were found; NaN if there are none."""
        return self.n_right / self.n_true if self.n_true else float("nan")

    @property
    def precision(self) -> float:
        """Share of the boxes that are right; NaN if there are none."""
        n_boxes = self.n_right + self.n_false
        return self.n_right / n_boxes if n_boxes else float("nan")

    def false_per_megapixel(self, n_pixels: int) -> float:
        """False alarms in a million pixels, if the images have so many pixels all together."""
        return self.n_false / (n_pixels / 1e6)


def count_detections(boxes: Floats, truth: Floats, overlap: float = 0.5) -> DetectionCounts:
    """Match boxes, best first, with the true box that each overlaps most: (n, 4) left, top, width, height.

    A box is right if intersection / union ≥ `overlap`, and the true box has no better one.
    """
    left = list(range(len(truth)))
    n_right = 0
    for box in boxes:
        shares = [_union_share(box, truth[i]) for i in left]
        best = int(np.argmax(shares)) if shares else -1
        if best >= 0 and shares[best] >= overlap:
            left.pop(best)
            n_right += 1
    return DetectionCounts(len(truth), n_right, len(boxes) - n_right)


def _union_share(one: Floats, other: Floats) -> float:
    first = np.maximum(one[:2], other[:2])
    last = np.minimum(one[:2] + one[2:], other[:2] + other[2:])
    shared = float(np.prod(np.maximum(0, last - first)))
    return shared / float(np.prod(one[2:]) + np.prod(other[2:]) - shared)
