"""Comparison of boxes found with true ones."""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats


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
