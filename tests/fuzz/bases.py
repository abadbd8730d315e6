"""The files that are altered: a kept model of every kind, and a detector."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fuzz.judging import answer, ask_more, load_model
from rebelboost.files import safetensors as tensors
from rebelboost.vision.detector import restore_detector
from stored_models import FOLDER, kept_samples

DETECTOR = Path(__file__).parents[1] / "vision" / "models" / "v1-haar.safetensors"
N_ASKED = 6
"""Samples that a model is asked about."""


class Base(NamedTuple):
    """A file, and how to ask what is in it."""

    blob: bytes
    X: Any
    said: dict
    load: Any = load_model
    answer: Any = answer
    ask_more: Any = ask_more


def load_bases():
    found = []
    for path in sorted(FOLDER.glob("*.safetensors")):
        kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        X, blob = kept_samples(kept)[:N_ASKED], path.read_bytes()
        found.append(Base(blob, X, answer(load_model(blob), X)))
    blob, image = DETECTOR.read_bytes(), np.random.default_rng(0).integers(0, 255, (40, 44))
    image = image.astype(np.uint8)
    said = boxes(load_detector(blob), image)
    return [*found, Base(blob, image, said, load_detector, boxes, ask_detector)]


def load_detector(blob):
    return restore_detector(tensors.parse(blob))


def boxes(detector, image):
    found = detector.detect(image)
    assert np.isfinite(found.scores).all(), "scores that are not finite"
    return {"boxes": found.boxes, "scores": found.scores, "terms": np.array(found.n_terms)}


def ask_detector(detector, image):
    height, width = detector.model_.window
    crop = np.resize(image, (height, width))
    str(detector.explain(crop))
