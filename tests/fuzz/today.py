"""Models that no kept file has, as they are saved today: other labels, losses, parameters, rows, detectors."""

import tempfile
from pathlib import Path

import numpy as np

from rebelboost import RebelClassifier, RebelRegressor, Similarity, Taxonomy, Tree
from rebelboost.vision import Detector
from stored_models import all_compressed, all_packed, numbers, regression, table

COSTS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [5.0, 1.0, 0.0]])
DAYS = np.datetime64("2024-01-01") + np.arange(3)
WINDOW = (12, 12)


def _small():
    return numbers(n=30)


def _flags():
    X, y = _small()
    return RebelClassifier("stump", n_rounds=2, class_weight="balanced").fit(X, y == 0), X


def _dates():
    X, y = _small()
    state = np.random.RandomState(0)
    return RebelClassifier(Tree(2), n_rounds=2, loss="squared", random_state=state).fit(
        X, DAYS[y]
    ), X


def _texts():
    X, y = _small()
    labels = np.array(["a", "b", "é" * 9], dtype=object)[y]
    model = RebelClassifier(Similarity(anchors=2), n_rounds=3, reject_cost=0.3, reject_label="?")
    return model.fit(X, labels), X


def _costs():
    X, y = _small()
    model = RebelClassifier(Tree(1), n_rounds=3, costs=COSTS, subcosts="rebel", cross_fit=2)
    return model.fit(X, y), X


def _taxonomy():
    X, y = table()
    of_classes = Taxonomy({"good": "fine/good", "fair": "fine/fair", "bad": "bad"})
    return RebelClassifier(Tree(2), n_rounds=3, costs=of_classes, cross_fit=2).fit(X, y), X


def _cascade_with_costs_by_sample():
    X, y = numbers(n=100)  # fewer are not enough to calibrate on
    costs = np.where(np.arange(3) == y[:, np.newaxis], 0.0, 1 + np.abs(X))
    model = RebelClassifier(Tree(1), n_rounds=4, cross_fit=2).fit(X, y, costs=costs)
    model.cascade(agreement=0.9)
    return model, X


def _mixed_numbers():
    X, y = regression(n=40)
    return RebelRegressor(n_rounds=2, cross_fit=2).fit(X, y), X


def _robust_numbers():
    X, y = regression(n=40)
    rng = np.random.default_rng(0)
    return RebelRegressor(Tree(3), loss="huber", n_rounds=3, random_state=rng).fit(X, y), X


def _own_metric(metric):
    def make():
        X, y = _small()
        return RebelClassifier(Similarity(metric=metric), n_rounds=3).fit(X, y), X

    return make


MAKERS = (
    _flags,
    _dates,
    _texts,
    _costs,
    _taxonomy,
    _cascade_with_costs_by_sample,
    _mixed_numbers,
    _robust_numbers,
    _own_metric("seuclidean"),
    _own_metric("mahalanobis"),
)
WAYS = ({}, {"rows": "ids", "names": False}, {"rows": "none"})
"""Options of saving, given to the models in turn; the last needs a model of trees."""


def models():
    """Yield (file, samples) of each model, then packed, and some of them compressed too."""
    for i, make in enumerate(MAKERS):
        model, X = make()
        trees = all(type(group.terms).__name__ == "Trees" for group in model.ensemble_.groups)
        options = WAYS[i % (3 if trees else 2)]
        yield saved(model, **options), X
        yield saved_packed(model), X
        if i % 4 == 0:
            yield saved_compressed(model), X


def detectors():
    """Yield the files of a detector with each kind of features."""
    rng = np.random.default_rng(0)
    crops = rng.integers(0, 60, (20, *WINDOW), dtype=np.uint8)
    crops[:, 3:9, 3:9] += 120
    background = rng.integers(0, 180, (40, 50), dtype=np.uint8)
    for kind in ("haar", "channels"):
        detector = Detector(WINDOW, kind, n_terms=5, n_features=100, n_windows=400, max_stages=2)
        yield saved(detector.fit(crops, [background]))


def saved(model, **options):
    """The file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        model.save(path, **options)
        return path.read_bytes()


def saved_packed(model):
    """The file of a model whose arrays are packed, though it is small."""
    with all_packed():
        return saved(model)


def saved_compressed(model):
    """The file of a model whose arrays are packed and compressed, though it is small."""
    with all_compressed():
        return saved(model)
