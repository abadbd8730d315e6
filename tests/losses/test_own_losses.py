"""Losses of the user's own: the same bits as the built-in ones that they repeat."""

import numpy as np
import pytest

from ensembles import assert_same_terms
from problems import random_problem
from rebelboost import ModelFileError, RebelClassifier, RebelRegressor, Tree
from rebelboost.losses.classes import Logistic
from rebelboost.losses.regression import Huber

PROBLEM = random_problem(3, n_samples=150, n_classes=3)


def test_a_classifier_takes_what_makes_a_loss_of_subcosts():
    settings = {"cross_fit": None, "n_rounds": 15}
    named = RebelClassifier(Tree(3), loss="logistic", **settings).fit(PROBLEM.X, PROBLEM.y)
    own = RebelClassifier(Tree(3), loss=Logistic, **settings).fit(PROBLEM.X, PROBLEM.y)
    assert_same_terms(own.ensemble_, named.ensemble_)
    found, expected = (model.predict_proba(PROBLEM.X) for model in (own, named))
    np.testing.assert_array_equal(found, expected)


class Unknown(Logistic):
    decoded_as = "logstic"


def test_a_loss_that_is_decoded_as_an_unknown_one_is_refused():
    with pytest.raises(ValueError, match="decoded_as is 'logstic': give one of 'exponential'"):
        RebelClassifier(Tree(2), loss=Unknown, n_rounds=2).fit(PROBLEM.X, PROBLEM.y)


def test_a_cross_fit_takes_it_too():
    own = RebelClassifier(Tree(2), loss=Logistic, cross_fit=3, n_rounds=20)
    named = RebelClassifier(Tree(2), loss="logistic", cross_fit=3, n_rounds=20)
    found, expected = (m.fit(PROBLEM.X, PROBLEM.y).predict_proba(PROBLEM.X) for m in (own, named))
    np.testing.assert_array_equal(found, expected)


def test_a_regressor_takes_what_makes_a_loss_of_targets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.standard_t(2, size=200)

    def wide_huber(target, weight):
        return Huber(target, weight, 2.0)

    named = RebelRegressor(Tree(3), loss="huber", huber_delta=2.0).fit(X, y)
    own = RebelRegressor(Tree(3), loss=wide_huber).fit(X, y)
    assert_same_terms(own.ensemble_, named.ensemble_)


def test_a_file_cannot_hold_it_and_says_what_to_do(tmp_path):
    model = RebelClassifier(Tree(2), loss=Logistic, cross_fit=None, n_rounds=3)
    model.fit(PROBLEM.X, PROBLEM.y)
    with pytest.raises(ModelFileError, match="the parameter loss is a function"):
        model.save(tmp_path / "model.safetensors")
    model.set_params(loss="logistic").save(tmp_path / "model.safetensors")
