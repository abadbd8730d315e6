"""What is told after every round, and who may stop."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from problems import random_problem
from rebelboost import RebelClassifier, Stump, Tree
from rebelboost.boosting.callbacks import EarlyStopping, Phase, Progress
from rebelboost.boosting.rounds import Held, History, Round, RoundBatch

PROBLEM = random_problem(0, noise=2.0)


def fit(**options):
    given = options.pop("fit", {})
    options = {"learner": Stump(), "n_rounds": 20, **options}
    return RebelClassifier(**options).fit(PROBLEM.X, PROBLEM.y, **given)


class Listener:
    """Stops, or fails, at a chosen round."""

    def __init__(self, stop_at=None, fail_at=None, error=RuntimeError):
        self.stop_at, self.fail_at, self.error = stop_at, fail_at, error
        self.heard, self.ended = [], 0

    def on_rounds(self, batch):
        record = batch[-1]
        self.heard.append(record.index)
        if record.index == self.fail_at:
            raise self.error
        return record.index == self.stop_at

    def on_end(self):
        self.ended += 1


def test_history_is_a_table_with_a_row_for_each_round():
    model = fit(callbacks=[listener := Listener()])
    table = model.history_.table()
    assert table["index"] == listener.heard == list(range(20))
    assert {len(column) for column in table.values()} == {20}
    assert {name[0] for name in table["hypothesis"]} <= {"x", "c"}  # "x0 > 1.5", "constant"
    for name in ("log_loss", "loss_ratio", "rho", "edge", "bound", "error", "cost", "seconds"):
        assert np.isfinite(table[name]).all()
    assert np.all(np.diff(table["seconds"]) >= 0)
    assert listener.ended == 1


def test_history_reports_the_training_error_of_the_stages():
    model = fit(learner=Tree(2))
    errors = [np.mean(p != PROBLEM.y) for p in model.staged_predict(PROBLEM.X)]
    np.testing.assert_allclose(model.history_.table()["error"], errors, atol=1e-15)


def test_error_and_cost_are_weighted_means():
    model = RebelClassifier(Stump(), n_rounds=5, costs=PROBLEM.costs, decision="argmax")
    model.fit(PROBLEM.X, PROBLEM.y, sample_weight=PROBLEM.weight)
    decided = model.predict(PROBLEM.X)
    record = model.history_[-1]
    wrong = np.average(decided != PROBLEM.y, weights=PROBLEM.weight)
    paid = np.average(PROBLEM.costs[PROBLEM.y, decided], weights=PROBLEM.weight)
    assert math.isclose(record.error, wrong)
    assert math.isclose(record.cost, paid)


def test_an_empty_history_has_an_empty_table():
    assert History().table() == {}


def test_losses_ratios_and_rounds_fit_together():
    records = list(fit().history_)
    for before, after in itertools.pairwise(records):
        ratio = math.exp(after.log_loss - before.log_loss)
        assert math.isclose(after.loss_ratio, ratio, rel_tol=1e-9)


def test_a_callback_can_stop_the_fit_after_its_round():
    model = fit(callbacks=[first := Listener(stop_at=4), second := Listener()])
    assert len(model.ensemble_) == len(model.history_) == 5
    assert first.heard == second.heard == [0, 1, 2, 3, 4]
    assert first.ended == second.ended == 1


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_on_end_is_called_however_the_fit_ends(error):
    listener, other = Listener(fail_at=3, error=error), Listener()
    with pytest.raises(error):
        fit(callbacks=[other, listener])
    assert (listener.ended, other.ended) == (1, 1)


def test_a_tolerance_stops_when_the_loss_has_fallen_that_far():
    model = fit(learner=Tree(3), n_rounds=200, tol=0.1)
    losses = [record.log_loss for record in model.history_]
    first = math.log((len(model.classes_)) / 2)  # K subcosts of ½ for each sample
    assert losses[-1] < first + math.log(0.1) <= losses[-2]


def test_early_stopping_keeps_the_rounds_up_to_the_best_one():
    model = fit(learner=Tree(3), n_rounds=400, early_stopping=True, n_rounds_no_change=7)
    held = model.history_.table()["validation_log_loss"]
    best = int(np.argmin(held))
    assert len(model.ensemble_) == best + 1
    assert len(held) == best + 1 + 7


def test_validation_samples_can_be_given():
    other = random_problem(1, noise=2.0)
    model = fit(
        learner=Tree(3),
        n_rounds=400,
        early_stopping=True,
        n_rounds_no_change=7,
        fit={"validation": (other.X, other.y)},
    )
    table = model.history_.table()
    assert len(model.ensemble_) == int(np.argmin(table["validation_log_loss"])) + 1
    shown = table["validation_error"][len(model.ensemble_) - 1]
    assert math.isclose(shown, np.mean(model.predict(other.X) != other.y), abs_tol=1e-12)


def test_given_validation_samples_without_early_stopping_are_only_reported():
    other = random_problem(1, noise=2.0)
    model, plain = fit(fit={"validation": (other.X, other.y)}), fit()
    assert len(model.ensemble_) == len(plain.ensemble_) == 20
    assert len(model.history_.table()["validation_cost"]) == 20


def test_validation_labels_that_training_lacks_are_refused():
    with pytest.raises(
        ValueError, match="validation labels contain class 5, which is not among the training"
    ):
        fit(fit={"validation": (PROBLEM.X, PROBLEM.y + 5)})


def record(index, validation):
    held = None if validation is None else Held(validation, 0.0, 0.0)
    return Round(index, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, held, None, 0.0)


def test_early_stopping_waits_that_many_rounds_for_a_lower_loss():
    stopping = EarlyStopping(patience=2)
    answers = [
        stopping.on_rounds(RoundBatch(record(t, v)))
        for t, v in enumerate([3.0, 2.0, 2.0, 1.0, 5, 5])
    ]
    assert answers == [False, False, False, False, False, True]
    assert stopping.best_round == 3
    assert not EarlyStopping(patience=1).on_rounds(RoundBatch(record(9, None)))


@pytest.mark.parametrize("verbose", [0, 1])
def test_nothing_is_printed_where_there_is_no_terminal(verbose, capfd):
    fit(verbose=verbose)
    assert capfd.readouterr() == ("", "")


def test_a_progress_bar_on_a_terminal_ends_at_the_last_round(monkeypatch, capfd):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    fit(verbose=1, n_rounds=12)
    assert "round 12 of at most 12" in capfd.readouterr().err


def test_a_progress_bar_is_taken_down_after_an_exception(monkeypatch, capfd):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with pytest.raises(KeyboardInterrupt):
        fit(verbose=1, callbacks=[Listener(fail_at=2, error=KeyboardInterrupt)])
    bar = Progress(3)  # a second live display would be refused while the first one runs
    bar.on_end()


def test_the_phase_names_the_fold_and_estimates_the_time_left():
    def at(part, index, held=True):
        return SimpleNamespace(part=part, index=index, held=held or None)

    phase = Phase(n_folds=5)
    for record in (at(0, 0), at(0, 1), at(0, 0)):
        phase.advance(record, 1.0)
    assert phase.text() == "comparing models on fold 1 of 5: model 2"
    assert phase.left(9.0) == ""
    phase.advance(at(1, 0), 10.0)
    phase.advance(at(1, 0), 12.0)
    assert phase.text() == "fold 2 of 5: model 2"
    assert phase.left(12.0) == ""  # the first fold had other candidates
    phase.advance(at(2, 0), 14.0)
    assert phase.text() == "fold 3 of 5: model 1"
    assert phase.left(15.0) == "about 11 s left"
    phase.advance(at(0, 0, held=False), 26.0)
    assert phase.text() == "fitting to all rows"
    assert Phase().text() == "training"
