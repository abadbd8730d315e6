from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rebelboost import CostError, RebelClassifier, Stump, Tree
from rebelboost.boosting.rounds import Held, RoundBatch
from rebelboost.boosting.settings import Settings
from rebelboost.data.folds import folds
from rebelboost.data.samples import Samples
from rebelboost.datasets import planar_mixture, random_costs
from rebelboost.selection.fold_callbacks import NoImprovement

SET = planar_mixture(0)
X, y = SET.X_train[:300], SET.y_train[:300]
K = len(np.unique(y))
COSTS = random_costs(K, seed=0)


def classifier(**options):
    return RebelClassifier(**{"learner": Tree(depth=2), "n_rounds": 30, "costs": COSTS} | options)


@pytest.fixture(scope="module")
def fitted():
    return classifier().fit(X, y)


def test_unequal_costs_are_cross_fitted_by_default(fitted):
    assert fitted.cross_fit_ is not None
    (standing,) = fitted.cross_fit_.standings
    rounds = standing.rounds
    assert rounds <= 30
    assert len(fitted.ensemble_) <= 10 * rounds + 1  # ten fits, and an offset


@pytest.mark.parametrize(
    "options",
    [
        {"costs": None},
        {"decision": "argmax"},
        {"cross_fit": None},
        {"early_stopping": True},
        {"warm_start": True},
    ],
)
def test_where_the_decision_needs_no_probabilities_there_is_one_fit(options):
    assert classifier(n_rounds=3, **options).fit(X, y).cross_fit_ is None


def test_fewer_than_twelve_samples_are_not_cross_fitted():
    first = np.unique(y, return_index=True)[1]  # of each class
    few = np.union1d(first, np.arange(11 - len(first)))[:11]
    assert set(y[few]) == set(y)
    assert classifier(n_rounds=3).fit(X[few], y[few]).cross_fit_ is None


def test_probabilities_sum_to_one_and_decisions_have_the_least_expected_cost(fitted):
    P, risks = fitted.predict_proba(SET.X_test), fitted.expected_cost(SET.X_test)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(risks, P @ COSTS)
    np.testing.assert_array_equal(fitted.predict(SET.X_test), np.argmin(risks, axis=1))


def test_other_costs_change_decisions_and_not_probabilities(fitted):
    other = fitted.with_costs(COSTS.T)
    np.testing.assert_array_equal(other.predict_proba(SET.X_test), fitted.predict_proba(SET.X_test))
    risks = fitted.predict_proba(SET.X_test) @ COSTS.T
    np.testing.assert_array_equal(other.predict(SET.X_test), np.argmin(risks, axis=1))
    np.testing.assert_array_equal(fitted.costs_, COSTS)


def test_the_number_of_threads_changes_no_bit_of_a_cross_fit(fitted):
    other = classifier(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(other.ensemble_.scores(X), fitted.ensemble_.scores(X))


def test_the_order_of_samples_changes_no_bit_of_a_cross_fit(fitted):
    order = np.random.default_rng(0).permutation(len(X))
    other = classifier().fit(X[order], y[order])
    np.testing.assert_array_equal(other.ensemble_.scores(X), fitted.ensemble_.scores(X))


def test_scaled_costs_give_the_same_decisions(fitted):
    other = classifier(costs=1000 * COSTS).fit(X, y)
    np.testing.assert_array_equal(other.predict(SET.X_test), fitted.predict(SET.X_test))


@pytest.mark.parametrize("training", ["costs", "neutral", "auto"])
def test_every_way_of_training_decides_by_the_costs(training):
    found = classifier(training=training).fit(X, y)
    risks = found.expected_cost(SET.X_test)
    np.testing.assert_array_equal(found.predict(SET.X_test), np.argmin(risks, axis=1))


NEUTRAL = 1 - np.eye(K)


@pytest.mark.parametrize(
    ("options", "trained_on"),
    [
        ({}, NEUTRAL),
        ({"training": "neutral", "cross_fit": None}, NEUTRAL),
        ({"training": "costs"}, COSTS),
        ({"cross_fit": None}, COSTS),
        ({"decision": "argmax"}, COSTS),
        ({"decision": "argmax", "cross_fit": 3}, COSTS),
        ({"early_stopping": True}, COSTS),
    ],
)
def test_auto_trains_neutrally_only_where_a_cross_fits_posterior_decides(options, trained_on):
    found = classifier(n_rounds=3, **options).fit(X, y)
    np.testing.assert_array_equal(found.decoder_.costs, trained_on)


def test_costs_change_nothing_but_the_decision_where_training_is_neutral(fitted):
    other = classifier(costs=COSTS.T).fit(X, y)
    np.testing.assert_array_equal(other.ensemble_.scores(X), fitted.ensemble_.scores(X))
    np.testing.assert_array_equal(
        other.predict(SET.X_test), fitted.with_costs(COSTS.T).predict(SET.X_test)
    )


def test_a_part_goes_on_while_the_loss_or_the_cost_of_what_it_left_out_falls():
    def stops(losses, costs, stages=(1, 2, 3, 4)):
        state = SimpleNamespace(n_terms=0)
        rule, held = NoImprovement(state, stages, patience=2), []
        for state.n_terms, (loss, cost) in enumerate(zip(losses, costs, strict=True), 1):
            record = SimpleNamespace(index=state.n_terms - 1, held=Held(loss, cost, cost))
            held.append(rule.on_rounds(RoundBatch(record)))
        return held

    assert stops([3, 2, 1, 0], [1, 1, 1, 1]) == [False] * 4
    assert stops([1, 2, 3, 4], [4, 3, 2, 1]) == [False] * 4
    assert stops([1, 2, 3, 4], [1, 1, 1, 1]) == [False, False, True, True]
    assert stops([1, 2, 3, 4], [1, 1, 1, 1], stages=[1, 4]) == [False, False, False, True]


def test_parts_draw_their_own_random_numbers():
    first, second = (Settings(Tree(), 1, part=part).draws().at(0).random() for part in (0, 1))
    assert first != second


def test_least_risk_costs_less_than_the_papers_argmax():
    paid = {}
    for decision in ("min_risk", "argmax"):
        found = RebelClassifier(costs=COSTS, decision=decision, n_rounds=100, n_jobs=2)
        decided = found.fit(SET.X_train, SET.y_train).predict(SET.X_test)
        paid[decision] = COSTS[SET.y_test, decided].mean()
    assert paid["min_risk"] < paid["argmax"]


@pytest.mark.parametrize("label", ["ask a person", -1])
def test_it_abstains_where_every_decision_is_expected_to_cost_more(label, fitted):
    sure = fitted.predict(SET.X_test)
    fitted.set_params(reject_cost=0.2, reject_label=label)
    try:
        decided = fitted.predict(SET.X_test)
    finally:
        fitted.set_params(reject_cost=None, reject_label=None)
    unsure = fitted.expected_cost(SET.X_test).min(axis=1) > 0.2
    assert unsure.any()
    assert all(each == label for each in decided[unsure])
    np.testing.assert_array_equal(decided[~unsure].astype(int), sure[~unsure])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cross_fit": 5, "early_stopping": True}, "cannot be combined with early_stopping"),
        ({"cross_fit": 5, "warm_start": True}, "cannot be combined with warm_start"),
        ({"reject_cost": 1.0}, "needs a reject_label"),
    ],
)
def test_parameters_that_contradict_one_another_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        classifier(**options).fit(X, y)


