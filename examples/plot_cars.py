"""A detector of drawn cars at several sizes, trained on 200 crops and on streets without cars."""

import sys

import numpy as np
from matplotlib import pyplot as plt

from rebelboost.vision import Detector
from rebelboost.vision.images import resized

WINDOW = 16, 36


def draw_car(rng):
    """A side view: body, cabin with a window, two dark wheels; paint and background vary."""
    image = rng.normal(rng.uniform(90, 150), rng.uniform(1, 10), WINDOW)
    paint = rng.choice([-1, 1]) * rng.uniform(40, 80)
    nose = rng.integers(1, 4)
    image[7:13, nose:34] += paint
    image[3:7, nose + 6 : 26] += paint
    image[4:7, nose + 8 : 24] -= 1.5 * paint
    rows, columns = np.indices(WINDOW)
    for x in (nose + 6, 28):
        image[(rows - 12.5) ** 2 + (columns - x) ** 2 < 7] = rng.uniform(5, 30)
    return np.clip(image, 0, 255).astype(np.uint8)


def draw_street(rng, size=(140, 260)):
    """Walls, windows, poles and wheels, but no cars."""
    image = rng.normal(120, 10, size)
    rows, columns = np.indices(size)
    for _ in range(45):
        y, x = rng.integers(0, size[0] - 25), rng.integers(0, size[1] - 45)
        image[y : y + rng.integers(3, 25), x : x + rng.integers(3, 45)] += rng.uniform(-70, 70)
    for _ in range(12):
        y, x = rng.integers(0, size[0]), rng.integers(0, size[1])
        image[(rows - y) ** 2 + (columns - x) ** 2 < rng.uniform(5, 40)] = rng.uniform(5, 60)
    return np.clip(image, 0, 255).astype(np.uint8)


def main(file="cars.png"):
    rng = np.random.default_rng(0)
    crops = [draw_car(rng) for _ in range(200)]
    streets = [draw_street(rng) for _ in range(12)]
    detector = Detector(WINDOW, "channels", n_terms=80, n_features=2000, n_jobs=-1).fit(
        crops, streets
    )

    scene = draw_street(rng)
    for (y, x), scale in zip(
        [(15, 20), (20, 130), (80, 40), (95, 190)], (1, 2, 2.6, 1.4), strict=True
    ):
        car = resized(draw_car(rng), (round(16 * scale), round(36 * scale)))
        scene[y : y + car.shape[0], x : x + car.shape[1]] = car
    found = detector.detect(scene, scale_factor=1.15)
    figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
    found.plot(scene, ax)
    ax.set_title(f"{len(found)} found, {found.terms_per_window:.1f} terms per window", size=10)
    figure.savefig(file, dpi=110)
    print(f"Left-out crops detected: {detector.detection_rate_:.0%}")
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
