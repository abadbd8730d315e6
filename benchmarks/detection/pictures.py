"""Pictures of what detectors find: cars in test images, faces in photos."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle

COLOUR = "#00c853"


Found = list[tuple[float, tuple[float, float, float, float]]]
"""Scores and boxes: left, top, width, height."""


def draw(
    find: Callable[[np.ndarray], Found], images: Sequence[np.ndarray], to: Path, columns: int
) -> None:
    """Write a picture of the images with the boxes that are found in them."""
    n_rows = -(-len(images) // columns)
    figure, axes = plt.subplots(
        n_rows, columns, figsize=(4 * columns, 3 * n_rows), layout="constrained", squeeze=False
    )
    for ax in axes.flat:
        ax.set_axis_off()
    for image, ax in zip(images, axes.flat, strict=False):
        ax.imshow(image, cmap="gray", vmin=0, vmax=255)
        for score, (left, top, width, height) in find(image):
            corner = left - 0.5, top - 0.5
            ax.add_patch(Rectangle(corner, width, height, fill=False, ec=COLOUR, lw=1.5))
            ax.text(left, top - 1, f"{score:.0f}", color=COLOUR, size=7)
    to.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(to, dpi=90)
    plt.close(figure)
