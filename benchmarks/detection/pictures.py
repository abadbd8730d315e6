"""Pictures of what detectors find: cars in test images, faces in photos."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle

from rebelboost.vision import Detector

COLOUR = "#00c853"


def draw(
    detector: Detector, images: Sequence[np.ndarray], to: Path, *, columns: int, **options: Any
) -> None:
    """Write a picture of the images with the boxes that `detect` finds with these options."""
    n_rows = -(-len(images) // columns)
    figure, axes = plt.subplots(
        n_rows, columns, figsize=(4 * columns, 3 * n_rows), layout="constrained", squeeze=False
    )
    for ax in axes.flat:
        ax.set_axis_off()
    for image, ax in zip(images, axes.flat, strict=False):
        ax.imshow(image, cmap="gray", vmin=0, vmax=255)
        for found in detector.detect(image, **options):
            corner = found.left - 0.5, found.top - 0.5
            box = Rectangle(corner, found.width, found.height, fill=False, ec=COLOUR, lw=1.5)
            ax.add_patch(box)
            ax.text(found.left, found.top - 1, f"{found.score:.0f}", color=COLOUR, size=7)
    to.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(to, dpi=90)
    plt.close(figure)
