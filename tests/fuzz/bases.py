"""The files that are altered: models of every kind, kept and saved today, plain and packed; detectors."""

import json
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fuzz.judging import answer, ask_more, load_model
from fuzz.today import detectors, models, saved_packed
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [*_kept(), *models()]
        bases = [
            Base(blob, X[:N_ASKED], answer(load_model(blob), X[:N_ASKED])) for blob, X in found
        ]
        image = np.random.default_rng(0).integers(0, 255, (40, 44)).astype(np.uint8)
        for blob in (DETECTOR.read_bytes(), *detectors()):
            said = boxes(load_detector(blob), image)
            bases.append(Base(blob, image, said, load_detector, boxes, ask_detector))
    return bases


def _kept():
    """Yield each kept file as it is, and packed by today's code."""
    for path in sorted(FOLDER.glob("*.safetensors")):
        kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        X, blob = kept_samples(kept), path.read_bytes()
        yield blob, X
        yield saved_packed(load_model(blob)), X


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
