"""Why a window was detected: the rectangles whose sums counted most, for and against."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rebelboost.base.arrays import PLANES, Bytes, Floats
from rebelboost.base.text import Table, signed
from rebelboost.vision.features import GREY
from rebelboost.vision.model import DetectorModel

FOR, AGAINST = "#00c853", "#ff5252"


@dataclass(frozen=True)
class DetectionExplanation:
    """The terms of a detector's score of one window, with the features that they test."""

    model: DetectorModel
    window: Bytes
    """(H, W) pixels of the window."""
    contributions: Floats
    """(T,) what each term adds to the score."""

    @classmethod
    def of(cls, model: DetectorModel, window: Bytes) -> "DetectionExplanation":
        """Explain the score of a window of the detector's size."""
        return cls(model, window, model.contributions(window[np.newaxis])[:, 0])

    @property
    def score(self) -> float:
        """Sum of the contributions minus the threshold; objects are above 0."""
        return float(self.model.scores(self.window[np.newaxis])[0])

    def table(self, top: int = 10) -> Table:
        """The terms that count most: contribution, channel, and the rectangles of the tested features."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:top]
        rows = [(t, self.model.path(int(t), self.window)) for t in order]
        return {
            "term": [int(t) for t, _ in rows],
            "contribution": [float(self.contributions[t]) for t, _ in rows],
            "channels": [
                [PLANES[self.model.rectangles.planes[f]] for f in path] for _, path in rows
            ],
            "rectangles": [[self._boxes(int(f)) for f in path] for _, path in rows],
        }

    def _boxes(self, feature: int) -> list[tuple[int, int, int, int, int]]:
        """Left, top, width, height and weight of the rectangles of a feature."""
        _, corners, weights = self.model.rectangles
        boxes = []
        for r in np.flatnonzero(weights[feature]):
            top, left, bottom, right = corners[feature, 4 * r : 4 * r + 4].tolist()
            boxes.append((left, top, right - left, bottom - top, int(weights[feature, r])))
        return boxes

    def plot(self, axes: Any = None, top: int = 6) -> Any:
        """Draw the rectangles of the strongest terms for (left) and against (right) an object.

        Haar features are drawn as filled rectangles, brighter and darker sides; sums of gradients as
        outlines. Stronger terms are more opaque.
        """
        from matplotlib import pyplot as plt

        if axes is None:
            _, axes = plt.subplots(1, 2, figsize=(7, 3.6), layout="constrained")
        for ax, sign, colour, name in zip(
            axes, (1, -1), (FOR, AGAINST), ("for", "against"), strict=True
        ):
            own = np.where(sign * self.contributions > 0, np.abs(self.contributions), 0)
            ax.imshow(self.window, cmap="gray", vmin=self.window.min(), vmax=self.window.max())
            order = np.argsort(-own, kind="stable")[:top]
            for t in order[own[order] > 0][::-1]:
                self._draw(ax, int(t), colour, float(own[t] / own.max()))
            total = signed(float(sign * own.sum()))
            ax.set_title(f"{name}: {total}", size=10)
            ax.set_xticks([])
            ax.set_yticks([])
        return axes

    def _draw(self, ax: Any, term: int, colour: str, strength: float) -> None:
        from matplotlib.patches import Rectangle

        for depth, feature in enumerate(self.model.path(term, self.window)):
            haar = self.model.rectangles.planes[feature] == GREY
            for left, top, width, height, weight in self._boxes(int(feature)):
                style: dict[str, Any] = {"fill": False, "ls": "-" if depth == 0 else ":"}
                if haar and weight > 0:
                    style = {"fill": True, "fc": colour, "hatch": None}
                ax.add_patch(
                    Rectangle(
                        (left - 0.5, top - 0.5),
                        width,
                        height,
                        ec=colour,
                        lw=1.4,
                        alpha=(0.25 if style["fill"] else 0.9) * (0.35 + 0.65 * strength),
                        **style,
                    )
                )
