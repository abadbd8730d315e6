"""Costs that differ from sample to sample: given, held by columns, or learned."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rebelboost import CostError, RebelClassifier, load
from rebelboost.costs.by_sample import own_costs
from rebelboost.costs.judge import Judge
from rebelboost.evaluation import evaluate, left_out
from rebelboost.metrics import cost_scorer, mean_cost

CLASSES = ["fraud", "ok"]
COLUMN = {("fraud", "ok"): "amount"}


def payments(n, seed):
    """A missed fraud costs the amount of the payment, which is a column; a false alarm costs 1."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    X["amount"] = np.exp(rng.normal(size=n))
    chance = 1 / (1 + np.exp(-(1.5 * X["a"] + X["b"] * X["c"] - 1)))
    y = np.where(rng.random(n) < chance, "fraud", "ok")
    cube = np.zeros((n, 2, 2))
    cube[:, 0, 1], cube[:, 1, 0] = X["amount"], 1
    return X, y, cube


def paid(cube, y, decided):
    true = (y == "ok").astype(int)
    return cube[np.arange(len(y)), true, (decided == "ok").astype(int)].mean()


def rows(cube, y):
    return cube[np.arange(len(y)), (y == "ok").astype(int)]


@pytest.fixture(scope="module")
def training():
    return payments(600, 0)


@pytest.fixture(scope="module")
def test():
    return payments(4000, 1)


@pytest.fixture(scope="module")
def fitted(training):
    X, y, cube = training
    return RebelClassifier("tree", random_state=0).fit(X, y, costs=rows(cube, y))


@pytest.fixture(scope="module")
def by_mean(training):
    """The same, fitted to the means of each class."""
    X, y, cube = training
    means = np.array([[rows(cube, y)[y == name, k].mean() for k in (0, 1)] for name in CLASSES])
    return RebelClassifier("tree", costs=means).fit(X, y)


@pytest.fixture(scope="module")
def by_column(training):
    X, y, _ = training
    return RebelClassifier("tree", costs=COLUMN).fit(X, y)


def test_a_model_fitted_to_sample_costs_beats_one_fitted_to_their_class_means(
    fitted, by_mean, test
):
    X, y, cube = test
    learned, mean = paid(cube, y, fitted.predict(X)), paid(cube, y, by_mean.predict(X))
    assert learned < 0.85 * mean


def test_own_costs_at_predict_cost_no_more_than_learned_ones(fitted, test):
    X, y, cube = test
    assert paid(cube, y, fitted.predict(X, costs=cube)) < 1.02 * paid(cube, y, fitted.predict(X))


def test_own_costs_decide_by_the_least_expected_cost(fitted, test):
    X, _, cube = test
    expected = np.einsum("ny,nyk->nk", fitted.predict_proba(X), cube)
    np.testing.assert_array_equal(fitted.expected_cost(X, costs=cube), expected)
    decided = np.array(CLASSES)[expected.argmin(axis=1)]
    np.testing.assert_array_equal(fitted.predict(X, costs=cube), decided)


def test_a_row_of_costs_says_what_each_decision_costs_if_it_is_wrong(fitted, test):
    X, _, cube = test
    wrong = np.column_stack([np.ones(len(X)), X["amount"]])  # deciding fraud, deciding ok
    np.testing.assert_array_equal(fitted.predict(X, costs=wrong), fitted.predict(X, costs=cube))
    named = pl.DataFrame({"ok": wrong[:, 1], "fraud": wrong[:, 0]})
    np.testing.assert_array_equal(fitted.predict(X, costs=named), fitted.predict(X, costs=cube))


def test_a_column_prices_every_row_in_training_and_in_deciding(by_column, test):
    X, _, cube = test
    np.testing.assert_array_equal(by_column.predict(X), by_column.predict(X, costs=cube))
    np.testing.assert_array_equal(
        by_column.expected_cost(X), by_column.expected_cost(X, costs=cube)
    )


