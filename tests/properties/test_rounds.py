"""Rounds taken apart: warm starts, stages, and the state of training."""

import numpy as np
import pytest
from hypothesis import given, settings

from ensembles import assert_same, assert_same_terms
from problems import learners, problems, random_problem, subcosts
from rebelboost import RebelClassifier, Stump, Tree
from rebelboost.boosting.loop import boost
from rebelboost.boosting.objectives import ClassObjective
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import REFRESH
from rebelboost.data.samples import Samples
from rebelboost.model.ensemble import Ensemble
from rebelboost.rows.base import MemoryRows

LEARNERS = [Stump(), Tree(depth=2, outputs="tree"), Tree(depth=3)]


@pytest.mark.parametrize(("first", "then"), [(20, 50), (50, 100), (REFRESH, 100)])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_warm_start_gives_the_bits_of_one_fit(learner, first, then):
    problem = random_problem(0)
    options = {"costs": problem.costs, "subsample": 0.8, "random_state": 1, "decision": "argmax"}
    data = problem.X, problem.y, problem.weight
    whole = RebelClassifier(learner, n_rounds=then, **options).fit(*data)
    parts = RebelClassifier(learner, n_rounds=first, warm_start=True, **options).fit(*data)
    assert len(parts.ensemble_) == first
    parts.set_params(n_rounds=then).fit(*data)
    assert_same(whole, parts)
    assert [r.log_loss for r in whole.history_] == [r.log_loss for r in parts.history_]
    assert [r.index for r in parts.history_] == list(range(then))


def test_a_warm_start_with_enough_rounds_already_changes_nothing():
    problem = random_problem(0)
    model = problem.fit(Stump(), n_rounds=10, warm_start=True)
    before = model.ensemble_
    model.set_params(n_rounds=5).fit(problem.X, problem.y, problem.weight)
    assert_same_terms(model.ensemble_, before)


def test_a_warm_start_with_other_classes_is_refused():
    problem = random_problem(0)
    model = problem.fit(Stump(), n_rounds=3, warm_start=True)
    with pytest.raises(ValueError, match=r"\[0, 1, 2\], but y has \[1, 2, 3\]: set warm_start=Fal"):
        model.fit(problem.X, problem.y + 1)


@given(problem=problems(), learner=learners)
@settings(max_examples=30)
def test_staged_scores_and_predictions_end_at_the_final_ones(problem, learner):
    model = problem.fit(learner)
    scores = list(model.staged_decision_function(problem.X))
    predictions = list(model.staged_predict(problem.X))
    assert len(scores) == len(predictions) == len(model.ensemble_)
    if scores:
        np.testing.assert_array_equal(scores[-1], model.decision_function(problem.X))
        np.testing.assert_array_equal(predictions[-1], model.predict(problem.X))


@given(problem=problems(), learner=learners)
@settings(max_examples=30)
def test_stages_are_what_fewer_rounds_would_have_given(problem, learner):
    model, shorter = problem.fit(learner, n_rounds=8), problem.fit(learner, n_rounds=3)
    stages = list(model.staged_decision_function(problem.X))[: len(shorter.ensemble_)]
    for stage, same in zip(stages, shorter.staged_decision_function(problem.X), strict=True):
        np.testing.assert_array_equal(stage, same)


@given(problem=problems(), learner=learners, subcosts=subcosts)
def test_predicted_scores_of_training_rows_are_those_of_training(problem, learner, subcosts):
    set_up = Samples(problem.X, problem.y.astype(np.int32), problem.costs, weight=problem.weight)
    objective = ClassObjective(subcosts=subcosts)
    prepared = learner.prepare(MemoryRows.of(set_up))
    state = objective.state(prepared.rows)
    terms = boost(prepared, state, Settings(learner, 10))
    ensemble = Ensemble.of(terms, len(problem.costs))
    np.testing.assert_array_equal(ensemble.scores(problem.X), state.scores)
    if terms:
        np.testing.assert_array_equal(np.argmax(state.scores, axis=1), state.scored.decided)
