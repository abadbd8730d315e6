"""What holds in every round for the logistic, squared, absolute and Huber losses."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ensembles import assert_same, assert_same_terms
from problems import Problem, learners, problems, random_problem, subcosts
from rebelboost import RebelRegressor, Stump, Tree, kernels
from rebelboost.rows.slopes import PRECISION

family = st.sampled_from(["logistic", "squared"])
REGRESSION_LOSSES = ["squared", "absolute", "huber"]
# The loss falls to e⁻³³ in eight rounds: slopes are then as small as the rounding errors of 1.
FALLS_FAR = Problem(
    np.array([[1.0, 0.0], [0.0, -1.0], [0.0, 1.0], [0.0, 0.0]]),
    np.array([0, 1, 2, 0]),
    np.array([1.0, 1.0, 1.0, 0.0]),
    np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]),
)
trees = st.sampled_from([Tree(1), Tree(3), Tree(4, smoothing=0.0)])


@given(problem=problems(), learner=learners, loss=family, subcosts=subcosts)
@example(problem=FALLS_FAR, learner=Stump(), loss="logistic", subcosts="thesis")
@settings(max_examples=40)
def test_the_loss_never_rises(problem, learner, loss, subcosts):
    for record in problem.fit(learner, loss=loss, subcosts=subcosts, shrinkage=1.0).history_:
        # The loss is summed in units of 2⁻⁵⁰ of N times the largest: a round of no gain may seem to
        # gain or lose as much.
        assert record.loss_ratio <= 1 + 1e-9
        assert record.bound == 1


@given(problem=problems(), learner=learners, loss=family, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_the_order_of_samples_changes_no_bit(problem, learner, loss, seed):
    order = np.random.default_rng(seed).permutation(len(problem.y))
    shuffled = Problem(problem.X[order], problem.y[order], problem.weight[order], problem.costs)
    assert_same(problem.fit(learner, loss=loss), shuffled.fit(learner, loss=loss))


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("learner", [Stump(), Tree(3, outputs="tree"), Tree(3)], ids=str)
def test_threads_and_kernels_change_no_bit(learner, loss, monkeypatch, compiled):
    problem = random_problem(0, n_samples=6000, n_features=6, n_classes=4)
    problem.X[::9, 3] = np.nan
    monkeypatch.setattr("rebelboost.estimators.validation._n_cores", lambda: 3)
    models = [problem.fit(learner, n_rounds=4, n_jobs=n, loss=loss) for n in (1, 3)]
    with kernels.using("reference"):
        models.append(problem.fit(learner, n_rounds=4, loss=loss))
    assert_same(models[0], models[1])
    assert_same(models[0], models[2])


@given(problem=problems(), loss=family)
@settings(max_examples=30)
def test_rebel_losses_bound_the_cost_at_argmax(problem, loss):
    # [REBEL, Eq. 2; S.3–S.5]: the cost of argmax is at most β + Σ_k c⁺g(H) + c⁻g(−H).
    model = problem.fit(Tree(2), loss=loss, subcosts="rebel")
    scores = model.ensemble_.scores(problem.X)
    costs = problem.costs[problem.y]
    largest = costs.max(axis=1, keepdims=True)
    beta = costs.sum(axis=1, keepdims=True) - (costs.shape[1] - 1) * largest
    g = {"logistic": lambda x: np.logaddexp(0, x) / np.log(2), "squared": lambda x: (1 + x) ** 2}
    plus, minus = (costs - beta) / 2, (largest - costs) / 2
    surrogate = (plus * g[loss](scores) + minus * g[loss](-scores)).sum(axis=1)
    decided = np.argmax(scores, axis=1)
    paid = costs[np.arange(len(costs)), decided]
    assert np.all(paid <= beta[:, 0] + surrogate + 1e-9)


# ---- numbers


@st.composite
def regressions(draw):
    problem = draw(problems())
    y = draw(st.sampled_from(["labels", "random", "far"]))
    noise = np.random.default_rng(len(problem.y)).normal(size=len(problem.y))
    target = {"labels": problem.y.astype(float), "random": noise, "far": 1e6 + 1e3 * noise}[y]
    return problem.X, target, problem.weight


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
@given(data=regressions(), learner=trees)
@settings(max_examples=30)
def test_the_loss_of_a_regression_never_rises(loss, data, learner):
    model = RebelRegressor(learner, loss=loss, n_rounds=8, shrinkage=1.0).fit(*data)
    for record in model.history_:
        # Residuals below PRECISION, a loss below its square, are less than what the search looks at.
        assert record.loss_ratio <= 1 + 1e-9 or record.log_loss < 2 * math.log(PRECISION)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
@given(data=regressions(), seed=st.integers(0, 2**32 - 1), early_stopping=st.booleans())
@settings(max_examples=20)
def test_the_order_of_samples_changes_no_bit_of_a_regression(loss, data, seed, early_stopping):
    order = np.random.default_rng(seed).permutation(len(data[1]))
    model = RebelRegressor(
        Tree(2),
        loss=loss,
        n_rounds=6,
        early_stopping=early_stopping,
        subsample=0.6 if seed % 2 else 1.0,
    )
    ours = model.fit(*data).predict(data[0])
    theirs = RebelRegressor(**model.get_params(deep=False)).fit(*(array[order] for array in data))
    np.testing.assert_array_equal(theirs.predict(data[0]), ours)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_threads_and_kernels_change_no_bit_of_a_regression(loss, monkeypatch, compiled):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    X[::9, 3] = np.nan
    y = X[:, 0] ** 2 + rng.normal(size=len(X))
    monkeypatch.setattr("rebelboost.estimators.validation._n_cores", lambda: 3)
    models = [RebelRegressor("tree", loss=loss, n_rounds=4, n_jobs=n).fit(X, y) for n in (1, 2, 3)]
    with kernels.using("reference"):
        models.append(RebelRegressor("tree", loss=loss, n_rounds=2).fit(X, y))
    for model in models[1:]:
        terms = slice(len(model.ensemble_))
        assert_same_terms(models[0].ensemble_[terms], model.ensemble_)


@given(data=regressions(), power=st.integers(-20, 20))
@settings(max_examples=30)
def test_targets_times_a_power_of_two_give_predictions_times_it(data, power):
    X, y, weight = data
    model = RebelRegressor(Tree(3), n_rounds=6)
    once = model.fit(X, y, weight).predict(X)
    np.testing.assert_array_equal(
        model.fit(X, y * 2.0**power, weight).predict(X), once * 2.0**power
    )


@pytest.mark.parametrize("n_samples", [100, 600])
def test_a_doubled_sample_is_a_doubled_weight(n_samples):
    rng = np.random.default_rng(2)
    X, copies = rng.normal(size=(n_samples, 3)), rng.integers(1, 4, size=n_samples)
    y = X[:, 0] + rng.normal(size=n_samples)
    rows = np.repeat(np.arange(n_samples), copies)
    # Also with the default's subsampling, which draws equal samples together.
    weighted = RebelRegressor(Tree(3), n_rounds=10).fit(X, y, sample_weight=copies)
    repeated = RebelRegressor(Tree(3), n_rounds=10).fit(X[rows], y[rows])
    # Fixed point rounds a weight of 2 otherwise than 1 twice, by 2⁻³⁰ of the sums at most.
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=0, atol=1e-7)
