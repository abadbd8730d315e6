"""scikit-learn's searches: the scorer, and cost rows by metadata routing."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from rebelboost import RebelClassifier, Stump
from rebelboost.metrics import cost_scorer, mean_cost

RNG = np.random.default_rng(0)
Y = np.repeat(["bad", "fair", "good"], [20, 30, 40])[RNG.permutation(90)]
X = RNG.normal(size=(90, 2)) + np.searchsorted(["bad", "fair", "good"], Y)[:, np.newaxis]
COSTS = np.array([[0, 3, 9], [1, 0, 3], [1, 1, 0]])
ROWS = COSTS[np.searchsorted(["bad", "fair", "good"], Y)] * RNG.uniform(0.5, 2, size=(90, 1))
FOLDS = KFold(3)


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


routed = pytest.mark.usefixtures("_routing")


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the cost rows that it was given, and decides as told."""

    def __init__(self, decision="good"):
        self.decision = decision

    def fit(self, X, y, costs=None):
        self.classes_, self.costs_ = np.unique(y), costs
        return self

    def predict(self, X):
        return np.full(len(X), self.decision)


# ---- the scorer


def test_the_scorer_is_the_negative_mean_cost():
    model = RebelClassifier(Stump(), n_rounds=5).fit(X, Y)
    scorer = cost_scorer(COSTS)
    assert scorer(model, X, Y) == -mean_cost(Y, model.predict(X), COSTS)
    weight = np.arange(90)
    by_weight = mean_cost(Y, model.predict(X), COSTS, sample_weight=weight)
    assert scorer(model, X, Y, sample_weight=weight) == -by_weight
    assert repr(scorer).startswith("CostScorer(costs=array([[0, 3, 9],")


def test_a_grid_search_finds_the_decision_that_costs_least():
    strategies = {"constant": ["bad", "fair", "good"]}
    search = GridSearchCV(
        DummyClassifier(strategy="constant"), strategies, scoring=cost_scorer(COSTS), cv=FOLDS
    ).fit(X, Y)
    means = {k: mean_cost(Y, np.full(90, k), COSTS) for k in strategies["constant"]}
    assert search.best_params_ == {"constant": min(means, key=means.get)}
    # Folds of equal size: the mean over folds is the mean over samples, but for rounding.
    np.testing.assert_allclose(search.best_score_, -min(means.values()), rtol=1e-14)
    assert search.score(X, Y) == -min(means.values())


def test_a_grid_search_over_our_own_classifier_uses_it():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), RebelClassifier(Stump(), costs=COSTS)),
        {"rebelclassifier__n_rounds": [1, 10]},
        scoring=cost_scorer(COSTS),
        cv=FOLDS,
    ).fit(X, Y)
    assert -1 < search.best_score_ < 0
    assert search.score(X, Y) == -mean_cost(Y, search.predict(X), COSTS)


def test_the_order_of_a_matrix_is_the_estimators_even_where_a_fold_lacks_classes():
    model = RebelClassifier(Stump(), n_rounds=3).fit(X, Y)
    some = Y == "fair"
    labels = ["bad", "fair", "good"]
    expected = -mean_cost(Y[some], model.predict(X[some]), COSTS, labels=labels)
    assert cost_scorer(COSTS)(model, X[some], Y[some]) == expected
    assert cost_scorer(COSTS, labels=labels)(model, X[some], Y[some]) == expected
    turned = cost_scorer(COSTS[::-1, ::-1], labels=labels[::-1])
    assert turned(model, X[some], Y[some]) == expected


def test_several_scorers_work_side_by_side_and_survive_cloning():
    scoring = {"cost": cost_scorer(COSTS), "error": cost_scorer(None), "accuracy": "accuracy"}
    model = RebelClassifier(Stump(), n_rounds=3)
    results = cross_validate(model, X, Y, scoring=scoring, cv=FOLDS)
    np.testing.assert_allclose(1 + results["test_error"], results["test_accuracy"], rtol=1e-14)
    alone = cross_val_score(model, X, Y, scoring=clone(scoring["cost"]), cv=FOLDS)
    np.testing.assert_array_equal(alone, results["test_cost"])


