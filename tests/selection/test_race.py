"""learner="auto": the race between trees and similarities."""

import re
import time
import warnings

import numpy as np
import pytest

from rebelboost import RebelClassifier, Tree
from rebelboost.datasets import planar_mixture, random_costs, spirals
from rebelboost.model.comparisons import Comparisons
from rebelboost.selection import candidates, cross_fit
from rebelboost.selection import race as selection
from rebelboost.selection import runner as entrants

SET = planar_mixture(0)
X, y = SET.X_train[:300], SET.y_train[:300]
K = len(np.unique(y))


def classifier(**options):
    return RebelClassifier(**{"n_rounds": 30} | options)


@pytest.fixture(scope="module")
def raced():
    return classifier().fit(X, y)


def test_trees_similarities_a_smooth_function_and_a_kernel_machine_run(raced):
    names = [standing.name for standing in raced.cross_fit_.standings]
    assert len(names) == len(set(names)) == 10
    others = {"trees of depth 6", "single splits", "smooth similarities", "class frequencies"}
    assert others < set(names)
    similarities = {name for name in names if name.endswith("d similarities")}
    assert similarities == {"unscaled similarities", "whitened similarities"}
    assert "kernel machine" in names


def test_shares_sum_to_one_and_members_were_fitted_on_all_parts(raced):
    standings = raced.cross_fit_.standings
    np.testing.assert_allclose(sum(s.share for s in standings), 1)
    assert {s.n_parts for s in standings if s.share > 0} == {5}


def test_the_candidate_with_the_lowest_log_loss_has_the_largest_weight(raced):
    members = sorted(
        (s for s in raced.cross_fit_.standings if s.share > 0), key=lambda s: s.log_loss
    )
    assert len(members) > 1
    assert members == sorted(members, key=lambda s: -s.share)
    assert raced.cross_fit_.log_loss < members[0].log_loss


def test_who_is_far_behind_after_a_part_is_not_fitted_again(raced):
    standings = raced.cross_fit_.standings
    assert {s.n_parts for s in standings} > {5}
    assert {s.share for s in standings if s.n_parts < 5} == {0.0}


def test_a_member_alone_does_as_it_did_in_the_race(raced, monkeypatch):
    monkeypatch.setattr(selection, "LEFT_OUT_ALONE", 0.2)
    (shallow,) = [s for s in raced.cross_fit_.standings if s.name == "trees of depth 3"]
    (alone,) = classifier(learner=Tree(depth=3), cross_fit=5).fit(X, y).cross_fit_.standings
    assert alone == shallow._replace(name=alone.name, share=1.0)


def test_a_learner_alone_is_judged_by_the_mean_of_several_fits():
    fitted = classifier(learner=Tree(depth=3), cross_fit=10).fit(X, y)
    found = fitted.cross_fit_
    assert found.standings[0].n_parts == 10
    np.testing.assert_array_equal(np.sort(found.rows), np.arange(len(y)))  # each once
    assert len(fitted.ensemble_) <= 10 * found.standings[0].rounds + 1


def test_the_model_has_the_terms_of_its_members_and_decides(raced):
    members = [s for s in raced.cross_fit_.standings if s.share > 0]
    assert len(raced.ensemble_) <= sum(5 * s.rounds for s in members)
    assert raced.score(SET.X_test, SET.y_test) > 0.55


def test_left_out_scores_are_of_fits_that_never_saw_the_sample():
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 2, 200)
    fitted = RebelClassifier(n_rounds=100).fit(rng.normal(size=(200, 5)), noise)
    found = fitted.cross_fit_
    assert sorted(found.rows) == list(range(200))
    assert 0.35 < np.mean(found.left_out.argmax(axis=1) != noise[found.rows]) < 0.65
    np.testing.assert_allclose(
        found.cost, np.mean(found.left_out.argmax(axis=1) != noise[found.rows])
    )


def test_rows_of_what_was_left_out_are_the_users():
    weight = np.ones(len(y))
    weight[::3] = 0
    found = classifier().fit(X, y, sample_weight=weight).cross_fit_
    assert set(found.rows) == set(np.flatnonzero(weight))


def test_the_model_does_not_depend_on_threads_or_on_the_order_of_rows(raced):
    order = np.random.default_rng(1).permutation(len(y))
    other = classifier(n_jobs=2).fit(X[order], y[order])
    np.testing.assert_array_equal(
        other.decision_function(SET.X_test), raced.decision_function(SET.X_test)
    )
    assert str(other.selection_) == str(raced.selection_)


