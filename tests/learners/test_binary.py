"""Any classifier as a weak learner, through binarization."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from problems import fine, problems, random_problem
from rebelboost import Binary, RebelClassifier
from rebelboost.learners.binarize import binarize
from rowwise import weights_of

X, Y = load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(max_depth=2)


def fit(estimator=TREE, by="auto", X=X, y=Y, **options):
    options = {"n_rounds": 10, "decision": "argmax", **options}
    return RebelClassifier(Binary(estimator, by), **options).fit(X, y)


ESTIMATORS = {
    "tree": (TREE, "weight"),
    "resampled tree": (TREE, "resampling"),
    "logistic regression": (LogisticRegression(), "weight"),
    "nearest neighbours": (KNeighborsClassifier(3), "auto"),
    "pipeline": (make_pipeline(StandardScaler(), Perceptron()), "auto"),
}


@pytest.mark.parametrize(("estimator", "by"), ESTIMATORS.values(), ids=ESTIMATORS)
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_any_classifier_learns_many_classes_and_lowers_the_loss_each_round(estimator, by, loss):
    model = fit(estimator, by, loss=loss, n_rounds=20)
    assert model.score(X, Y) > 0.9
    assert all(record.loss_ratio <= 1 + 1e-9 for record in model.history_)
    assert any(record.hypothesis.describe() != "constant" for record in model.history_)


@given(problem=problems(values=fine))
@settings(max_examples=15)
def test_the_loss_never_rises(problem):
    for record in problem.fit(Binary(DecisionTreeClassifier(max_depth=1))).history_:
        # CAP·S of smoothing can add √(2·CAP), as for every response of ±1.
        assert record.loss_ratio <= min(1, record.bound + 2e-4) + 1e-9


def test_scores_stages_and_state_agree_to_the_bit():
    model = fit(n_rounds=15)
    stages = list(model.staged_decision_function(X))
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))
    parts = fit(n_rounds=6, warm_start=True)
    parts.set_params(n_rounds=15).fit(X, Y)
    np.testing.assert_array_equal(parts.decision_function(X), model.decision_function(X))


def test_two_fits_give_the_same_model_and_so_does_a_pickled_one():
    forgetful = DecisionTreeClassifier(max_depth=2, splitter="random")
    model = fit(forgetful, "resampling", random_state=3)
    other = clone(model).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.decision_function(X), copy.decision_function(X))


def test_the_given_estimator_is_left_unfitted():
    estimator = DecisionTreeClassifier(max_depth=2)
    fit(estimator)
    assert not hasattr(estimator, "tree_")
    assert estimator.random_state is None


def test_features_out_of_focus_are_not_shown_to_the_estimator():
    model = fit(feature_subsample=0.5, n_rounds=8)
    asked = [term.used_features.tolist() for term in model.ensemble_]
    assert {len(features) for features in asked} <= {0, 2}
    assert len({tuple(features) for features in asked}) > 2
    assert model.score(X, Y) > 0.9


def test_costs_early_stopping_and_cross_fitting_work_as_with_trees():
    costs = {(0, 1): 5.0}
    assert fit(early_stopping=True, random_state=0).score(X, Y) > 0.9
    model = RebelClassifier(Binary(TREE), n_rounds=10, costs=costs, cross_fit=3).fit(X, Y)
    assert model.predict_proba(X).shape == (150, 3)
    assert model.score(X, Y) > 0.9


def test_missing_values_reach_the_estimator_as_they_are():
    holes = X.copy()
    holes[::5, 0] = np.nan
    assert fit(X=holes).score(holes, Y) > 0.9  # scikit-learn's trees take them
    with pytest.raises(ValueError, match="contains NaN"):
        fit(LogisticRegression(), X=holes)


def test_binarized_labels_are_the_classes_for_two_classes():
    problem = random_problem(0, n_classes=2)
    labels = problem.y.astype(np.int32)
    v = binarize(weights_of((1 - np.eye(2))[labels], labels, np.zeros((60, 2))))
    assert len({(label, sign) for label, sign in zip(labels, v > 0, strict=True)}) == 2
    # Equal up to the eigenvector's own rounding.
    np.testing.assert_allclose(np.abs(v), np.abs(v[0]), rtol=1e-12)


def test_binarization_explains_the_most_of_the_weights():
    rng = np.random.default_rng(1)
    labels = rng.integers(4, size=50).astype(np.int32)
    costs = rng.uniform(0.5, 2, size=(4, 4)) * (1 - np.eye(4))
    weights = weights_of(costs[labels], labels, rng.normal(size=(50, 4)))
    U = weights.planes.sum(axis=0) / np.sqrt(weights.totals)
    v = binarize(weights)
    _, singular, right = np.linalg.svd(U)
    # Fixed point rounds each of 50 products to 2⁻⁵⁰ of 50 times the largest.
    assert np.linalg.norm(v) == pytest.approx(singular[0], rel=1e-10)
    np.testing.assert_allclose(np.abs(v), np.abs(U @ right[0]), atol=1e-9)


REFUSED = {
    "a class": (LogisticRegression, "auto", TypeError, "a classifier such as LogisticRegression()"),
    "a regressor": (LinearRegression(), "auto", TypeError, "LinearRegression is not one"),
    "a word": ("tree", "auto", TypeError, "not 'tree'"),
    "another way": (TREE, "magic", ValueError, "by is 'magic': give 'auto' or"),
    "no weights": (
        KNeighborsClassifier(),
        "weight",
        ValueError,
        "does not take sample_weight: use by=",
    ),
}


@pytest.mark.parametrize(("estimator", "by", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_learn_is_refused_at_once(estimator, by, error, message):
    with pytest.raises(error, match=message):
        Binary(estimator, by)
