"""One estimator in many threads and processes: the same bits, and no crash at exit."""

import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from joblib import Parallel, delayed

from problems import random_problem
from rebelboost import RebelClassifier, Similarity

PROBLEM = random_problem(1, n_samples=3000, n_features=6)
LEARNERS = {
    "stump": "stump",
    "tree": "tree",
    "similarity": Similarity(scale="standard"),
    "smooth": "smooth",
}


@pytest.fixture(scope="module", params=LEARNERS)
def model(request):
    few = PROBLEM.X[:400], PROBLEM.y[:400]
    return RebelClassifier(LEARNERS[request.param], n_rounds=10, n_jobs=2).fit(*few)


def bits(model):
    explained = model.explain(PROBLEM.X[:3])
    return (
        model.predict_proba(PROBLEM.X).tobytes(),
        model.predict(PROBLEM.X).tobytes(),
        model.expected_cost(PROBLEM.X).tobytes(),
        str(explained),
    )


def test_eight_threads_on_one_estimator_predict_the_same_bits(model):
    expected = bits(model)
    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(lambda _: bits(model), range(32)))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_started_in_any_way_predict_the_same_bits(method):
    few = PROBLEM.X[:400], PROBLEM.y[:400]
    model = RebelClassifier("tree", n_rounds=10, n_jobs=2).fit(*few)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(bits, [model] * 2, timeout=120)) == [bits(model)] * 2


def test_loky_workers_predict_the_same_bits(model):
    expected = bits(model)
    found = Parallel(n_jobs=2, backend="loky")(delayed(bits)(model) for _ in range(4))
    assert found == [expected] * 4


EXITING = """
import os
import sys
import threading
import numpy as np
from rebelboost import RebelClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 10))
y = (X[:, 0] > 0).astype(int)
model = RebelClassifier("tree", n_rounds=10, n_jobs=2, cross_fit=None).fit(X, y).model_


def work():
    model.scores(X, 2)
    begun.wait()
    while True:
        model.scores(X, 2)


for _ in range(5):  # in children, so that all is imported once
    pid = os.fork()
    if pid == 0:
        break
    _, status = os.waitpid(pid, 0)
    if status:
        sys.exit(f"ended with {os.waitstatus_to_exitcode(status)}")
else:
    sys.exit()
begun = threading.Barrier(4)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
print("leaving", flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_the_interpreter_can_exit_while_threads_run_kernels():
    done = subprocess.run(
        [sys.executable, "-c", EXITING], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "leaving\n" * 5), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_the_interpreter_can_exit_while_daemon_threads_fit():
    script = Path(__file__).parent / "fuzz" / "exiting.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), "20"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout == "20 ended while threads worked, 0 failed\n", done.stdout + done.stderr


def test_a_pickled_estimator_predicts_the_same_bits(model):
    assert bits(pickle.loads(pickle.dumps(model))) == bits(model)