@pytest.mark.parametrize(
    "costs",
    [
        COLUMN,
        pd.DataFrame({"fraud": [0, 1], "ok": ["amount", 0]}, index=CLASSES),
        pl.DataFrame({"": CLASSES, "fraud": ["", "1"], "ok": ["amount", ""]}),
    ],
)
def test_a_cell_of_any_cost_table_may_name_a_column(training, by_column, costs):
    X, y, _ = training
    model = RebelClassifier("tree", costs=costs).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), by_column.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), by_column.predict(X))


def test_left_out_cost_is_that_of_the_decisions_as_they_will_be_made(training, by_column, test):
    X, y, cube = test
    found = by_column.cross_fit_.cost
    assert found == pytest.approx(paid(cube, y, by_column.predict(X)), rel=0.25)


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("amuont", r"'fraud' decided as 'ok' is 'amuont', neither a number nor a column .*amount"),
        ("kind", r"names the column 'kind', which holds text or categories"),
    ],
)
def test_a_cell_that_names_no_column_of_numbers_is_refused(training, cell, told):
    X, y, _ = training
    with pytest.raises(CostError, match=told):
        RebelClassifier("tree", costs={("fraud", "ok"): cell}).fit(X.assign(kind="card"), y)


@pytest.mark.parametrize(("amount", "told"), [(-3.0, "cost -3"), (np.nan, "cost missing")])
def test_amounts_that_cannot_be_costs_are_refused_with_their_row(by_column, test, amount, told):
    X = test[0].head(5).copy()
    X.loc[2, "amount"] = amount
    with pytest.raises(CostError, match=f"row 2 has the {told} in column 'amount'"):
        by_column.predict(X)


def test_arrays_have_no_columns_to_name(training):
    X, y, _ = training
    with pytest.raises(CostError, match="X is an array without names"):
        RebelClassifier("tree", costs=COLUMN).fit(X.to_numpy(), y)


def test_own_costs_are_checked():
    with pytest.raises(CostError, match=r"shape \(2, 3\); decisions on 2 samples between 2"):
        own_costs(np.ones((2, 3)), 2, CLASSES)
    with pytest.raises(CostError, match="deciding 'ok' for sample 1 is -1"):
        own_costs([[1, 2], [1, -1]], 2, CLASSES)
    with pytest.raises(CostError, match="right decision 'fraud' for sample 0 costs 1"):
        own_costs(np.ones((2, 2, 2)), 2, CLASSES)


def test_argmax_takes_no_own_costs(training):
    X, y, cube = training
    model = RebelClassifier("stump", decision="argmax", n_rounds=3).fit(X, y)
    with pytest.raises(ValueError, match='need decision="min_risk"'):
        model.predict(X, costs=cube)


def test_explanations_tell_the_samples_own_costs(by_column, test):
    X, _, cube = test
    dear = X.head(1).assign(amount=1000.0)
    why = by_column.explain(dear)[0]
    assert why.decision == "fraud"
    assert "expected cost" in why.text()
    np.testing.assert_array_equal(why.expected_costs, by_column.expected_cost(dear)[0])
    own = by_column.explain(X.head(1), costs=cube[:1] * 7)[0]
    np.testing.assert_allclose(own.expected_costs, 7 * by_column.expected_cost(X.head(1))[0])


@pytest.mark.parametrize("name", ["fitted", "by_column"])
def test_costs_by_sample_are_kept_in_files(name, test, tmp_path, request):
    model, X = request.getfixturevalue(name), test[0]
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.expected_cost(X), model.expected_cost(X))
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    load(tmp_path / "model").save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    json.dumps(model.to_dict(), allow_nan=False)


def test_other_costs_take_the_place_of_those_by_sample(fitted, test):
    X = test[0]
    other = fitted.with_costs({("fraud", "ok"): 5})
    np.testing.assert_array_equal(other.costs_, [[0, 5], [1, 0]])
    assert not other.model_.by_sample
    back = other.with_costs(COLUMN)
    np.testing.assert_array_equal(back.predict(X), fitted.predict(X, costs=test[2]))


