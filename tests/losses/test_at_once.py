"""Steps that one kernel does are those of the losses' own methods, to the bit."""

import numpy as np
import pytest

from ensembles import assert_same_terms
from problems import random_problem
from rebelboost import RebelRegressor, Tree
from rebelboost.losses.classes import Squared
from rebelboost.losses.exponential import Weights
from rebelboost.losses.regression import LeastSquares
from rebelboost.losses.smooth import Slopes


def plain(loss, scores, n_threads):
    return Slopes(loss, scores, n_threads)


@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares(monkeypatch, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] ** 2 + rng.normal(size=300)
    weight = rng.uniform(0.1, 3, size=300) if weighted else None
    model = RebelRegressor(Tree(4), n_rounds=20, early_stopping=True)
    at_once = model.fit(X, y, weight).ensemble_
    monkeypatch.setattr(LeastSquares, "slopes", plain)
    assert_same_terms(at_once, model.fit(X, y, weight).ensemble_)


def test_squared_loss_of_classes(monkeypatch):
    problem = random_problem(1, n_samples=200, n_classes=4)
    at_once = problem.fit(Tree(4), loss="squared").ensemble_
    monkeypatch.setattr(Squared, "slopes", plain)
    assert_same_terms(at_once, problem.fit(Tree(4), loss="squared").ensemble_)


@pytest.mark.parametrize("subcosts", ["thesis", "rebel"])
def test_exponential_loss(monkeypatch, subcosts):
    problem = random_problem(2, n_samples=200, n_classes=4)
    options = {"subcosts": subcosts, "n_rounds": 80, "shrinkage": 1.0}
    at_once = problem.fit(Tree(4), **options).ensemble_
    monkeypatch.setattr("rebelboost.losses.exponential.LocalWeights", Weights)
    assert_same_terms(at_once, problem.fit(Tree(4), **options).ensemble_)
