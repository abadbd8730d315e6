"""A model that was read from a file gives the same reasons."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rebelboost import RebelClassifier, RebelRegressor, load

X, y = load_iris(return_X_y=True)
X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)


@pytest.mark.parametrize("learner", ["tree", "similarity"])
def test_reasons_survive_a_file(tmp_path, learner):
    clf = RebelClassifier(learner, n_rounds=20).fit(X, y)
    clf.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.explain(X[::25]).text() == clf.explain(X[::25]).text()
    assert again.summary().text() == clf.summary().text()
    assert again.example_classes_ == clf.example_classes_
    assert again.missing_features_ == clf.missing_features_
    again.save(tmp_path / "again.safetensors")
    twice = load(tmp_path / "again.safetensors")
    assert twice.explain(X[::25]).text() == clf.explain(X[::25]).text()


def test_reasons_of_numbers_survive_a_file(tmp_path):
    regressor = RebelRegressor(n_rounds=20).fit(X[:, :3], y.astype(float))
    regressor.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.explain(X[:3, :3]).text() == regressor.explain(X[:3, :3]).text()
