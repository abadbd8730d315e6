"""Few distinct rows, lone classes, unlucky draws: what a review found broken."""

import numpy as np
import pytest

from rebelboost import RareClassWarning, RebelClassifier, Stump, Tree, UnknownCategoryWarning
from rebelboost.data.folds import folds, held_out_part
from rebelboost.data.samples import Samples

COSTS = np.array([[0, 1.0], [2.0, 0]])


def binary_table(n_samples=200):
    x = np.arange(n_samples) % 2
    return x[:, np.newaxis].astype(float), x


@pytest.mark.parametrize("options", [{"costs": COSTS, "cross_fit": 5}, {"early_stopping": True}])
def test_equal_rows_are_spread_over_the_parts(options):
    X, y = binary_table()
    assert RebelClassifier(n_rounds=20, **options).fit(X, y).score(X, y) == 1.0


def test_a_table_of_few_distinct_rows_is_learned_with_costs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 2)).astype(float)
    y = (X[:, 0] + 2 * X[:, 1]).astype(int) % 3
    costs = np.array([[0, 1, 2], [1, 0, 1], [5, 1, 0.0]])
    assert RebelClassifier(costs=costs, n_rounds=50).fit(X, y).score(X, y) == 1.0


def test_no_part_leaves_out_the_last_of_a_class():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(120, 3)), np.repeat([0, 1, 2], [118, 1, 1]).astype(np.int32)
    problem = Samples(X, labels, 1 - np.eye(3))
    for part in [*folds(problem, 5, seed=0), held_out_part(problem, 0.2, seed=0)]:
        assert set(labels[part.kept > 0]) == {0, 1, 2}


def test_a_class_with_one_sample_is_served_with_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 2)), np.repeat([0, 1, 2], [80, 69, 1])
    costs = np.array([[0, 1, 1], [2, 0, 1], [1, 1, 0.0]])
    with pytest.warns(RareClassWarning, match="class 2 has only one sample"):
        model = RebelClassifier(costs=costs, n_rounds=10).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("learner", [Stump(), Tree(depth=2)])
def test_a_fruitless_draw_does_not_end_training(learner):
    y = np.arange(100) % 2
    X = np.zeros((100, 10))
    X[:, 7] = y
    model = RebelClassifier(learner, n_rounds=40, feature_subsample=0.1).fit(X, y)
    assert model.score(X, y) == 1.0


def test_a_category_that_a_part_never_saw_goes_where_missing_values_go():
    pd = pytest.importorskip("pandas")
    letters = np.array(list("abc") * 40 + ["z"])
    X = pd.DataFrame({"letter": letters})
    y = (letters != "a").astype(int)
    weight = (letters != "z").astype(float)
    model = RebelClassifier("stump", n_rounds=5).fit(X, y, sample_weight=weight)
    known, missing = model.decision_function(pd.DataFrame({"letter": ["z", None]}))
    assert known == missing
    with pytest.warns(UnknownCategoryWarning, match="such as 'never'"):
        assert model.decision_function(pd.DataFrame({"letter": ["never"]})) == missing


def test_rebel_subcosts_on_unequal_costs_are_fitted_once_and_have_probabilities():
    X, y = binary_table()
    y = np.where(np.arange(len(y)) % 7 == 0, 2, y)
    costs = np.array([[0, 1, 5], [2, 0, 1], [1, 1, 0.0]])
    model = RebelClassifier(costs=costs, subcosts="rebel", n_rounds=5).fit(X, y)
    assert model.cross_fit_ is None
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(model.expected_cost(X), P @ costs)
    other = costs[::-1, ::-1]
    np.testing.assert_array_equal(model.with_costs(other).predict(X), np.argmin(P @ other, axis=1))


def test_an_average_cannot_go_on():
    X, y = np.arange(200.0)[:, np.newaxis], np.arange(200) % 2
    model = RebelClassifier(costs=COSTS, n_rounds=5).fit(X, y)
    with pytest.raises(ValueError, match="cannot be continued"):
        model.set_params(warm_start=True, n_rounds=10).fit(X, y)


def test_the_order_of_samples_changes_no_temperature():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    order = rng.permutation(300)
    one = RebelClassifier(Tree(2), costs=COSTS, n_rounds=20).fit(X, y)
    other = RebelClassifier(Tree(2), costs=COSTS, n_rounds=20).fit(X[order], y[order])
    assert one.decoder_.temperature == other.decoder_.temperature


def test_staged_decisions_abstain_as_the_last_one_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    model = RebelClassifier(Tree(2), costs=COSTS, n_rounds=5, reject_cost=0.3, reject_label=-1).fit(
        X, y
    )
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    assert (last == -1).any()
