"""The answer to a row does not depend on the rows beside it."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from rebelboost import RebelClassifier, RebelRegressor

X, y = load_digits(return_X_y=True)
LEARNED, ASKED = slice(0, 200), slice(200, 260)
CLASSIFIERS = {
    "tree": RebelClassifier("tree", n_rounds=10),
    "similarity": RebelClassifier("similarity", n_rounds=10),
    "smooth": RebelClassifier("smooth"),
    "auto": RebelClassifier(time_budget=0.2),
    "costs": RebelClassifier("stump", n_rounds=10, costs={(1, 7): 30}, training="costs"),
}


def each_alone(answer):
    return np.concatenate([answer(row[np.newaxis]) for row in X[ASKED]])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_row_alone_has_the_probabilities_that_it_has_among_others(name):
    model = CLASSIFIERS[name].fit(X[LEARNED], y[LEARNED])
    for answer in (model.predict_proba, model.decision_function, model.predict):
        np.testing.assert_array_equal(each_alone(answer), answer(X[ASKED]))


def test_a_row_alone_has_the_number_that_it_has_among_others():
    model = RebelRegressor(time_budget=0.2).fit(X[LEARNED], y[LEARNED])
    np.testing.assert_array_equal(each_alone(model.predict), model.predict(X[ASKED]))
