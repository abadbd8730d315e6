"""Fits side by side."""

import signal
import threading
import time
import warnings

import joblib
import numpy as np
import pytest

from rebelboost import RebelClassifier, RebelRegressor
from rebelboost.boosting.rounds import RoundBatch
from rebelboost.datasets import planar_mixture
from rebelboost.selection.fit_pool import FitPool

SET = planar_mixture(0)
X, y = SET.X_train[:200], SET.y_train[:200]


class Rounds:
    """A callback that notes rounds and may stop."""

    def __init__(self, most=10**9):
        self.most, self.seen, self.threads = most, [], set()

    def on_rounds(self, batch):
        record = batch[-1]
        self.seen.append((record.part, record.index))
        self.threads.add(threading.get_ident())
        return len(self.seen) >= self.most

    def on_end(self):
        self.seen.append("end")


def test_results_come_in_the_order_of_the_jobs_whoever_ends_first():
    def job(i):
        def run(callbacks, n_threads):
            time.sleep(0.02 * (5 - i))
            return i

        return run

    assert FitPool(3).run([job(i) for i in range(5)]) == list(range(5))
    assert FitPool(3).run([]) == []


def test_the_longest_jobs_begin_first():
    begun = []

    def job(i):
        def run(callbacks, n_threads):
            begun.append(i)
            time.sleep(0.05)
            return i

        return run

    assert FitPool(2).run([job(i) for i in range(4)], [1.0, 4.0, 2.0, 3.0]) == [0, 1, 2, 3]
    assert set(begun[:2]) == {1, 3}


def test_kernels_have_one_thread_where_fits_run_side_by_side_and_all_where_one_runs():
    jobs = [lambda callbacks, n_threads: n_threads] * 4
    assert FitPool(2).run(jobs) == [1] * 4
    assert FitPool(2).run(jobs[:1]) == [2]
    assert FitPool(2, in_turn=True).run(jobs) == [2] * 4


def test_an_error_in_a_fit_is_raised_and_stops_the_others():
    ended = threading.Event()

    def fails(callbacks, n_threads):
        raise RuntimeError("the first error")

    def lasts(callbacks, n_threads):
        while not any(callback.on_rounds(None) for callback in callbacks):
            time.sleep(0.001)
        ended.set()

    with pytest.raises(RuntimeError, match="the first error"):
        FitPool(2).run([fails, lasts, lasts])
    assert ended.is_set()


def test_callbacks_hear_of_one_fit_at_a_time():
    heard = Rounds()

    def job(part):
        def run(callbacks, n_threads):
            for index in range(20):
                for callback in callbacks:
                    record = type("Record", (), {"part": part, "index": index})
                    callback.on_rounds(RoundBatch(record))
                time.sleep(0.001)

        return run

    FitPool(2, [heard]).run([job(part) for part in range(4)])
    assert heard.seen == sorted(heard.seen)
    assert heard.seen[:20] == [(0, index) for index in range(20)]


def test_numpys_error_handling_is_the_callers_in_every_thread():
    def divides(callbacks, n_threads):
        return np.ones(1) / np.zeros(1)

    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        found = FitPool(2).run([divides, divides])
    assert np.all(np.isinf(found))


@pytest.mark.parametrize("estimator", [RebelClassifier, RebelRegressor])
def test_the_model_is_the_same_for_any_number_of_jobs_and_any_order_of_rows(estimator):
    alone = estimator(n_rounds=25, n_jobs=1).fit(X, y)
    expected = alone.predict(SET.X_test)
    order = np.random.default_rng(0).permutation(len(y))
    for n_jobs in (2, 3):
        for rows in (slice(None), order):
            other = estimator(n_rounds=25, n_jobs=n_jobs).fit(X[rows], y[rows])
            np.testing.assert_array_equal(other.predict(SET.X_test), expected)
            assert other.cross_fit_.standings == alone.cross_fit_.standings
            assert other.cross_fit_.runs == alone.cross_fit_.runs
        beside = estimator(n_rounds=25, n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(
            [r.log_loss for r in beside.history_], [r.log_loss for r in alone.history_]
        )


def test_a_users_callbacks_hear_of_every_round_in_order_and_may_stop():
    heard = Rounds()
    fitted = RebelClassifier(n_rounds=10, n_jobs=2, callbacks=[heard]).fit(X, y)
    assert heard.threads == {threading.get_ident()}
    assert heard.seen == [*((r.part, r.index) for r in fitted.history_), "end"]
    stopping = Rounds(most=3)
    stopped = RebelClassifier(n_rounds=10, n_jobs=2, callbacks=[stopping]).fit(X, y)
    assert len(stopped.history_) < len(fitted.history_)


def test_an_interruption_ends_all_fits_and_leaves_the_last_model_usable():
    model = RebelClassifier(n_rounds=10, n_jobs=2).fit(X, y)
    expected = model.predict(SET.X_test)
    model.set_params(n_rounds=10**6, tol=0.0, learner="stump", cross_fit=5)
    n_threads = threading.active_count()
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(np.tile(SET.X_train, (20, 1)), np.tile(SET.y_train, 20))
    timer.join()
    assert time.monotonic() - began < 0.3 + 1.0
    assert threading.active_count() <= n_threads
    np.testing.assert_array_equal(model.predict(SET.X_test), expected)


def test_fits_run_inside_joblib():
    with joblib.parallel_config(n_jobs=2, backend="threading"):
        inside = RebelClassifier(n_rounds=5).fit(X, y)
        many = joblib.Parallel()(
            joblib.delayed(RebelClassifier(n_rounds=5).fit)(X, y) for _ in range(2)
        )
    expected = RebelClassifier(n_rounds=5, n_jobs=1).fit(X, y).predict_proba(SET.X_test)
    for each in (inside, *many):
        np.testing.assert_array_equal(each.predict_proba(SET.X_test), expected)
