"""The fitted model that an estimator holds: what it answers, and that nobody can change it by accident."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from rebelboost import RebelClassifier, RebelRegressor, Similarity, Tree
from rebelboost.costs.decision import RULES
from rebelboost.estimators.base import encode_table, table_scores
from rebelboost.model.fitted import FittedClassifier, FittedRegressor
from stored_models import numbers, table

COSTS = np.array([[0, 1, 5], [2, 0, 1], [1, 9, 0.0]])
OF_CLASSIFIERS = [
    "classes_",
    "costs_",
    "ensemble_",
    "decoder_",
    "class_weight_",
    "subcosts_",
    "row_labels_",
    "example_classes_",
    "missing_features_",
    "training_facts_",
]


@pytest.fixture(scope="module")
def classifier():
    X, y = table()
    costs = {("bad", "good"): 5.0}
    return RebelClassifier(Tree(2), n_rounds=5, costs=costs, cross_fit=None).fit(X, y)


def test_an_estimator_answers_as_its_model_does(classifier):
    X, _ = table()
    model, values = classifier.model_, encode_table(classifier, X)
    scores = model.scores(values)
    np.testing.assert_array_equal(scores, table_scores(classifier, X))
    np.testing.assert_array_equal(scores, classifier.decision_function(X))
    np.testing.assert_array_equal(model.posterior(scores), classifier.predict_proba(X))
    np.testing.assert_array_equal(model.expected_cost(scores), classifier.expected_cost(X))
    np.testing.assert_array_equal(model.labels(scores), classifier.predict(X))
    np.testing.assert_array_equal(model.classes[model.decide(scores)], classifier.predict(X))
    staged = zip(model.staged_scores(values), classifier.staged_predict(X), strict=True)
    for after, decided in staged:
        np.testing.assert_array_equal(model.labels(after), decided)


def test_a_regressor_answers_as_its_model_does():
    X, y = numbers()
    regressor = RebelRegressor(n_rounds=5).fit(X, y)
    model = regressor.model_
    assert isinstance(model, FittedRegressor)
    assert model.baseline == regressor.baseline_
    np.testing.assert_array_equal(model.predict(X), regressor.predict(X))
    np.testing.assert_array_equal(list(model.staged_predict(X)), list(regressor.staged_predict(X)))


@pytest.mark.parametrize("decision", RULES)
@pytest.mark.parametrize("costs", [None, COSTS])
def test_every_rule_decides_and_is_kept_in_a_file(decision, costs, tmp_path):
    from rebelboost import load

    X, y = numbers()
    model = RebelClassifier("stump", n_rounds=5, decision=decision, costs=costs).fit(X, y)
    assert set(model.predict(X)) <= {0, 1, 2}
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.model_.rule == model.model_.rule
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert model.to_dict()["decision"] == decision


def test_a_rule_is_refused_that_the_table_does_not_have():
    with pytest.raises(ValueError, match=r"'decision' parameter .* must be a str among"):
        RebelClassifier(decision="guess").fit(*numbers())


def test_decisions_follow_the_parameters_as_they_are_now():
    X, y = numbers()
    model = RebelClassifier("stump", n_rounds=5, costs=COSTS, cross_fit=None).fit(X, y)
    by_cost = model.predict(X)
    model.set_params(decision="argmax")
    assert not model.model_.rule.by_cost
    np.testing.assert_array_equal(model.predict(X), table_scores(model, X).argmax(axis=1))
    model.set_params(decision="min_risk", reject_cost=0.0, reject_label=-1)
    assert set(model.predict(X)) == {-1}
    model.set_params(reject_cost=None)
    np.testing.assert_array_equal(model.predict(X), by_cost)


@pytest.mark.parametrize("name", OF_CLASSIFIERS)
def test_what_was_learned_can_be_read_but_not_overwritten(classifier, name):
    getattr(classifier, name)
    with pytest.raises(AttributeError):
        setattr(classifier, name, None)
    assert not hasattr(RebelClassifier(), name)


def test_a_model_is_frozen(classifier):
    assert isinstance(classifier.model_, FittedClassifier)
    with pytest.raises(FrozenInstanceError):
        classifier.model_.costs = COSTS
    assert repr(classifier.model_) == "FittedClassifier(5 terms, 4 features)"


def test_a_fit_that_fails_leaves_an_estimator_unfitted_or_with_its_model():
    X, y = numbers()
    fresh = RebelClassifier("stump", n_rounds=3, costs=np.eye(7))
    with pytest.raises(ValueError, match="7"):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    fresh.set_params(costs=None).fit(X, y)
    before = fresh.predict(X)
    with pytest.raises(ValueError, match="7"):
        fresh.set_params(costs=np.eye(7)).fit(X, y)
    np.testing.assert_array_equal(fresh.predict(X), before)


def test_rows_get_other_names_in_a_copy():
    X, y = numbers()
    model = RebelClassifier(Similarity(scale="standard"), n_rounds=5).fit(X, y)
    named = model.with_row_labels({row: f"house {row}" for row in model.example_classes_})
    assert "house" in str(named.summary())
    assert "house" not in str(model.summary())
    np.testing.assert_array_equal(named.predict(X), model.predict(X))


def test_a_pickled_estimator_has_the_same_model(classifier):
    X, _ = table()
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))
    assert again.model_.provenance == classifier.model_.provenance