def test_costs_are_routed_through_pipelines_and_searches(training):
    X, y, cube = training
    own = rows(cube, y)
    with sklearn.config_context(enable_metadata_routing=True):
        model = RebelClassifier("tree", n_rounds=10, cross_fit=None, training="neutral")
        model.set_fit_request(costs=True).set_predict_request(costs=True)
        scorer = cost_scorer(None).set_score_request(costs=True)
        search = GridSearchCV(
            make_pipeline(StandardScaler(), model),
            {"rebelclassifier__shrinkage": [0.1, 0.3]},
            scoring=scorer,
            cv=3,
        )
        search.fit(X, y, costs=own)
        scaler, best = (step for _, step in search.best_estimator_.steps)
        decided = search.best_estimator_.predict(X, costs=cube)
        np.testing.assert_array_equal(decided, best.predict(scaler.transform(X), costs=cube))
        assert (decided != search.best_estimator_.predict(X)).any()
        table = pd.DataFrame(own, columns=CLASSES)
        scores = cross_val_score(model, X, y, scoring=scorer, params={"costs": table.to_numpy()})
    assert np.isfinite(scores).all()
    assert mean_cost(y, decided, table) == mean_cost(y, decided, own)


def test_many_classes_learn_a_factor_of_each_row():
    rng = np.random.default_rng(0)
    n, n_classes = 900, 6
    y = rng.integers(n_classes, size=n)
    X = np.column_stack([y + rng.normal(size=n), np.exp(rng.normal(size=n))])
    costs = np.where(np.arange(n_classes) == y[:, np.newaxis], 0, X[:, 1:])
    model = RebelClassifier("tree").fit(X, y, costs=costs)
    assert {cell.decided for cell in model.model_.learned.cells} == {-1}
    cube = model.model_.costs_of(X)
    size = cube.sum(axis=(1, 2))
    assert np.corrcoef(size, X[:, 1])[0, 1] > 0.9


# ---- evaluation


def test_evaluation_decides_and_prices_each_sample_by_its_own_costs(by_column, fitted, test):
    X, y, cube = test
    for model, given in ((by_column, None), (fitted, cube)):
        found = evaluate(model, X, y, costs=given)
        assert found.cost.value == pytest.approx(paid(cube, y, model.predict(X, costs=given)))
        assert found.cost.low < found.cost.value < found.cost.high
        report = found.confusion
        assert (report.counts * report.costs).sum() / len(y) == pytest.approx(found.cost.value)


@pytest.mark.parametrize("unit", [1.0, 2.0**-20])
def test_a_mistake_that_was_not_made_is_priced_by_its_class_in_any_unit_of_weight(
    unit, fitted, test
):
    X, y, cube = test
    (caught,) = np.nonzero(fitted.predict(X, costs=cube) == "fraud")
    X, y, cube = X.iloc[caught], y[caught], cube[caught]
    weight = 1.0 + np.arange(len(y)) % 3
    report = evaluate(fitted, X, y, costs=cube, sample_weight=unit * weight).confusion
    assert report.counts[:, 1].tolist() == [0, 0]
    frauds = y == "fraud"
    mean = np.average(X["amount"][frauds], weights=weight[frauds])
    np.testing.assert_allclose(report.costs, [[0, mean], [1, 0]], rtol=1e-12)


def test_a_sample_of_whole_weight_is_judged_as_that_many_samples():
    rng = np.random.default_rng(0)
    labels, decided = rng.integers(3, size=(2, 20)).astype(np.int32)
    costs = np.where(np.arange(3) == labels[:, np.newaxis], 0.0, rng.integers(1, 8, size=(20, 3)))
    times = rng.integers(1, 4, size=20)
    judge = Judge(labels, costs, times.astype(float), by_sample=True)
    several = Judge(labels.repeat(times), costs.repeat(times, axis=0), None, by_sample=True)
    assert judge.judge(decided) == several.judge(decided.repeat(times))


def test_left_out_samples_are_decided_by_their_own_costs(by_column, training):
    X, y, cube = training
    told, given = left_out(by_column, y, X=X), left_out(by_column, y, costs=cube)
    assert told.cost.value == given.cost.value == pytest.approx(by_column.cross_fit_.cost)
