"""Exact thresholds and categories with signs of their own: equal to trying everything."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebelboost import RebelClassifier, RebelRegressor, Stump, kernels

ROUNDS = 6


def continuous(seed, n_samples=400, n_classes=3, missing=0.0):
    """More values than bins, with ties."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_samples)
    X = rng.normal(size=(n_classes, 3))[y] + rng.normal(size=(n_samples, 3))
    X[:, 2] = np.round(X[:, 2], 2)
    X[rng.uniform(size=X.shape) < missing] = np.nan
    return X, y, rng.uniform(0.5, 2, size=n_samples)


def all_stumps(X):
    """(feature, threshold, missing right, response) of every stump; the constant has no feature."""
    yield -1, np.inf, False, np.ones(len(X))
    for f, x in enumerate(X.T):
        values = np.unique(x[~np.isnan(x)])
        for tau in [*((values[:-1] + values[1:]) / 2), np.inf]:
            for missing_right in (False, True) if np.isnan(x).any() else (False,):
                right = np.where(np.isnan(x), missing_right, x > tau)
                if 0 < right.sum() < len(x):
                    yield f, tau, missing_right, np.where(right, 1.0, -1.0)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_the_exact_stump_has_the_lowest_loss_of_all_midpoints(seed, missing):
    X, y, weight = continuous(seed, missing=missing)
    model = RebelClassifier(Stump(binning="exact"), n_rounds=ROUNDS)
    model.fit(X, y, sample_weight=weight)
    stumps = list(all_stumps(X))
    responses = np.array([response for *_, response in stumps])
    scores = [np.zeros((len(y), 3)), *model.ensemble_.staged_scores(X)]
    signs = np.where(np.eye(3)[y] > 0, -0.5, 0.5) * weight[:, np.newaxis]
    for H, term in zip(scores, model.ensemble_, strict=False):
        G = signs * np.exp(np.where(signs > 0, H, -H))
        P, S = responses @ G, np.abs(G).sum(axis=0)
        best = stumps[int(np.argmin(np.sqrt(S**2 - P**2).sum(axis=1)))]
        found = term
        if best[0] < 0:
            assert found.describe() == "constant"
            continue
        assert (found.features[0], found.thresholds[0]) == best[:2]
        assert not missing or bool(found.missing_right[0]) == best[2]


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_exact_thresholds_lower_the_loss_of_quantile_bins(loss):
    X, y, weight = continuous(0, n_samples=2000)
    losses = {
        binning: RebelClassifier(Stump(binning=binning, bins=16), loss=loss, n_rounds=1)
        .fit(X, y, sample_weight=weight)
        .history_[0]
        .log_loss
        for binning in ("exact", "quantile")
    }
    assert losses["exact"] < losses["quantile"]


def test_few_values_give_the_same_model_exact_or_not():
    X, y, weight = continuous(1, n_samples=200)
    exact = RebelClassifier(Stump(binning="exact"), n_rounds=10).fit(X, y, weight)
    binned = RebelClassifier(Stump(), n_rounds=10).fit(X, y, weight)
    np.testing.assert_array_equal(exact.decision_function(X), binned.decision_function(X))


def test_the_exact_stump_depends_neither_on_order_nor_on_the_kernels(compiled):
    X, y, weight = continuous(2, missing=0.1)
    model = RebelClassifier(Stump(binning="exact"), n_rounds=8)
    scores = model.fit(X, y, weight).decision_function(X)
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(
        model.fit(X[order], y[order], weight[order]).decision_function(X), scores
    )
    with kernels.using("reference"):
        np.testing.assert_array_equal(model.fit(X, y, weight).decision_function(X), scores)


def test_regressions_cut_exactly_too():
    x = np.sort(np.random.default_rng(0).normal(size=1000))
    y = np.where(np.arange(1000) < 123, 0.0, 1.0)
    model = RebelRegressor(Stump(binning="exact"), n_rounds=1, shrinkage=1.0, subsample=1.0)
    model.fit(x[:, np.newaxis], y)
    assert model.ensemble_[0].thresholds[0] == (x[122] + x[123]) / 2


# ---- categories


@given(
    st.integers(2, 5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=6, max_size=40),
)
@settings(max_examples=40)
def test_each_category_takes_the_sign_that_is_best_for_two_classes(n_levels, rows):
    codes, y = np.array(rows).T
    codes = codes % n_levels
    y[:2] = 0, 1
    X = codes[:, np.newaxis].astype(float)
    learner = Stump(categorical=[0], categories="split")
    model = RebelClassifier(learner, n_rounds=1, shrinkage=1.0).fit(X, y)
    G = np.where(y == 1, -0.5, 0.5)
    sums = np.array([G[codes == level].sum() for level in range(n_levels)])
    lowest = min(
        np.sqrt(len(y) ** 2 / 4 - (sums @ signs) ** 2)
        for signs in itertools.product([-1, 1], repeat=n_levels)
    )
    if len(model.history_) == 0:  # nothing to gain
        lowest_of_all = len(y) / 2
        assert lowest == pytest.approx(lowest_of_all)
        return
    # Outputs are smoothed by CAP, which adds √(2·CAP) at most.
    assert np.exp(model.history_[0].log_loss) == pytest.approx(2 * lowest / len(y), abs=2e-4)


def test_splitting_categories_lowers_the_loss_faster_than_one_against_the_rest():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(12, size=300), rng.integers(4, size=300)
    X = np.column_stack([codes, rng.normal(size=300)])
    for loss in ("exponential", "squared"):
        last = {
            kind: RebelClassifier(
                Stump(categorical=[0], categories=kind), n_rounds=10, loss=loss, shrinkage=1.0
            )
            .fit(X, y)
            .history_[-1]
            .log_loss
            for kind in ("one", "split")
        }
        assert last["split"] < last["one"] - 0.005


def test_unknown_categories_go_where_most_samples_go():
    X = np.repeat([[0.0], [1.0], [2.0], [3.0]], [15, 15, 5, 5], axis=0)
    y = np.repeat([0, 1], [30, 10])
    model = RebelClassifier(Stump(categorical=[0], categories="split"), n_rounds=1).fit(X, y)
    assert model.predict([[0.0], [1.0], [2.0], [3.0], [np.nan]]).tolist() == [0, 0, 1, 1, 0]


def test_an_unknown_way_with_categories_is_refused():
    with pytest.raises(ValueError, match="categories is 'all': give 'one' or 'split'"):
        Stump(categories="all")