def test_similarities_win_where_boundaries_are_curved_and_it_is_said():
    points, labels = spirals(0)[:2]
    fitted = RebelClassifier(n_rounds=200).fit(points, labels)
    shares = {s.name: s.share for s in fitted.cross_fit_.standings}
    assert shares["kernel machine"] > 0.05
    alike = {name for name in shares if "similarities" in name or name == "kernel machine"}
    assert sum(shares[name] for name in alike) > 0.9
    assert "unscaled similarities" in str(fitted.selection_).split(";")[0]
    told = str(fitted.selection_).split("; dropped early: ")[1]
    assert "trees of depth 3" in told
    assert "%" not in told  # of fewer folds, and so not comparable


def test_one_scale_of_similarities_goes_on_after_the_first_fold():
    points, labels = spirals(0)[:2]
    found = RebelClassifier(n_rounds=60).fit(points, labels).cross_fit_
    scales = [s for s in found.standings if "d similarities" in s.name]
    assert len(scales) == 2
    assert sorted(s.n_parts for s in scales) == [1, 5]


def test_with_many_samples_standardised_similarities_run_instead_of_a_kernel_machine(monkeypatch):
    monkeypatch.setattr(candidates, "MOST_ROWS", 200)
    names = {standing.name for standing in classifier(n_rounds=5).fit(X, y).cross_fit_.standings}
    assert "standardised similarities" in names
    assert "kernel machine" not in names


def test_costs_are_told_where_they_are_unequal():
    fitted = classifier(costs=random_costs(K, seed=0)).fit(X, y)
    assert "cost 0." in str(fitted.selection_)
    assert "% error" not in str(fitted.selection_)


def test_the_table_has_a_row_for_every_candidate(raced):
    table = raced.selection_.table()
    assert len(table["name"]) == len(set(table["name"])) == 10


@pytest.mark.parametrize(
    "options", [{"learner": "tree"}, {"cross_fit": None}, {"early_stopping": True}]
)
def test_without_a_race_there_is_no_selection(options):
    assert classifier(n_rounds=3, **{} | options).fit(X, y).selection_ is None


@pytest.mark.parametrize(
    "options", [{"loss": "logistic"}, {"shrinkage": 0.5}, {"feature_subsample": 0.5}]
)
def test_what_the_user_has_decided_is_kept(options):
    standings = classifier(n_rounds=3, **options).fit(X, y).cross_fit_.standings
    names = {s.name for s in standings}
    assert not any("similarities" in name for name in names)
    if "shrinkage" in options:
        assert {s.shrinkage for s in standings} == {0.5}


def test_large_tables_are_raced_on_a_part_and_the_best_are_fitted_on_all(monkeypatch):
    monkeypatch.setattr(selection, "MOST_SAMPLES", 200)
    found = classifier().fit(X, y).cross_fit_
    n_refitted = len(found.standings) - 10 - 1  # beside the class frequencies
    assert n_refitted == selection.MOST_REFITTED
    assert sum(s.share > 0 for s in found.standings) > 1
    np.testing.assert_allclose(sum(s.share for s in found.standings), 1)


def test_of_still_larger_tables_the_best_alone_is_fitted_on_all(monkeypatch):
    monkeypatch.setattr(selection, "MOST_SAMPLES", 200)
    monkeypatch.setattr(selection, "MOST_REFITTED", 1)
    fitted = classifier().fit(X, y)
    found = fitted.cross_fit_
    (winner,) = [s for s in found.standings if s.share > 0]
    assert winner.share == 1
    before = [s for s in found.standings if fitted.selection_.is_of_fewer_rows(s)]
    assert len(before) == 10
    assert len(found.standings) == 12, "the winner and the frequencies have figures of all rows too"
    assert len(fitted.ensemble_) <= winner.rounds + 1  # an offset
    assert 20 <= len(found.rows) <= 40
    text = str(fitted.selection_)
    assert text.startswith(winner.name)
    # Figures of fewer rows are not set beside those of all.
    assert re.search(r"; not used: class frequencies \([^)]*\); compared before", text)
    assert winner.name in text.split("; compared before, on fewer rows: ")[1]
    table = fitted.selection_._repr_html_()
    assert (
        table.index("weighted average") < table.index("on fewer rows") < table.rindex(winner.name)
    )


