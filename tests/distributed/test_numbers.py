"""A regression on rows in any parts gives the model of all rows in one place, to the last bit of its file."""

import math

import numpy as np
import pytest

from rebelboost import RebelRegressor, Tree, kernels
from rebelboost.base.fixed_point import exact_parts
from rebelboost.distributed import training
from spreading import CUTS, N, cut, fingerprint, fit_parts, frame, table

SETTINGS = {
    "least squares": {},
    "more rounds than between two refreshes": {"n_rounds": 70},
    "all rows in each round": {"subsample": 1.0},
    "some features in each round": {"feature_subsample": 0.5},
    "the default number of rounds": {"n_rounds": "auto"},
    "a tolerance": {"tol": 0.8},
    "a deep tree": {"learner": Tree(depth=8)},
    "stumps": {"learner": "stump"},
    "the papers' trees": {"learner": Tree(depth=3, outputs="tree")},
}


def regressor(**settings):
    return RebelRegressor(**{"learner": "tree", "n_rounds": 8} | settings)


def numbers(seed=0):
    X, _ = table(seed)
    rng = np.random.default_rng(seed)
    known = np.nan_to_num(X)
    return X, np.round(10 + known[:, 0] - 2 * known[:, 1] ** 2 + rng.normal(size=N), 2)


@pytest.mark.parametrize("cuts", CUTS, ids=len)
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_parts_give_the_model_of_all_rows(tmp_path, settings, cuts):
    X, y = numbers()
    whole = regressor(**settings).fit(X, y)
    order = np.random.default_rng(1).permutation(N)
    parts = fit_parts(regressor(**settings), cut(X, y, cuts, order), n_threads=2)
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


def test_weights_are_summed_exactly(tmp_path):
    X, y = numbers()
    rng = np.random.default_rng(2)
    weight = rng.exponential(size=N) * (rng.random(N) > 0.1)
    whole = regressor().fit(X, y, sample_weight=weight)
    for cuts in CUTS:
        order = rng.permutation(N)
        parts = fit_parts(regressor(), cut(X, y, cuts, order, sample_weight=weight))
        assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


def test_the_kernels_in_numpy_give_the_same_model(tmp_path):
    X, y = numbers()
    settings = {"learner": Tree(depth=2), "n_rounds": 3}
    whole = regressor(**settings).fit(X, y)
    with kernels.using("reference"):
        parts = fit_parts(regressor(**settings), cut(X, y, [99, 300]))
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


def test_a_validation_set_stops_all_alike(tmp_path):
    X, y = numbers()
    settings = {"n_rounds": 60, "early_stopping": True, "n_rounds_no_change": 2, "shrinkage": 1.0}
    validation = numbers(seed=1)
    whole = regressor(**settings).fit(X, y, validation=validation)
    parts = fit_parts(regressor(**settings), cut(X, y, [99, 300]), validation=validation)
    assert len(whole.ensemble_) < 60
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


def test_rows_held_out_do_not_depend_on_the_parts(tmp_path):
    X, y = numbers()
    settings = {"n_rounds": 60, "early_stopping": True, "n_rounds_no_change": 2}
    weight = np.random.default_rng(3).random(N)
    order = np.random.default_rng(1).permutation(N)
    models = [
        fit_parts(regressor(**settings), cut(X, y, cuts, order, sample_weight=weight))
        for cuts in CUTS
    ]
    assert len({fingerprint(model, tmp_path) for model in models}) == 1
    assert models[0].history_[0].held is not None


def test_the_race_and_its_intervals_do_not_depend_on_the_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "MOST_COMPARED", 250)
    X, y = numbers()
    order = np.random.default_rng(1).permutation(N)
    settings = {"learner": "auto", "n_rounds": 30}
    models = [fit_parts(regressor(**settings), cut(X, y, cuts, order)) for cuts in CUTS]
    assert len({fingerprint(model, tmp_path) for model in models}) == 1
    low, high = models[0].predict_interval(X, coverage=0.5).T
    assert np.all(low < high)
    assert (
        np.mean((low <= y) & (y <= high)) > 0.4
    )  # by held-out residuals, so half at least, but for noise


def test_data_frames_with_categories_are_encoded_alike(tmp_path):
    X, _ = frame()
    _, y = numbers()
    whole = regressor().fit(X, y)
    parts = fit_parts(regressor(), cut(X, y, CUTS[-1], np.random.default_rng(1).permutation(N)))
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


def test_parts_of_an_exact_sum_add_up_to_it():
    rng = np.random.default_rng(0)
    values = (rng.normal(size=1000) * 10.0 ** rng.integers(-30, 30, 1000)).tolist()
    parts = [part for i in range(7) for part in exact_parts(values[i::7])]
    assert len(parts) < 100
    assert math.fsum(parts) == math.fsum(values)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"cross_fit": 5}, "set cross_fit=None"),
        ({"warm_start": True}, "set warm_start=False"),
        ({"loss": "absolute"}, "set loss='squared', or fit the ordinary estimator to a sample"),
        ({"loss": "huber"}, "set loss='squared', or fit the ordinary estimator to a sample"),
    ],
)
def test_settings_that_need_all_rows_in_one_place_are_refused(settings, says):
    with pytest.raises(ValueError, match=says):
        fit_parts(regressor(**settings), cut(*numbers(), [99]))
