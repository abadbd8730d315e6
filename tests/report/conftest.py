"""A model with costs, for the tests of reports."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rebelboost import RebelClassifier


@pytest.fixture(scope="module")
def priced():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.1, rng.permutation(y), y)
    clf = RebelClassifier(costs={(0, 1): 7.5}, n_rounds=10).fit(X, y)
    return clf, X, y
