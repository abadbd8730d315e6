"""Reasons are exact: whatever the model, their parts sum to the scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from problems import grid, learners, missing, problems
from rebelboost import Binary, RebelClassifier, RebelRegressor, Similarity, Stump, Tree
from rebelboost.datasets import spirals
from rebelboost.estimators.base import encode_table
from rebelboost.explain.shares import contributions
from rebelboost.model.wrapped import Wrapped

similarities = st.builds(
    Similarity,
    scale=st.sampled_from(["none", "standard"]),
    response=st.sampled_from(["real", "sign"]),
    modes=st.sampled_from(["both", "one"]),
    offset=st.booleans(),
)
levels = st.integers(0, 3).map(float) | missing
categorical = st.sampled_from([Tree(2, categorical=[0]), Stump(categorical=[0])])


def assert_exact(model, X):
    """To 1e-9 of what is added up, which may be far larger than its sum."""
    scores = model.ensemble_.scores(encode_table(model, X))
    said = contributions(model.ensemble_, encode_table(model, X))
    added = sum(np.abs(term.by_region).max() for term in model.ensemble_)
    np.testing.assert_allclose(said.total, scores, rtol=0, atol=1e-9 * max(1.0, added / 100))
    for why in model.explain(X):
        table = why.table()
        parts = [table[f"for {name}"] for name in why.class_names]
        np.testing.assert_allclose(np.sum(parts, axis=1), why.scores, rtol=0, atol=1e-8)
        reasons = why.reasons.by_class.sum(axis=0) + why.baseline
        np.testing.assert_allclose(reasons, why.scores, rtol=0, atol=1e-8)


@settings(max_examples=60)
@given(problems(), learners)
def test_contributions_of_trees_sum_to_the_scores(problem, learner):
    assert_exact(problem.fit(learner), problem.X)


@settings(max_examples=40)
@given(problems(max_samples=25), similarities)
def test_pulls_of_training_rows_sum_to_the_scores(problem, learner):
    assert_exact(problem.fit(learner), problem.X)


@settings(max_examples=40)
@given(problems(values=levels), categorical)
def test_contributions_of_categories_sum_to_the_scores(problem, learner):
    assert_exact(problem.fit(learner), problem.X)


@settings(max_examples=20)
@given(problems(values=grid | missing), learners)
def test_contributions_sum_to_the_scores_at_samples_that_training_never_saw(problem, learner):
    model = problem.fit(learner)
    elsewhere = np.random.default_rng(0).normal(0, 10, (5, problem.X.shape[1]))
    elsewhere[0] = np.nan
    assert_exact(model, elsewhere)


@pytest.mark.parametrize("learner", ["auto", Similarity(scale="standard"), Stump()])
def test_contributions_of_a_cross_fit_with_costs_sum_to_the_scores(learner):
    X, y, _, _ = spirals(0, n_train=120)
    costs = np.array([[0, 1, 5], [2, 0, 1], [1, 9, 0]])
    model = RebelClassifier(learner, costs=costs, cross_fit=3, n_rounds=30).fit(X, y)
    assert_exact(model, X[:20])


def test_what_other_libraries_say_is_shared_out_by_their_names():
    X, y, _, _ = spirals(0, n_train=60)
    model = RebelClassifier(Binary(LogisticRegression()), n_rounds=5).fit(X, y)
    assert_exact(model, X[:5])
    (other,) = model.explain(X[:1])[0].others
    assert other.what == "LogisticRegression"
    assert other.n_terms == sum(isinstance(t, Wrapped) for t in model.ensemble_)


@settings(max_examples=25)
@given(problems(), st.sampled_from(["squared", "absolute", "huber"]))
def test_contributions_of_a_regression_sum_to_the_prediction(problem, loss):
    target = problem.y * 10.0 + np.nan_to_num(problem.X[:, 0])
    model = RebelRegressor(loss=loss, n_rounds=10).fit(problem.X, target, problem.weight)
    for why, predicted in zip(
        model.explain(problem.X), model.predict(problem.X).tolist(), strict=True
    ):
        assert why.decision == predicted
        assert sum(why.table()["for the prediction"]) == pytest.approx(predicted, abs=1e-8)


@settings(max_examples=30)
@given(problems(), learners)
def test_contributions_of_features_are_zero_on_average_over_the_training_samples(problem, learner):
    # What the roots say is the mean over the training samples, by weight.
    model = problem.fit(learner)
    said = contributions(model.ensemble_, problem.X)
    mean = np.average(said.features.sum(axis=1), axis=0, weights=problem.weight)
    np.testing.assert_allclose(mean, 0, atol=1e-7 * (1 + np.abs(said.features).max()))


@settings(max_examples=20)
@given(problems(), learners)
def test_a_feature_that_is_never_asked_contributes_nothing(problem, learner):
    model = problem.fit(learner)
    asked = {int(f) for t in model.ensemble_ for f in t.used_features}
    said = contributions(model.ensemble_, problem.X)
    for f in set(range(problem.X.shape[1])) - asked:
        assert not said.features[:, f].any()
        assert model.feature_importances_[f] == 0
