"""Thousands of fits in one process, and fits that are interrupted."""

import gc
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from problems import random_problem
from rebelboost import RebelClassifier, RebelRegressor, Similarity, load

N_FITS, N_WARM = 2000, 300
ROOM = 3 << 20
"""Bytes that the allocator may keep between calls. A leak of one array of 30 samples by fit is more."""


def resident():
    """Bytes of memory that the process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_2000_fits_and_predictions_take_no_more_memory_than_a_few():
    problem = random_problem(0, n_samples=40, n_features=3)
    learners = ["stump", "tree", Similarity(scale="standard")]
    for i in range(N_FITS):
        model = RebelClassifier(learners[i % 3], n_rounds=2, cross_fit=None)
        model.fit(problem.X, problem.y).predict_proba(problem.X)
        if i == N_WARM:
            gc.collect()
            before = resident()
    gc.collect()
    assert resident() - before < ROOM


INTERRUPTED = """
import signal
import sys
from threading import Lock
import numpy as np
from rebelboost import RebelClassifier, Similarity

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let background processes ignore it
learner = {"similarity": Similarity(scale="standard")}.get(sys.argv[1], sys.argv[1])
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 30))
y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=3000) > 0).astype(int)
model = RebelClassifier("stump", n_rounds=3).fit(X[:, :4], y)
before = model.decision_function(X[:, :4])


class Telling:
    first = Lock()

    def on_rounds(self, _):  # by two threads at once in the race: one of them tells
        if self.first.acquire(blocking=False):
            print("training", flush=True)
        return False

    def on_end(self):
        pass


model.set_params(learner=learner, n_rounds=100_000, tol=0, n_jobs=2)
if sys.argv[1] != "auto":
    model.set_params(callbacks=[Telling()], cross_fit=None)
else:  # callbacks would make the fits run in turn
    from rebelboost.selection import runner

    train = runner.train

    def announced(*given, **named):
        Telling.on_rounds(Telling, None)
        return train(*given, **named)

    runner.train = announced
try:
    model.fit(X, y)
    print("finished")
except KeyboardInterrupt:
    after = model.decision_function(X[:, :4])
    print("same" if np.array_equal(before, after) else "other", model.n_features_in_)
"""


@pytest.mark.parametrize("learner", ["stump", "tree", "similarity", "auto"])
def test_ctrl_c_during_a_fit_returns_at_once_and_leaves_the_last_model(learner):

    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, learner], stdout=subprocess.PIPE, text=True
    ) as child:
        began_training = child.stdout.readline()
        child.send_signal(signal.SIGINT)
        began = time.monotonic()
        told = child.stdout.readline()
        seconds = time.monotonic() - began
        child.communicate(timeout=60)
    assert began_training == "training\n"
    assert told == "same 4\n"
    assert seconds < 1


class Interrupting:
    """A callback that interrupts the fit after some rounds."""

    def __init__(self, after):
        self.left = after

    def on_rounds(self, batch):
        _ = batch[-1]
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return False

    def on_end(self):
        pass


@pytest.mark.parametrize("estimator", [RebelClassifier, RebelRegressor])
@pytest.mark.parametrize("warm_start", [False, True])
def test_an_interrupted_fit_leaves_a_model_that_predicts_and_saves(estimator, warm_start, tmp_path):
    problem = random_problem(2, n_samples=60, n_features=4)
    model = estimator("stump", n_rounds=4, cross_fit=None, warm_start=warm_start)
    model.fit(problem.X, problem.y)
    before = model.predict(problem.X)
    model.set_params(n_rounds=20, callbacks=[Interrupting(3)])
    other = problem.X if warm_start else problem.X[:, :2]
    with pytest.raises(KeyboardInterrupt):
        model.fit(other, problem.y)
    np.testing.assert_array_equal(model.predict(problem.X), before)
    assert len(model.history_) == 4
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").predict(problem.X), before)


def test_a_refused_fit_leaves_the_last_model():
    problem = random_problem(2, n_samples=60, n_features=4)
    model = RebelClassifier("stump", n_rounds=4).fit(problem.X, problem.y)
    before = model.predict(problem.X)
    with pytest.raises(ValueError, match="labels"):
        model.fit(problem.X[:, :2], problem.y[:5])
    np.testing.assert_array_equal(model.predict(problem.X), before)