def test_on_large_tables_a_rare_class_is_not_given_up_for_lack_of_rows(monkeypatch):
    monkeypatch.setattr(selection, "MOST_SAMPLES", 4000)
    rng = np.random.default_rng(0)
    old = rng.integers(0, 2, (30_000, 1)).astype(float)
    dies = (rng.random(30_000) < 0.0002 + 0.01 * old[:, 0]).astype(int)
    fitted = classifier(learner="auto_trees").fit(old, dies)
    young, aged = fitted.predict_proba([[0.0], [1.0]])[:, 1]
    assert young < 0.002
    assert aged > 0.005


def test_of_many_samples_two_folds_are_left_out_unless_more_are_asked_for(monkeypatch):
    monkeypatch.setattr(selection, "MOST_FOR_ALL_FOLDS", 200)
    fitted = classifier(n_rounds=10).fit(X, y)
    found = fitted.cross_fit_
    members = [s for s in found.standings if s.share > 0]
    assert {s.n_parts for s in members} == {2}
    assert len(found.rows) == pytest.approx(0.4 * len(y), abs=20)
    # The fit to all samples joins those without the folds.
    boosted = [s for s in members if s.name not in {"smooth similarities", "kernel machine"}]
    runs = [found.standings[run].name for run in found.runs]
    assert all(runs.count(s.name) == 3 for s in boosted)
    n_smooth = len(members) - len(boosted)
    assert len(fitted.ensemble_) - 1 == n_smooth + sum(3 * s.rounds for s in boosted)  # an offset
    asked = classifier(n_rounds=10, cross_fit=5).fit(X, y).cross_fit_
    assert {s.n_parts for s in asked.standings if s.share > 0} == {5}


def test_of_many_samples_one_scale_of_similarities_takes_part(monkeypatch):
    monkeypatch.setattr(candidates, "MOST_ROWS", 200)  # with fewer samples, there are two scales
    every = classifier(n_rounds=10).fit(X, y).cross_fit_
    monkeypatch.setattr(selection, "MOST_FOR_ALL_SCALES", 200)
    found = classifier(n_rounds=10).fit(X, y).cross_fit_
    scales = [
        s
        for s in found.standings
        if s.name.endswith(" similarities") and s.name != "smooth similarities"
    ]
    assert len(scales) == 4, "one figure of all rows, and three of the rows that chose the scale"
    assert len({s.name for s in scales}) == 3
    assert {s.name for s in found.standings} == {s.name for s in every.standings}
    assert all(s.share == 0 for s in scales[1:])
    names = [found.standings[run].name for run in found.runs]
    assert len({name for name in names if name in {s.name for s in scales}}) == 1


def test_of_many_samples_three_candidates_go_on_at_most(monkeypatch):
    monkeypatch.setattr(cross_fit, "MANY", 200)
    monkeypatch.setattr(cross_fit, "LEAST_TO_GO_ON", 1e-9)
    monkeypatch.setattr(cross_fit, "LEAST_OF_FEW", 1e-9)
    found = classifier(n_rounds=10).fit(X, y).cross_fit_
    assert sum(s.n_parts > 1 for s in found.standings) == 3


def test_time_that_is_left_is_used_for_other_folds():
    found = classifier(n_rounds=10, time_budget=2.0).fit(X, y).cross_fit_
    assert min(s.n_parts for s in found.standings if s.share > 0) > 5
    assert sorted(found.rows) == list(range(len(y)))
    assert found.left_out.shape == (len(y), K)


def test_more_time_ends_with_the_last_repeat(monkeypatch):
    monkeypatch.setattr(selection, "MOST_REPEATS", 3)
    began = time.monotonic()
    found = classifier(n_rounds=5, time_budget=600.0).fit(X, y).cross_fit_
    assert {s.n_parts for s in found.standings if s.share > 0} == {15}
    assert time.monotonic() - began < 60


def test_no_repeat_begins_when_the_fits_are_large_already(monkeypatch):
    monkeypatch.setattr(cross_fit, "MOST_BYTES", 1)
    found = classifier(learner="tree", n_rounds=5, time_budget=600.0).fit(X, y).cross_fit_
    assert {s.n_parts for s in found.standings if s.share > 0} == {10}


def test_no_part_is_begun_after_the_budget():
    found = classifier(time_budget=0.0).fit(X, y).cross_fit_
    assert {s.n_parts for s in found.standings} == {1}
    assert len(found.rows) < len(y) / 3


