"""RebelRegressor with learner="auto": the race, held-out predictions, groups and times, intervals."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1

import rebelboost
from rebelboost import RebelRegressor, Stump, Tree
from rebelboost.model.smooth import SmoothSimilarities
from rebelboost.selection.candidates import RECIPES

X, Y = make_friedman1(300, noise=1.0, random_state=0)
X_NEW, Y_NEW = make_friedman1(4000, noise=1.0, random_state=1)


def regressor(**options):
    return RebelRegressor(**{"n_rounds": 60} | options)


def rmse(model, X=X_NEW, y=Y_NEW):
    return np.sqrt(np.mean((model.predict(X) - y) ** 2))


@pytest.fixture(scope="module")
def raced():
    return regressor().fit(X, Y)


def test_candidates_are_averaged_by_their_held_out_error(raced):
    standings = raced.cross_fit_.standings
    assert {s.name for s in standings} == {*RECIPES, "smooth similarities"}
    np.testing.assert_allclose(sum(s.share for s in standings), 1)
    members = sorted((s for s in standings if s.share > 0), key=lambda s: s.cost)
    assert members == sorted(members, key=lambda s: -s.share)
    assert {s.n_parts for s in members} == {5}


def test_the_average_is_as_good_as_its_members_and_better_than_one_fit(raced):
    alone = [regressor(learner=r.learner).fit(X, Y) for r in RECIPES.values()]
    assert rmse(raced) < min(map(rmse, alone))


def test_held_out_predictions_are_in_units_of_the_target_and_of_fits_that_did_not_see_the_sample(
    raced,
):
    found = raced.cross_fit_
    assert sorted(found.rows) == list(range(300))
    error = np.sqrt(np.mean((found.left_out[:, 0] - Y[found.rows]) ** 2))
    np.testing.assert_allclose(error, found.cost)
    assert rmse(raced, X, Y) < 0.8 * error
    assert 0.85 * error < rmse(raced) < 1.1 * error  # the average is better than its fits


def test_a_target_of_noise_is_predicted_by_its_mean():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=300)
    fitted = regressor().fit(rng.normal(size=(300, 5)), noise)
    assert np.std(fitted.predict(X_NEW[:, :5])) < 0.15
    assert 0.9 < fitted.cross_fit_.cost / np.std(noise) < 1.1


def test_neither_threads_nor_the_order_of_rows_matter(raced):
    order = np.random.default_rng(1).permutation(len(Y))
    other = regressor(n_jobs=2).fit(X[order], Y[order])
    np.testing.assert_array_equal(other.predict(X_NEW), raced.predict(X_NEW))
    np.testing.assert_array_equal(other.predict_interval(X_NEW), raced.predict_interval(X_NEW))


def test_a_weight_of_two_is_about_the_sample_twice_in_a_group():
    weight = np.random.default_rng(2).integers(1, 3, len(Y))
    group = np.arange(len(Y))  # equal rows would be held out by different fits otherwise
    twice = np.repeat(group, weight)
    weighted = regressor(n_rounds=15).fit(X, Y, sample_weight=weight, groups=group)
    repeated = regressor(n_rounds=15).fit(X[twice], Y[twice], groups=twice)
    # Not to the bit: a heavy sample tells as much as one sample about how well a fit does.
    difference = weighted.predict(X_NEW) - repeated.predict(X_NEW)
    assert np.abs(difference).max() < 0.1 * Y.std()
    widths = [np.ptp(each.predict_interval(X_NEW), axis=1) for each in (weighted, repeated)]
    np.testing.assert_allclose(*map(np.mean, widths), rtol=0.1)


def test_the_selection_names_the_candidates_and_their_errors(raced):
    text = str(raced.selection_)
    assert "RMSE" in text
    table = raced.selection_.table()
    assert ("together" in text) == (np.count_nonzero(table["share"]) > 1)
    assert all(name in text for name in table["name"])
    assert set(table) > {"name", "share", "rmse", "rounds"}
    assert len(table["name"]) == len(RECIPES) + 1
    first, second, *_ = raced.selection_.standings
    shared = replace(
        raced.selection_,
        standings=(first._replace(share=0.6, n_parts=5), second._replace(share=0.4, n_parts=5)),
    )
    assert str(shared).endswith(f"RMSE {shared.cost:.4g} together")
    assert "MAE" in str(regressor(n_rounds=5, loss="absolute").fit(X, Y).selection_)


@pytest.mark.parametrize(
    "options", [{"learner": "tree"}, {"cross_fit": None}, {"early_stopping": True}]
)
def test_one_fit_has_no_selection_and_no_intervals(options):
    fitted = regressor(n_rounds=5, **options).fit(X, Y)
    assert fitted.selection_ is None
    assert fitted.cross_fit_ is None
    with pytest.raises(ValueError, match="fit with cross_fit=5"):
        fitted.predict_interval(X)


def test_the_learner_by_name_is_one_fit_of_trees():
    named, given = regressor(learner="tree"), regressor(learner=Tree(depth=5, least_mass=0.003))
    np.testing.assert_array_equal(named.fit(X, Y).predict(X_NEW), given.fit(X, Y).predict(X_NEW))


@pytest.mark.parametrize("learner", ["tree", "stump", Tree(depth=2), Stump()])
def test_one_learner_can_be_cross_fitted_too(learner):
    fitted = regressor(n_rounds=20, learner=learner, cross_fit=3).fit(X, Y)
    (alone,) = fitted.cross_fit_.standings
    assert (alone.share, alone.n_parts) == (1.0, 3)
    assert fitted.selection_ is None
    assert fitted.predict_interval(X[:3]).shape == (3, 2)


def test_what_the_user_has_decided_is_kept():
    fitted = regressor(shrinkage=0.5, n_rounds=7, subsample=1.0, feature_subsample=0.8).fit(X, Y)
    standings = fitted.cross_fit_.standings
    assert {s.shrinkage for s in standings} == {0.5}
    assert max(s.rounds for s in standings) <= 7


def test_whole_groups_are_held_out():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 5)
    level = rng.normal(size=60)[patient]
    features = np.column_stack([patient * 1.0, rng.normal(size=300)])
    plain = regressor().fit(features, level).cross_fit_.cost
    grouped = regressor().fit(features, level, groups=patient).cross_fit_.cost
    assert plain < 0.6 * np.std(level)  # other rows of the patient tell
    assert grouped > 0.85 * np.std(level)


def test_in_time_held_out_samples_are_later_and_the_model_is_fitted_to_all():
    days = np.arange(300)
    fitted = regressor(n_rounds=20).fit(X, Y, times=days)
    assert set(fitted.cross_fit_.rows) == set(range(50, 300))
    members = [s for s in fitted.cross_fit_.standings if s.share > 0]
    assert len(fitted.ensemble_) <= sum(s.rounds for s in members)  # one fit of each
    assert np.isfinite(fitted.predict_interval(X[:5])).all()


def test_groups_and_times_exclude_one_another():
    with pytest.raises(ValueError, match="give one of them"):
        regressor().fit(X, Y, groups=np.arange(300), times=np.arange(300))


@pytest.mark.parametrize("option", ["early_stopping", "warm_start"])
def test_a_cross_fit_and_another_choice_of_rounds_exclude_one_another(option):
    with pytest.raises(ValueError, match=f"cross_fit=5.*{option}"):
        regressor(cross_fit=5, **{option: True}).fit(X, Y)


def test_an_average_is_not_continued(raced):
    again = RebelRegressor(n_rounds=5).fit(X, Y).set_params(warm_start=True)
    with pytest.raises(ValueError, match="average of several fits"):
        again.fit(X, Y)


def test_no_fold_is_begun_after_the_budget():
    found = regressor(n_rounds=5, time_budget=0.0).fit(X, Y).cross_fit_
    assert {s.n_parts for s in found.standings} == {1}
    assert len(found.rows) == 60


def test_a_budget_of_time_includes_the_intervals():
    began = time.monotonic()
    fitted = regressor(n_rounds=10**5, shrinkage=1e-4, time_budget=2.0).fit(X, Y)
    assert time.monotonic() - began < 6  # a busy machine is slow
    assert fitted.predict_interval(X).shape == (len(X), 2)


def test_callbacks_hear_every_fit_and_can_stop_each():
    class Stop:
        n_ended = 0

        def on_rounds(self, batch):
            record = batch[-1]
            return record.index >= 2

        def on_end(self):
            self.n_ended += 1

    stop = Stop()
    fitted = regressor(callbacks=[stop]).fit(X, Y)
    assert stop.n_ended == 1
    assert max(record.index for record in fitted.history_) == 2


def test_history_names_the_terms_that_were_kept(raced):
    kept = [term for term in raced.history_.terms if term >= 0]
    solved = {int(n) for at, _ in raced.ensemble_.of_kind(SmoothSimilarities) for n in at}
    assert sorted([*kept, *solved]) == list(range(len(raced.ensemble_)))


def test_a_smooth_function_wins_where_the_target_is_smooth_and_is_kept_whole(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    frame.index = [f"house {i}" for i in range(200)]
    fitted = regressor().fit(frame, frame["a"] - 2 * frame["b"] + frame["a"] * frame["c"])
    (smooth,) = [s for s in fitted.cross_fit_.standings if s.name == "smooth similarities"]
    assert smooth.share > 0.9
    rows = fitted.ensemble_.example_rows
    assert fitted.model_.provenance.row_labels[rows[0]] == f"house {rows[0]}"
    assert "a smooth function" in str(fitted.summary())
    fitted.save(tmp_path / "model.safetensors")
    loaded = rebelboost.load(tmp_path / "model.safetensors")
    assert str(loaded.explain(frame[:2])) == str(fitted.explain(frame[:2]))
    np.testing.assert_array_equal(loaded.predict(frame), fitted.predict(frame))


@pytest.mark.parametrize("options", [{"loss": "huber"}, {"shrinkage": 0.5}, {"n_rounds": 3}])
def test_a_smooth_function_runs_only_where_it_does_what_was_asked(options):
    names = {s.name for s in regressor(**options).fit(X, Y).cross_fit_.standings}
    assert ("smooth similarities" in names) == ("n_rounds" in options)


def test_large_tables_are_raced_on_a_part(monkeypatch):
    monkeypatch.setattr(rebelboost.selection.race, "MOST_SAMPLES", 200)
    monkeypatch.setattr(rebelboost.selection.race, "MOST_REFITTED", 1)
    fitted = regressor().fit(X, Y)
    (winner,) = [s for s in fitted.cross_fit_.standings if s.share > 0]
    assert winner.share == 1
    assert 20 <= len(fitted.cross_fit_.rows) <= 40
    assert fitted.predict_interval(X_NEW, 0.8).shape == (4000, 2)


def test_few_samples_are_fitted_once():
    fitted = RebelRegressor().fit(X[:9], Y[:9])
    assert fitted.cross_fit_ is None


@pytest.mark.parametrize("loss", ["absolute", "huber"])
def test_robust_losses_are_judged_by_themselves(loss):
    spoiled = Y.copy()
    spoiled[::25] += 1e4
    fitted = regressor(loss=loss, huber_delta=5.0).fit(X, spoiled)
    assert rmse(fitted) < 0.05 * rmse(regressor().fit(X, spoiled))


def test_all_of_it_is_saved_and_loaded(raced, tmp_path):
    raced.save(tmp_path / "model.safetensors")
    loaded = rebelboost.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(X_NEW), raced.predict(X_NEW))
    np.testing.assert_array_equal(loaded.predict_interval(X_NEW), raced.predict_interval(X_NEW))
    np.testing.assert_array_equal(loaded.cross_fit_.left_out, raced.cross_fit_.left_out)
    assert str(loaded.selection_) == str(raced.selection_)


# ---- intervals


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
def test_intervals_cover_new_targets_at_the_share_that_was_asked_for(raced, coverage):
    low, high = raced.predict_interval(X_NEW, coverage).T
    inside = np.mean((low <= Y_NEW) & (high >= Y_NEW))
    # The coverage of a split conformal interval has the distribution Beta(M·c, M·(1 − c)), M = 300:
    # three standard deviations below, and above as many and what averaging fits adds.
    error = np.sqrt(coverage * (1 - coverage) / 300)
    assert coverage - 3 * error < inside < coverage + 3 * error + 0.04


def test_intervals_are_wider_where_the_noise_is_larger():
    rng = np.random.default_rng(0)
    x, new = rng.uniform(-1, 1, (600, 3)), rng.uniform(-1, 1, (4000, 3))
    noise = np.where(x[:, 0] > 0, 5.0, 0.5)
    fitted = regressor().fit(x, x[:, 1] + noise * rng.normal(size=600))
    y_new = new[:, 1] + np.where(new[:, 0] > 0, 5.0, 0.5) * rng.normal(size=4000)
    low, high = fitted.predict_interval(new, 0.9).T
    loud = new[:, 0] > 0
    assert np.mean((high - low)[loud]) > 4 * np.mean((high - low)[~loud])
    inside = (low <= y_new) & (y_new <= high)
    assert 0.85 < inside[loud].mean() < 0.96
    assert 0.85 < inside[~loud].mean() < 0.97


def test_intervals_of_skewed_residuals_are_not_symmetric():
    rng = np.random.default_rng(0)
    fitted = regressor(n_rounds=10).fit(X, X[:, 0] + rng.exponential(size=300))
    predicted = fitted.predict(X_NEW)
    low, high = fitted.predict_interval(X_NEW).T
    assert np.mean(high - predicted) > 1.5 * np.mean(predicted - low)


@pytest.mark.parametrize("coverage", [0.0, 1.0, 1.5, -0.1, float("nan")])
def test_a_coverage_that_is_no_share_is_refused(raced, coverage):
    with pytest.raises(ValueError, match="give a share between 0 and 1"):
        raced.predict_interval(X, coverage)


def test_more_coverage_than_the_samples_can_promise_is_refused_with_the_most(raced):
    with pytest.raises(ValueError, match=r"the 300 of this fit: ask for at most 0\.993"):
        raced.predict_interval(X, 0.999)
    assert raced.predict_interval(X, 0.993).shape == (300, 2)
