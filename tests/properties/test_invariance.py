"""What must not change a model, and what must change it alike."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from ensembles import assert_same
from problems import Problem, fine, grid, learners, problems, random_problem, subcosts
from rebelboost import RebelClassifier, Stump, Tree

LEARNERS = [Stump(), Tree(depth=3, outputs="tree"), Tree(depth=3)]


def tables_of(model):
    (group,) = model.ensemble_.groups
    return group.trees


@given(problem=problems(), learner=learners, subcosts=subcosts, seed=st.integers(0, 2**32 - 1))
def test_the_order_of_samples_changes_no_bit(problem, learner, subcosts, seed):
    order = np.random.default_rng(seed).permutation(len(problem.y))
    shuffled = Problem(problem.X[order], problem.y[order], problem.weight[order], problem.costs)
    options = {"subcosts": subcosts, "weight_trimming": 0.9 if seed % 2 else None}
    assert_same(problem.fit(learner, **options), shuffled.fit(learner, **options))


@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_the_order_of_samples_changes_no_bit_with_early_stopping(problem, seed):
    order = np.random.default_rng(seed).permutation(len(problem.y))
    shuffled = Problem(problem.X[order], problem.y[order], problem.weight[order], problem.costs)
    options = {"early_stopping": True, "n_rounds_no_change": 3, "validation_fraction": 0.2}
    assert_same(problem.fit(Tree(2), **options), shuffled.fit(Tree(2), **options))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_number_of_threads_changes_no_bit(learner, monkeypatch):
    # Enough samples that the kernels do share them out; n_jobs itself is capped by the cores here.
    problem = random_problem(0, n_samples=20_000, n_features=20, n_classes=5)
    problem.X[::9, 3] = np.nan
    models = []
    monkeypatch.setattr("rebelboost.estimators.validation._n_cores", lambda: 3)
    for n_threads in (1, 2, 3):
        models.append(problem.fit(learner, n_rounds=5, n_jobs=n_threads))
        scores = models[-1].decision_function(problem.X)
        np.testing.assert_array_equal(scores, models[0].decision_function(problem.X))
    assert_same(models[0], models[1])
    assert_same(models[0], models[2])


@given(problem=problems(), learner=learners)
@settings(max_examples=30)
def test_pickling_changes_no_bit(problem, learner):
    model = problem.fit(learner)
    copy = pickle.loads(pickle.dumps(model))
    assert_same(model, copy, leave_out=())
    np.testing.assert_array_equal(
        copy.decision_function(problem.X), model.decision_function(problem.X)
    )


@given(problem=problems(), learner=learners, subcosts=subcosts, power=st.integers(-8, 8))
def test_costs_times_a_power_of_two_change_no_bit(problem, learner, subcosts, power):
    model = problem.fit(learner, subcosts=subcosts)
    scaled = problem.fit(learner, subcosts=subcosts, costs=problem.costs * 2.0**power)
    assert_same(model, scaled)


@pytest.mark.parametrize("factor", [1e-6, 1 / 3, 7.1, 1e9])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_scale_of_the_costs_changes_no_decision(learner, factor):
    problem = random_problem(1)
    model, scaled = problem.fit(learner), problem.fit(learner, costs=factor * problem.costs)
    np.testing.assert_array_equal(model.predict(problem.X), scaled.predict(problem.X))


def assert_nearly_same(model, other):
    """Same questions; outputs to 1e-9: fixed point rounds a weight of 2 otherwise than 1 twice."""
    for ours, theirs in zip(model.ensemble_, other.ensemble_, strict=True):
        np.testing.assert_array_equal(ours.features, theirs.features)
        np.testing.assert_array_equal(ours.thresholds, theirs.thresholds)
        np.testing.assert_allclose(ours.outputs, theirs.outputs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_samples", [200, 600])  # all values, and quantiles
@pytest.mark.parametrize("learner", [Stump(), Tree(3, outputs="tree"), Tree(2)], ids=str)
@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_doubled_sample_is_a_doubled_weight(learner, n_samples, early_stopping):
    problem = random_problem(2, n_samples=n_samples, noise=2.0)
    copies = np.random.default_rng(2).integers(1, 4, size=n_samples)
    rows = np.repeat(np.arange(n_samples), copies)
    model = RebelClassifier(
        learner,
        n_rounds=10,
        costs=problem.costs,
        early_stopping=early_stopping,
        decision="argmax",
    )
    # Copies of a row are one group: each by itself, some would be held out and others not.
    group = np.arange(n_samples)
    repeated = clone(model).fit(problem.X[rows], problem.y[rows], groups=rows)
    weighted = model.fit(problem.X, problem.y, sample_weight=copies, groups=group)
    assert_nearly_same(weighted, repeated)


@given(problem=problems(), learner=learners, early_stopping=st.booleans())
def test_a_weight_of_zero_is_an_absent_sample(problem, learner, early_stopping):
    there = problem.weight > 0
    assume(not there.all())
    rest = Problem(problem.X[there], problem.y[there], problem.weight[there], problem.costs)
    options = {"early_stopping": early_stopping}
    assert_same(problem.fit(learner, **options), rest.fit(learner, **options))


@given(problem=problems(), learner=learners, value=st.sampled_from([0.0, -7.5, np.nan]))
def test_a_constant_feature_changes_no_bit(problem, learner, value):
    wider = np.column_stack([problem.X, np.full(len(problem.y), value)])
    with_constant = Problem(wider, problem.y, problem.weight, problem.costs)
    assert_same(problem.fit(learner), with_constant.fit(learner))


@given(problem=problems(), learner=learners)
@settings(max_examples=30)
def test_the_names_of_classes_change_no_bit(problem, learner):
    names = np.array(["ant", "bee", "cat", "dog"])
    renamed = Problem(problem.X, names[problem.y], problem.weight, problem.costs)
    model, other = problem.fit(learner), renamed.fit(learner)
    assert_same(model, other)
    np.testing.assert_array_equal(other.predict(problem.X), names[model.predict(problem.X)])


@pytest.mark.parametrize("transform", [np.exp, lambda x: x**3, lambda x: 5 * x - 2])
@given(problem=problems(values=grid, weights=st.floats(0.1, 3)), learner=learners)
@settings(max_examples=20)
def test_a_rising_transform_of_features_changes_no_training_score(transform, problem, learner):
    stretched = Problem(transform(problem.X), problem.y, problem.weight, problem.costs)
    model, other = problem.fit(learner), stretched.fit(learner)
    np.testing.assert_array_equal(
        model.decision_function(problem.X), other.decision_function(stretched.X)
    )


def test_a_rising_transform_changes_no_training_score_with_quantile_bins():
    problem = random_problem(6, n_samples=800)
    stretched = Problem(np.exp(problem.X), problem.y, problem.weight, problem.costs)
    model, other = problem.fit(Tree(4)), stretched.fit(Tree(4))
    np.testing.assert_array_equal(
        model.decision_function(problem.X), other.decision_function(stretched.X)
    )


@given(problem=problems(values=fine), learner=learners)
@settings(max_examples=30)
def test_a_fit_repeated_gives_the_same_bits(problem, learner):
    options = {"subsample": 0.5, "feature_subsample": 0.5, "random_state": 3}
    assert_same(problem.fit(learner, **options), problem.fit(learner, **options))


@given(problem=problems(), learner=learners)
def test_a_feature_turned_around_ties_with_itself_and_the_first_one_wins(problem, learner):
    # Missing values apart: those are tried on the left side first.
    X = np.nan_to_num(problem.X, nan=9.0)
    model = Problem(X, problem.y, problem.weight, problem.costs).fit(learner)
    both = np.column_stack([X, -X])
    assert_same(model, Problem(both, problem.y, problem.weight, problem.costs).fit(learner))
