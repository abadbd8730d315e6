"""Fits beside one another: in forked children and in threads."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ensembles import arrays, assert_same
from problems import random_problem
from rebelboost import RebelClassifier, Stump, Tree
from rebelboost.estimators import fitting

# Large enough that the kernels use their threads.
PROBLEM = random_problem(0, n_samples=20_000, n_features=10)
LEARNERS = [Stump(), Tree(3, outputs="tree"), Tree(3)]


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    """Fits use two threads whatever the machine has."""
    monkeypatch.setattr(fitting, "threads_of", lambda _: 2)


def fit(learner):
    return RebelClassifier(learner, n_rounds=4).fit(PROBLEM.X, PROBLEM.y)


def fit_and_send(learner, pipe):
    pipe.send(arrays(fit(learner)))
    pipe.close()


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_fit_in_a_parent_then_in_a_forked_child_gives_the_same_model(learner):
    parent = arrays(fit(learner))
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=fit_and_send, args=(learner, sender))
    child.start()
    try:
        assert receiver.poll(60), "the child hangs"
        received = receiver.recv()
    finally:
        child.join(5)
        child.kill()
    assert received.keys() == parent.keys()
    for name, array in parent.items():
        np.testing.assert_array_equal(received[name], array)
    assert arrays(fit(learner)).keys() == parent.keys()  # the parent still works


def test_four_threads_that_fit_at_once_give_the_models_of_one():
    alone = [fit(learner) for learner in LEARNERS]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(fit, LEARNERS * 4))
    for i, model in enumerate(together):
        assert_same(model, alone[i % len(alone)])
