"""End processes while daemon threads fit, predict and explain: python tests/fuzz/exiting.py [count].

Python ends such a thread when it next asks for the interpreter's lock. The process must then end with exit
code 0, whatever the thread was doing.
"""
# ruff: noqa: T201  (a command)

import collections
import os
import random
import sys
import threading
import time

import numpy as np

from rebelboost import RebelClassifier, Tree
from rebelboost.explain.curves import leading_features

LONGEST = 0.3
"""Seconds after which a process ends at the latest."""
PATIENCE = 20.0
"""Seconds after which an end that does not come is a failure."""


def work(n_rows, learner, n_jobs):
    """Fit, predict and explain until the process ends."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, 5)), rng.integers(3, size=n_rows)
    while True:
        model = RebelClassifier(learner, n_rounds=20, n_jobs=n_jobs).fit(X, y)
        model.predict_proba(X)
        str(model.explain(X[:2]))
        model.summary()
        leading_features(model.model_, X, 2)


WORKS = [(150, "auto", 2), (5000, Tree(3), 2), (300, "similarity", 1), (100, "smooth", 1)]


def child(given, seconds):
    """Returning from here ends the interpreter as a script's last line does."""
    for _ in range(2):
        threading.Thread(target=work, args=given, daemon=True).start()
    time.sleep(seconds)


def ended(pid):
    """The exit code; negative for a signal, None if it does not end."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return None


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rng, codes = random.Random(0), collections.Counter()
    for i in range(count):
        given, seconds = WORKS[i % len(WORKS)], rng.uniform(0, LONGEST)
        pid = os.fork()
        if pid == 0:
            child(given, seconds)
            return
        codes[ended(pid)] += 1
    n_failed = count - codes[0]
    print(f"{count} ended while threads worked, {n_failed} failed")
    if n_failed:
        sys.exit(f"exit codes: {dict(codes)}")


if __name__ == "__main__":
    main()