class Clock:
    """A clock that advances by a second whenever it is read."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", self.read)

    def read(self):
        self.now += 1.0
        return self.now


class Watcher:
    """Is told of every round by itself."""

    def on_rounds(self, batch):
        return False

    def on_end(self):
        pass


def test_a_budget_of_time_stops_the_fits_of_large_tables_too(monkeypatch):
    monkeypatch.setattr(selection, "MOST_SAMPLES", 200)
    monkeypatch.setattr(candidates, "MOST_FOR_SMOOTH", 200)
    clock = Clock(monkeypatch)
    fitted = classifier(n_rounds=300, time_budget=100.0, callbacks=[Watcher()]).fit(X, y)
    # Each watched round reads the clock once; some readings surround the fits.
    assert clock.now < 160
    assert 20 < len(fitted.history_) < 100


def test_each_candidate_has_a_share_of_the_time_for_the_first_fold(monkeypatch):
    Clock(monkeypatch)
    watched = classifier(n_rounds=300, time_budget=200.0, callbacks=[Watcher()])
    found = watched.fit(X, y).cross_fit_
    # What is solved at once cannot be ended early, and is not begun with so little time.
    assert len(found.standings) == 8
    assert not {"smooth similarities", "kernel machine"} & {s.name for s in found.standings}
    lengths = found.history.n_rounds[:7]  # class frequencies have no rounds
    assert max(lengths) < 60


@pytest.mark.parametrize(("n_rounds", "n_parts"), [(20, 3), (8, 2)])
def test_a_fold_that_ends_at_the_deadline_is_used_if_it_got_far_enough(
    monkeypatch, n_rounds, n_parts
):
    clock = Clock(monkeypatch)
    without, fitted = entrants.BoostedRunner.fit_without, []

    def fit_without(runner, part, number, bar, callbacks, n_threads):
        fitted.append(number)
        if number == 2:
            clock.now += 1e6  # the fit ends after its first stage
            if n_rounds == 8:
                runner.stages, runner.stage = [3, 20], 1
        return without(runner, part, number, bar, callbacks, n_threads)

    monkeypatch.setattr(entrants.BoostedRunner, "fit_without", fit_without)
    monkeypatch.setattr(cross_fit, "LEAST_DONE", 0.0 if n_rounds == 20 else 0.5)
    model = classifier(learner="tree", n_rounds=20, time_budget=1e5).fit(X, y)
    assert fitted == [0, 1, 2]
    assert [s.n_parts for s in model.cross_fit_.standings] == [n_parts]


def test_one_sample_of_each_class_is_fitted_as_it_is():
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with one sample, by us and by scikit-learn
        fitted = RebelClassifier(n_rounds=3).fit(rng.normal(size=(120, 2)), np.arange(120))
    assert len(fitted.cross_fit_.standings) == 1


def test_whitening_needs_more_samples_than_columns():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(40, 50))
    labels = np.arange(40) % 2
    wide[:, 0] += 3 * labels
    names = {s.name for s in classifier(n_rounds=3).fit(wide, labels).cross_fit_.standings}
    assert "standardised similarities" in names
    assert "whitened similarities" not in names
    alone = RebelClassifier("similarity", n_rounds=5).fit(wide, labels)
    assert all(getattr(term.space, "turn", None) is None for term in alone.ensemble_)


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_values_that_cannot_be_squared_are_left_to_trees(unit):
    table = np.column_stack([X[:60, 0], X[:60, 1] * unit])
    labels = X[:60, 1] > np.median(X[:60, 1])
    clf = classifier(n_rounds=3).fit(table, labels)
    assert not any("similarities" in s.name for s in clf.cross_fit_.standings)
    assert clf.score(table, labels) > 0.9
    for learner in ("smooth", "similarity"):
        with pytest.raises(ValueError, match="feature 1 has values up to"):
            RebelClassifier(learner).fit(table, labels)


def test_samples_without_a_mistake_leave_room_for_one():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3))
    labels = np.arange(300) % 2
    points[:, 0] += 20 * labels
    fitted = RebelClassifier().fit(points, labels)
    assert fitted.cross_fit_.cost == 0
    assert fitted.cross_fit_.log_loss == pytest.approx(
        1 / 300, rel=0.05
    )  # offsets change it a little
    # A new sample is as likely to be a mistake as one of the 300 and itself are, on average.
    doubt = 1 - fitted.predict_proba(points).max(axis=1)
    assert 0.1 / 300 < doubt.mean() < 2 / 300
    assert doubt.min() > 1e-6


def test_similarities_that_the_user_has_named_are_fitted_to_large_tables_too(monkeypatch):
    monkeypatch.setattr(selection, "MOST_COMPARED", 100)
    X, y, _, _ = planar_mixture(0, n_train=150)
    clf = RebelClassifier("similarity", cross_fit=3, n_rounds=5).fit(X, y)
    assert isinstance(clf.ensemble_[0], Comparisons)
