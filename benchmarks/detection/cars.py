"""UIUC cars by the official rules: recall where it equals precision, single scale and over scales.

The single-scale rule: a box is right if its corner is within an ellipse of a quarter of the car's height and
width. The rule for several scales adds the difference in width as a third axis, a quarter of the car's width.
"""

import time
from typing import Any, NamedTuple

import numpy as np

import data
from detection.photos import backgrounds
from rebelboost.vision import Detections, Detector
from rebelboost.vision.images import resized

HEIGHT, WIDTH = 40, 100
SETTINGS: dict[str, Any] = {"n_terms": 100, "depth": 3, "detection_rate": 0.995}
"""100 trees of depth 3 rather than 200 of depth 2: chosen by crops left out of training, and photos without
cars. The windows around a car use all terms, so fewer terms make the search cheaper."""
FACTORS = (0.6, 0.8, 1.0, 1.3, 1.8)
SCALE_FACTOR = 1.1
LOWEST = -20.0
"""Score down to which detections are listed, so that recall can be traded for precision."""


class Box(NamedTuple):
    """A car, or a detection."""

    score: float
    image: int
    top: float
    left: float
    width: float


class Tested(NamedTuple):
    """Detections in the test images, and what they cost."""

    found: list[Box]
    truth: list[Box]
    n_windows: int
    n_terms: int

    @property
    def equal_point(self) -> float:
        """Recall where it equals precision: among as many detections as there are cars."""
        return sum(self.right(self.found)[: len(self.truth)]) / len(self.truth)

    @property
    def at_zero(self) -> tuple[float, float]:
        """Recall and precision at threshold 0."""
        normal = [box for box in self.found if box.score > 0]
        n_right = sum(self.right(normal))
        return n_right / len(self.truth), n_right / max(1, len(normal))

    def right(self, found: list[Box]) -> list[bool]:
        """Whether each detection, best first, finds a car that none before it found."""
        left, right = list(self.truth), []
        for box in sorted(found, reverse=True):
            near = [(_distance(box, car), car) for car in left if car.image == box.image]
            hit = bool(near) and min(near)[0] <= 1
            if hit:
                left.remove(min(near)[1])
            right.append(hit)
        return right


def _distance(box: Box, car: Box) -> float:
    high, wide = car.width * HEIGHT / WIDTH / 4, car.width / 4
    return (
        ((box.top - car.top) / high) ** 2
        + ((box.left - car.left) / wide) ** 2
        + ((box.width - car.width) / wide) ** 2
    )


def arrays() -> dict[str, np.ndarray]:
    with np.load(data.path("uiuc_cars")) as stored:
        return dict(stored)


def trained(features: str, n_jobs: int) -> tuple[Detector, dict[str, Any]]:
    """A detector of cars, and the seconds that its training took."""
    sets = arrays()
    began, worked = time.perf_counter(), time.process_time()
    detector = Detector((HEIGHT // 2, WIDTH // 2), features, n_jobs=n_jobs, **SETTINGS)
    crops = [resized(crop, (HEIGHT // 2, WIDTH // 2)) for crop in sets["train_cars"]]
    detector.fit(crops, [*backgrounds(), *sets["train_others"]])
    seconds, cpu = time.perf_counter() - began, time.process_time() - worked
    return detector, {"training, wall s": seconds, "training, CPU s": cpu}


def searched(detector: Detector, factor: float = 1.0, *, one_size: bool = True) -> Tested:
    """Search the test images, resized by a factor; for one size of cars, or for all sizes."""
    sets = arrays()
    size = (HEIGHT, WIDTH)
    found, n_windows, n_terms = [], 0, 0
    for i, name in enumerate(sorted(name for name in sets if name.startswith("test_"))):
        image = sets[name]
        image = resized(image, (round(factor * image.shape[0]), round(factor * image.shape[1])))
        result: Detections = (
            detector.detect(image, min_size=size, max_size=size, threshold=LOWEST)
            if one_size
            else detector.detect(image, scale_factor=SCALE_FACTOR, threshold=LOWEST)
        )
        n_windows += result.n_windows
        n_terms += result.n_terms
        found += [Box(each.score, i, each.top, each.left, each.width) for each in result]
    truth = [
        Box(0.0, i, factor * top, factor * left, factor * WIDTH)
        for i, top, left in sets["truth"].tolist()
    ]
    return Tested(found, truth, n_windows, n_terms)


def boxes_of(
    detector: Detector, image: np.ndarray
) -> list[tuple[float, tuple[float, float, float, float]]]:
    """Scores and boxes of cars of all sizes."""
    return [(each.score, each.box) for each in detector.detect(image, scale_factor=SCALE_FACTOR)]


def run(features: str, n_jobs: int) -> tuple[Detector, dict[str, Any]]:
    """The official single-scale protocol."""
    detector, seconds = trained(features, n_jobs)
    test = searched(detector)
    recall, precision = test.at_zero
    return detector, {
        "features": features,
        "recall = precision": test.equal_point,
        "recall at threshold 0": recall,
        "precision at threshold 0": precision,
        "left-out crops detected": detector.detection_rate_,
        "false alarms per background window": detector.stages_[-1].false_alarm_rate,
        "terms per window": test.n_terms / test.n_windows,
        **seconds,
    }


def run_scales(detector: Detector) -> list[dict[str, Any]]:
    """The test images at other sizes, searched for cars of all sizes."""
    rows = []
    for factor in FACTORS:
        test = searched(detector, factor, one_size=False)
        recall, precision = test.at_zero
        rows.append(
            {
                "test images resized by": factor,
                "recall = precision": test.equal_point,
                "recall at threshold 0": recall,
                "precision at threshold 0": precision,
            }
        )
    return rows
