"""Steps that one kernel does are those of the losses' own methods, to the bit."""

import numpy as np
import pytest

from ensembles import assert_same_terms
from problems import random_problem
from rebelboost import RebelRegressor, Tree
from rebelboost.boosting.state import State
from rebelboost.losses.classes import Squared
from rebelboost.losses.regression import LeastSquares
from rebelboost.rows.weights import Weights


@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares(monkeypatch, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] ** 2 + rng.normal(size=300)
    weight = rng.uniform(0.1, 3, size=300) if weighted else None
    model = RebelRegressor(Tree(4), n_rounds=20, early_stopping=True)
    at_once = model.fit(X, y, weight).ensemble_
    monkeypatch.delattr(LeastSquares, "take_step")
    monkeypatch.setattr(LeastSquares, "is_parabola", False)
    assert_same_terms(at_once, model.fit(X, y, weight).ensemble_)


def test_squared_loss_of_classes(monkeypatch):
    problem = random_problem(1, n_samples=200, n_classes=4)
    at_once = problem.fit(Tree(4), loss="squared").ensemble_
    monkeypatch.setattr(Squared, "is_parabola", False)
    assert_same_terms(at_once, problem.fit(Tree(4), loss="squared").ensemble_)


@pytest.mark.parametrize("subcosts", ["thesis", "rebel"])
def test_exponential_loss(monkeypatch, subcosts):
    problem = random_problem(2, n_samples=200, n_classes=4)
    options = {"subcosts": subcosts, "n_rounds": 80, "shrinkage": 1.0}
    at_once = problem.fit(Tree(4), **options).ensemble_
    monkeypatch.setattr(State, "can_fuse", False)
    one_by_one = problem.fit(Tree(4), **options).ensemble_
    assert_same_terms(at_once, one_by_one)
    monkeypatch.setattr(Weights, "_advance_alone", by_answers)
    assert_same_terms(at_once, problem.fit(Tree(4), **options).ensemble_)


def by_answers(weights, where, outputs):
    """Advance as if the samples were in several blocks."""
    weights.alone, alone = None, weights.alone
    found = weights.advance(where, outputs)
    weights.alone = alone
    return found
