"""Let each allocation of the compiled kernels fail once: run by tests/kernels/test_allocation.py.

Whatever fails must end in MemoryError, and the next fit must give the same model as before.
"""
# ruff: noqa: T201  (a command)

import ctypes
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from problems import random_problem
from rebelboost import RebelClassifier, Similarity, Stump, Tree
from rebelboost.estimators import fitting

fitting.threads_of = lambda _: 2
LEARNERS = [
    Stump(),
    Tree(2),
    Tree(2, search="pruned"),
    Tree(2, outputs="tree"),
    Similarity(scale="standard"),
]
PROBLEM = random_problem(0, n_samples=3000, n_features=6)
MOST = int(sys.argv[2]) if len(sys.argv) > 2 else 60
"""Allocations of one fit that are tried; a fit makes more than 400."""


def scores(learner):
    model = RebelClassifier(learner, n_rounds=2, cross_fit=None).fit(PROBLEM.X, PROBLEM.y)
    return model.decision_function(PROBLEM.X)


def main():
    memory = ctypes.CDLL(sys.argv[1])
    n_tried = n_raised = n_wrong = 0
    for learner in LEARNERS:
        expected = scores(learner)
        for n in range(MOST):
            memory.fail_after(n)
            raised = False
            try:
                scores(learner)
            except MemoryError:
                raised = True
            memory.fail_after(-1)
            if not memory.failed():
                break  # the fit has made fewer allocations
            n_tried += 1
            n_raised += raised
            n_wrong += not np.array_equal(scores(learner), expected)
    print(
        f"{n_tried} allocations failed, {n_raised} MemoryErrors, {n_wrong} wrong models afterwards"
    )
    sys.exit(bool(n_wrong) or n_raised == 0)


if __name__ == "__main__":
    main()