def test_cost_rows_of_each_sample_train_and_decide_by_their_class_means():
    rows = COSTS[y] * np.random.default_rng(0).uniform(0.5, 2, (len(y), 1))
    found = RebelClassifier(Stump(), n_rounds=20).fit(X, y, costs=rows)
    for k in range(K):
        np.testing.assert_allclose(found.costs_[k], rows[y == k].mean(axis=0))
    np.testing.assert_array_equal(
        found.predict(SET.X_test), np.argmin(found.expected_cost(SET.X_test), axis=1)
    )


def test_folds_share_out_every_class():
    problem = Samples(X, y.astype(np.int32), COSTS)
    left_out = np.array([part.out for part in folds(problem, 5, seed=0)])
    np.testing.assert_array_equal(left_out.sum(axis=0), 1)
    for k in range(K):
        counts = left_out[:, y == k].sum(axis=1)
        assert counts.max() - counts.min() <= 1


def test_rebel_subcosts_decide_by_expected_cost_or_by_argmax():
    found = classifier(subcosts="rebel", training="costs", cross_fit=None).fit(X, y)
    risks = found.expected_cost(SET.X_test)
    np.testing.assert_array_equal(found.predict(SET.X_test), risks.argmin(axis=1))
    found.set_params(decision="argmax")
    decided = np.argmax(found.ensemble_.scores(SET.X_test), axis=1)
    np.testing.assert_array_equal(found.predict(SET.X_test), decided)


def test_rebel_subcosts_can_be_cross_fitted():
    found = classifier(subcosts="rebel", training="costs", cross_fit=3).fit(X, y)
    assert found.cross_fit_.log_loss < np.log(K)
    assert found.decoder_.subcosts == "rebel"
    single = classifier(subcosts="rebel", training="costs", cross_fit=None).fit(X, y)

    def log_loss(model):
        own = model.predict_proba(SET.X_test)[np.arange(len(SET.y_test)), SET.y_test]
        return -np.log(np.maximum(own, 1e-15)).mean()

    assert log_loss(found) < log_loss(single)


def test_a_dict_of_new_costs_keeps_the_cells_that_it_does_not_name():
    X = pd.DataFrame({"x": np.random.default_rng(0).normal(size=90), "amount": 3.0})
    y = np.repeat(["a", "b", "c"], 30)
    first = RebelClassifier("stump", n_rounds=3, costs={("a", "b"): 7, ("b", "c"): "amount"})
    clf = first.fit(X, y)
    other = clf.with_costs({("c", "a"): 9})
    assert other.costs_.tolist() == [[0, 7, 1], [1, 0, 1], [9, 1, 0]]
    assert other.model_.columns == clf.model_.columns, "costs in columns are kept too"
    assert other.costs == {**other.costs, ("a", "b"): 7, ("b", "c"): "amount", ("c", "a"): 9}
    fixed = other.with_costs({("b", "c"): 4})
    assert fixed.costs_.tolist() == [[0, 7, 1], [1, 0, 4], [9, 1, 0]]
    assert fixed.model_.columns is None
    with pytest.raises(CostError, match="'d'"):
        clf.with_costs({("a", "d"): 2})