def test_the_scorer_prices_abstentions():
    costs = {"reject_cost": 0.25, "reject_label": "ask"}
    model = Recorder("ask").fit(X, Y)
    assert cost_scorer(COSTS, **costs)(model, X, Y) == -0.25


# ---- cost rows by metadata routing


@routed
def test_cost_rows_reach_fit_through_a_pipeline():
    model = RebelClassifier(Stump(), n_rounds=5)
    direct = clone(model).fit(StandardScaler().fit_transform(X), Y, costs=ROWS)
    pipeline = Pipeline(
        [("scale", StandardScaler()), ("model", model.set_fit_request(costs=True))]
    ).fit(X, Y, costs=ROWS)
    np.testing.assert_array_equal(pipeline.decision_function(X), direct_scores(direct))
    without = Pipeline([("scale", StandardScaler()), ("model", clone(model))]).fit(X, Y)
    assert not np.array_equal(without.decision_function(X), pipeline.decision_function(X))


def direct_scores(model):
    return model.decision_function(StandardScaler().fit_transform(X))


@routed
@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_a_search_cuts_cost_rows_along_with_the_samples(form):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), Recorder().set_fit_request(costs=True)),
        {"recorder__decision": ["good", "bad"]},
        cv=FOLDS,
    ).fit(X, Y, costs=form(ROWS))
    np.testing.assert_array_equal(search.best_estimator_[-1].costs_, ROWS)
    results = cross_validate(
        Recorder().set_fit_request(costs=True),
        X,
        Y,
        params={"costs": form(ROWS)},
        cv=FOLDS,
        return_estimator=True,
    )
    for (train, _), fitted in zip(FOLDS.split(X), results["estimator"], strict=True):
        np.testing.assert_array_equal(fitted.costs_, ROWS[train])


@routed
def test_our_classifier_trains_on_cost_rows_within_a_search():
    model = RebelClassifier(Stump(), n_rounds=4).set_fit_request(costs=True)
    results = cross_validate(
        model, X, Y, params={"costs": ROWS}, cv=FOLDS, return_estimator=True, error_score="raise"
    )
    for (train, _), fitted in zip(FOLDS.split(X), results["estimator"], strict=True):
        direct = RebelClassifier(Stump(), n_rounds=4).fit(X[train], Y[train], costs=ROWS[train])
        np.testing.assert_array_equal(fitted.decision_function(X), direct.decision_function(X))
    search = GridSearchCV(model, {"n_rounds": [2, 4]}, cv=FOLDS, error_score="raise")
    best = search.fit(X, Y, costs=ROWS).best_estimator_
    direct = clone(best).fit(X, Y, costs=ROWS)
    np.testing.assert_array_equal(best.decision_function(X), direct.decision_function(X))


@routed
def test_the_scorer_may_ask_for_cost_rows_and_weights_too():
    scorer = cost_scorer(None).set_score_request(costs=True, sample_weight=True)
    weight = RNG.uniform(size=90)
    model = Recorder().set_fit_request(costs=True)
    results = cross_validate(
        model,
        X,
        Y,
        params={"costs": ROWS, "sample_weight": weight},
        scoring=scorer,
        cv=FOLDS,
        error_score="raise",
    )
    expected = [-np.average(ROWS[t, 2], weights=weight[t]) for _, t in FOLDS.split(X)]
    np.testing.assert_allclose(results["test_score"], expected, rtol=1e-14)


@routed
def test_cost_rows_that_nobody_asked_for_are_refused():
    with pytest.raises(ValueError, match=r"\[costs\] are passed but are not explicitly set"):
        GridSearchCV(RebelClassifier(), {"n_rounds": [1]}, cv=FOLDS).fit(X, Y, costs=ROWS)
