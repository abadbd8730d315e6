"""UIUC cars, single scale, by the official rule: recall where it equals precision."""

import time
from typing import Any

import numpy as np

import data
from detection.photos import backgrounds
from rebelboost.vision import Detector

HEIGHT, WIDTH = 40, 100
LOWEST = -20.0
"""Score down to which detections are listed, so that recall can be traded for precision."""


def run(features: str, n_jobs: int) -> dict[str, Any]:
    with np.load(data.path("uiuc_cars")) as arrays:
        sets = dict(arrays)
    began, worked = time.perf_counter(), time.process_time()
    detector = Detector((HEIGHT // 2, WIDTH // 2), features, detection_rate=0.995, n_jobs=n_jobs)
    crops = [_half(crop) for crop in sets["train_cars"]]
    detector.fit(crops, [*backgrounds(), *sets["train_others"]])
    seconds, cpu = time.perf_counter() - began, time.process_time() - worked
    found, n_windows, n_terms = [], 0, 0
    images = sorted(name for name in sets if name.startswith("test_"))
    size = (HEIGHT, WIDTH)
    for i, name in enumerate(images):
        result = detector.detect(sets[name], min_size=size, max_size=size, threshold=LOWEST)
        n_windows += result.n_windows
        n_terms += result.n_terms
        found += [(each.score, i, each.top, each.left) for each in result]
    normal = [each for each in found if each[0] > 0]
    truth = sets["truth"]
    right = _right(sorted(normal, reverse=True), truth)
    return {
        "features": features,
        "recall = precision": equal_point(found, truth),
        "recall at threshold 0": sum(right) / len(truth),
        "precision at threshold 0": sum(right) / max(1, len(normal)),
        "left-out crops detected": detector.detection_rate_,
        "false alarms per background window": detector.stages_[-1].false_alarm_rate,
        "terms per window": n_terms / n_windows,
        "training, wall s": seconds,
        "training, CPU s": cpu,
    }


def _half(crop: np.ndarray) -> np.ndarray:
    """Mean of 2 × 2 pixels."""
    blocks = crop.reshape(HEIGHT // 2, 2, WIDTH // 2, 2).astype(int).sum(axis=(1, 3))
    return ((blocks + 2) // 4).astype(np.uint8)


def _right(found: list[tuple[float, int, float, float]], truth: np.ndarray) -> list[bool]:
    """Whether each detection, best first, finds a car that none before it found."""
    left = {tuple(car) for car in truth.tolist()}
    right = []
    for _, image, top, column in found:
        near = [
            (((top - y) / (HEIGHT / 4)) ** 2 + ((column - x) / (WIDTH / 4)) ** 2, (i, y, x))
            for i, y, x in left
            if i == image
        ]
        hit = bool(near) and min(near)[0] <= 1
        if hit:
            left.discard(min(near)[1])
        right.append(hit)
    return right


def equal_point(found: list[tuple[float, int, float, float]], truth: np.ndarray) -> float:
    """Recall where it equals precision: among as many detections as there are cars."""
    right = _right(sorted(found, reverse=True), truth)
    return sum(right[: len(truth)]) / len(truth)
