"""Twelve models of all kinds, and a hash of everything that each one learned and answers."""

import hashlib
import json
import tempfile
from pathlib import Path

import numpy as np

from determinism.tables import amounts, images, mixed, numbers
from rebelboost import (
    KernelSimilarity,
    RebelClassifier,
    RebelRegressor,
    Similarity,
    SmoothSimilarity,
    Stump,
    Tree,
)
from rebelboost.base.checks import Fields, Room
from rebelboost.files.packing import unpacked
from rebelboost.files.safetensors import read
from rebelboost.vision import Detector

COSTS = {(0, 1): 4.0, (1, 2): 2.5, (2, 0): 1.5}


def _costs():
    X, y = numbers()
    model = RebelClassifier(Tree(2), n_rounds=40, costs=COSTS, cross_fit=3, random_state=2)
    model.fit(X, y).cascade(agreement=0.95)
    return model, X


def _detector():
    crops, streets = images()
    detector = Detector((12, 12), "channels", n_terms=12, n_features=200, n_windows=500)
    return detector.fit(crops, streets), streets[0]


def _fitted(estimator, table):
    X, y = table()
    return estimator.fit(X, y), X


MODELS = {
    "stump": lambda: _fitted(RebelClassifier(Stump(categorical=[2]), n_rounds=60), mixed),
    "tree": lambda: _fitted(RebelClassifier(Tree(3, categorical=[2]), n_rounds=60), mixed),
    "one output": lambda: _fitted(
        RebelClassifier(Tree(3, outputs="tree"), n_rounds=60, decision="argmax"), numbers
    ),
    "costs": _costs,
    "logistic": lambda: _fitted(
        RebelClassifier(Tree(2), n_rounds=60, loss="logistic", subsample=0.7, random_state=1),
        numbers,
    ),
    "similarity": lambda: _fitted(RebelClassifier(Similarity("whitened"), n_rounds=60), numbers),
    "smooth": lambda: _fitted(RebelClassifier(SmoothSimilarity(), random_state=0), numbers),
    "kernel": lambda: _fitted(RebelClassifier(KernelSimilarity(), random_state=0), numbers),
    "auto": lambda: _fitted(RebelClassifier(n_rounds=30, cross_fit=3, random_state=3), mixed),
    "votes": lambda: _fitted(
        RebelClassifier(n_rounds=20, random_state=5), lambda: numbers(1300, seed=6)
    ),
    "regressor": lambda: _fitted(RebelRegressor(n_rounds=40, random_state=4), amounts),
    "detector": _detector,
}


def stored_arrays(model):
    """The arrays in the model's file, but for the history, which has seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        contents = read(path)
    said = json.loads(contents.texts.get("model", "{}")).get("packed")
    arrays = (
        contents.arrays
        if said is None
        else unpacked(contents.arrays, Fields(said, "packed"), Room(1 << 40))
    )
    for name in sorted(arrays):
        if "history." not in name:
            yield name, arrays[name].tobytes()


def answers(model, X):
    """What the model says of the samples, as bytes."""
    if isinstance(model, Detector):
        found = model.detect(X)
        return [("boxes", found.boxes.tobytes()), ("scores", found.scores.tobytes())]
    methods = ["predict", "decision_function", "predict_proba", "expected_cost"]
    if isinstance(model, RebelRegressor):
        methods = ["predict", "predict_interval"]
    said = [(name, np.asarray(getattr(model, name)(X))) for name in methods]
    return [(name, np.ascontiguousarray(array).tobytes()) for name, array in said]


def parts(name):
    """A short hash for each array, to see where two machines part."""
    return parts_of(*MODELS[name]())


def parts_of(model, X):
    """The same of any model, and what it says of samples."""
    named = [*stored_arrays(model), *answers(model, X)]
    return {part: _short(data) for part, data in named}


def hash_of(name):
    """One hash of a model."""
    return _short(json.dumps(parts(name)).encode())


def _short(data):
    return hashlib.sha256(data).hexdigest()[:16]
