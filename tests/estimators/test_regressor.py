"""RebelRegressor: targets, tables, parameters, bad input."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rebelboost import RebelClassifier, RebelRegressor, Stump, Tree
from rebelboost.base.hashing import draw, hash_rows
from rebelboost.boosting.rounds import History
from rebelboost.model.terms import Queries

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = 3 * X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * RNG.normal(size=200) + 50


def fit(y=Y, X=X, **options):
    options = {"learner": Tree(3), "n_rounds": 20, **options}
    return RebelRegressor(**options).fit(X, y)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_every_loss_learns(loss):
    assert fit(loss=loss, n_rounds=100).score(X, Y) > 0.93


def test_a_robust_loss_is_not_led_astray_by_wild_targets():
    wild = Y.copy()
    wild[::20] += 1000
    calm = np.arange(200) % 20 != 0
    errors = {
        loss: np.abs(fit(wild, loss=loss, n_rounds=100).predict(X) - Y)[calm].mean()
        for loss in ("squared", "absolute", "huber")
    }
    assert errors["absolute"] < errors["squared"] / 5
    assert errors["huber"] < errors["squared"] / 5


def test_stumps_and_trees_with_one_output_regress_too():
    for learner in (Stump(), Tree(2, outputs="tree")):
        assert fit(learner=learner, n_rounds=100, shrinkage=1.0).score(X, Y) > 0.8


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_tables_with_text_and_gaps_need_no_preparation(table):
    town = np.array(["Ulm", "Bonn", "Kiel"])[np.arange(200) % 3]
    y = np.where(town == "Bonn", 10.0, 0.0) + X[:, 0]
    x = [None if n % 7 == 0 else v for n, v in enumerate(X[:, 0].tolist())]
    model = fit(y, table({"town": town.tolist(), "x": x}), n_rounds=100)
    assert model.feature_names_in_.tolist() == ["town", "x"]
    assert model.score(table({"town": town.tolist(), "x": x}), y) > 0.95


def test_the_last_stage_is_the_prediction():
    model = fit()
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.ensemble_) == 20
    np.testing.assert_array_equal(stages[-1], model.predict(X))


def test_pickling_changes_no_bit():
    model = fit()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_a_warm_start_gives_the_bits_of_one_fit():
    parts = fit(n_rounds=8, warm_start=True, subsample=0.7)
    parts.set_params(n_rounds=20).fit(X, Y)
    np.testing.assert_array_equal(parts.predict(X), fit(subsample=0.7).predict(X))
    assert [record.index for record in parts.history_] == list(range(20))


def test_early_stopping_keeps_the_best_round_by_held_out_loss():
    noise = np.random.default_rng(1).normal(size=200)
    model = fit(noise, early_stopping=True, n_rounds=300, n_rounds_no_change=10)
    losses = [record.held.log_loss for record in model.history_]
    assert len(model.ensemble_) == np.argmin(losses) + 1 < 300


def test_a_single_fit_to_few_samples_has_fewer_rounds_by_default():
    assert len(fit(n_rounds="auto").history_) == 100
    twice = np.tile(X, (4, 1)), np.tile(Y, 4)  # as many distinct samples
    assert len(fit(twice[1], twice[0], n_rounds="auto").history_) == 100
    many = np.random.default_rng(2).normal(size=(600, 4))
    assert len(fit(many.sum(axis=1), many, n_rounds="auto").history_) == 300
    assert len(fit(n_rounds=120).history_) == 120


def test_a_budget_of_time_ends_a_single_fit():
    assert 1 <= len(fit(n_rounds=10**6, time_budget=0.1).history_) < 10**5


def test_validation_samples_are_reported_on():
    model = RebelRegressor(n_rounds=15).fit(X[:150], Y[:150], validation=(X[150:], Y[150:]))
    last = model.history_[-1].held
    distance = model.predict(X[150:]) - Y[150:]
    assert last.error == pytest.approx(np.sqrt(np.mean(distance**2)), rel=1e-12)
    assert last.cost == pytest.approx(np.mean(np.abs(distance)), rel=1e-12)


def test_callbacks_hear_of_every_round_and_may_stop():
    class Impatient(History):
        may_wait = False

        def on_rounds(self, batch):
            record = batch[-1]
            super().on_rounds(batch)
            return record.index == 3

    impatient = Impatient()
    assert len(fit(callbacks=[impatient]).ensemble_) == len(impatient) == 4


def test_a_constant_target_is_predicted_as_it_is():
    assert set(fit(np.full(200, 0.1)).predict(X)) == {0.1}


def test_no_leaf_is_lighter_than_asked():
    model = fit(learner=Tree(4, least_mass=0.1))
    for term in model.ensemble_:
        leaves = np.bincount(term.regions(Queries(X)))
        assert leaves[leaves > 0].min() >= 20


def test_about_the_share_of_samples_is_drawn_and_equal_ones_together():
    keys = hash_rows(np.repeat(X, 2, axis=0), 0)
    drawn = draw(keys, 0.6, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn[::2], drawn[1::2])
    # 200 distinct samples: three standard deviations are 0.1.
    assert abs(drawn.mean() - 0.6) < 0.1
    assert np.any(drawn != draw(keys, 0.6, np.random.default_rng(1)))


def test_a_single_sample_is_served():
    assert fit(Y[:1], X[:1], early_stopping=True).predict(X[:1]).tolist() == [Y[0]]


def test_targets_far_from_zero_lose_nothing():
    # Only the rounding of the targets themselves, by 2⁻⁵³ of 1e9, tells the two apart.
    far, near = fit(Y + 1e9).predict(X) - 1e9, fit().predict(X)
    np.testing.assert_allclose(far, near, rtol=0, atol=1e-5)


def test_verbose_shows_errors_in_the_units_of_the_target(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    fit(verbose=1)
    assert "%" not in capsys.readouterr().err


REFUSED = {
    "too few targets": ({"y": Y[:5]}, "X has 200 samples, but y has 5 targets"),
    "NaN": ({"y": np.where(Y > 50, np.nan, Y)}, "y contains NaN"),
    "infinity": ({"y": np.where(Y > 50, np.inf, Y)}, "y contains infinity"),
    "text": ({"y": ["a"] * 200}, "y contains 'a', but regression.*RebelClassifier"),
    "a table": ({"y": np.eye(200)}, r"1d array, got an array of shape \(200, 200\)"),
    "too large": ({"y": Y * 1e200}, "y reaches .*e.201, whose square overflows: divide y"),
    "no rounds": ({"n_rounds": 0}, "'n_rounds' parameter of RebelRegressor must be"),
    "an unknown loss": ({"loss": "quantile"}, "'loss' parameter of RebelRegressor must be"),
    "medians of a stump": ({"loss": "absolute", "learner": Stump()}, "an output for each leaf"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fit(**options)


def test_a_deaf_callback_is_refused():
    with pytest.raises(TypeError, match=r"lacks on_rounds\(batch\) or on_end"):
        fit(callbacks=[print])


def test_predicting_before_fitting_is_refused():
    with pytest.raises(NotFittedError):
        RebelRegressor().predict(X)


def test_a_fit_leaves_the_parameters_alone():
    model = RebelRegressor(Tree(3), n_rounds=5, loss="huber", huber_delta=2.0)
    before = model.get_params()
    assert clone(model.fit(X, Y)).get_params() == before == model.get_params()


def test_numbers_of_classes_are_not_classes():
    # Who gives numbers to a classifier is told so there; who gives classes to a regressor, here.
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        RebelClassifier().fit(X, Y)
