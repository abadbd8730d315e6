"""scikit-learn's own checks of an estimator: all pass, none is skipped or expected to fail."""

import unittest

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rebelboost import RebelClassifier, RebelRegressor, Stump, Tree

CONFIGURATIONS = [
    RebelClassifier(n_rounds=10),
    RebelClassifier(Stump(), n_rounds=10),
    RebelClassifier(Tree(depth=2, outputs="tree"), n_rounds=10),
    RebelClassifier(n_rounds=10, early_stopping=True),
    RebelClassifier(n_rounds=10, loss="logistic"),
    RebelRegressor(n_rounds=50),
    RebelRegressor(n_rounds=20, early_stopping=True),
    RebelRegressor(n_rounds=20, loss="absolute"),
]

# One class is served with a warning (DESIGN), which pytest would make an error.
pytestmark = pytest.mark.filterwarnings("ignore::rebelboost.SingleClassWarning")


@parametrize_with_checks(CONFIGURATIONS)
def test_every_check_of_scikit_learn_passes(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # or the check of array API input is skipped
    try:
        check(estimator)
    except unittest.SkipTest as skipped:
        pytest.fail(f"skipped: {skipped}")
