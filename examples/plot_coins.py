"""A detector of coins, trained on the upper half of a photo and run on the lower half.

The photo comes with scikit-image, as do the photos without coins.
"""

import sys

import numpy as np
from matplotlib import pyplot as plt
from skimage import data

from rebelboost.vision import Detector
from rebelboost.vision.detections import count_detections
from rebelboost.vision.images import resized

SIDE = 24
MARGIN = 0.08
"""Boxes are larger than the coin by this share of its diameter, on each side: its edge is inside."""
MIDDLE = 150
"""The photo is divided in this row."""
COINS = np.array([  # row and column of the centre, diameter
    (54, 44, 43), (56, 101, 38), (51, 155, 47), (51, 216, 46), (53, 276, 41), (44, 335, 58),
    (124, 46, 42), (126, 103, 38), (127, 153, 38), (124, 206, 40), (119, 270, 50), (125, 336, 39),
    (198, 44, 38), (196, 102, 43), (198, 154, 39), (193, 213, 48), (194, 274, 46), (187, 347, 64),
    (260, 46, 56), (266, 114, 43), (262, 172, 55), (264, 244, 49), (264, 301, 50), (268, 359, 44),
])  # fmt: skip
BETWEEN = ((46, 101), (103, 153), (155, 206), (216, 270), (276, 335))
"""Columns between the centres of neighbouring coins of the upper half."""


def boxes(coins):
    """(n, 4) left, top, width and height."""
    rows, columns, diameters = coins.T
    sides = diameters * (1 + 2 * MARGIN)
    return np.stack([columns - sides / 2, rows - sides / 2, sides, sides], axis=1)


def train(upper):
    """Train on twelve coins, and on strips that show halves of coins at most."""
    crops = []
    for left, top, width, height in np.rint(boxes(COINS[:12])).astype(int):
        crops.append(resized(upper[top : top + height, left : left + width], (SIDE, SIDE)))
    strips = [upper[56:119], *(upper[:, left:right] for left, right in BETWEEN)]
    others = [data.brick(), data.grass(), data.gravel(), data.page(), data.text()]
    detector = Detector(
        (SIDE, SIDE), "channels", n_terms=60, n_features=1000, copies=12, turn=180, n_jobs=-1
    )
    return detector.fit(crops, [*strips, *others])


def main(file="coins.png"):
    photo = data.coins()
    lower = photo[MIDDLE:]
    found = train(photo[:MIDDLE]).detect(lower, scale_factor=1.1)
    counts = count_detections(found.boxes, boxes(COINS[12:]) - [0, MIDDLE, 0, 0])
    figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    found.plot(lower, ax)
    title = f"{counts.n_right} of {counts.n_true} new coins found, {counts.n_false} false alarms"
    ax.set_title(f"{title}, {found.terms_per_window:.1f} terms per window", size=10, loc="left")
    figure.savefig(file, dpi=110)
    print(f"Written: {file}")
    return counts


if __name__ == "__main__":
    main(*sys.argv[1:])
