"""Python's own share of a boosting round, by step: the time outside the kernels.

    python benchmarks/overhead.py [--samples 200] [--features 10] [--classes 3]

Prints microseconds a round, the median over rounds. A step's share is its time less the time in kernels. A
kernel's time includes the conversion of its arguments.
"""

import argparse
import time
from collections import defaultdict
from typing import Any

import numpy as np

from rebelboost import Similarity, Tree, kernels
from rebelboost.boosting import loop
from rebelboost.boosting.fit import follow, train
from rebelboost.boosting.rounds import History
from rebelboost.boosting.settings import Settings
from rebelboost.data.samples import Samples
from rebelboost.learners.base import WeakLearner
from rebelboost.rows.base import MemoryRows

LEARNERS: dict[str, WeakLearner] = {
    "tree": Tree(),
    "similarity": Similarity(scale="standard"),
}
"""The learners whose rounds are timed, by name."""
N_ROUNDS = 400


class Clock:
    """Times of a round's steps, in seconds, and of the kernels that they call."""

    def __init__(self) -> None:
        self.kernels = 0.0
        self.steps: dict[str, list[tuple[float, float]]] = defaultdict(list)

    def timed(self, name: str, function: Any) -> Any:
        """The function, with its calls recorded under a name."""

        def call(*arguments: Any, **options: Any) -> Any:
            before, began = self.kernels, time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                inside = self.kernels - before
                self.steps[name].append((time.perf_counter() - began, inside))

        return call

    def __getattr__(self, name: str) -> Any:
        """A kernel that adds its time: the clock stands in for the kernel module."""
        kernel = getattr(kernels.compiled, name)

        def call(*arguments: Any) -> Any:
            began = time.perf_counter()
            try:
                return kernel(*arguments)
            finally:
                self.kernels += time.perf_counter() - began

        return call


class TimedLearner:
    """A learner whose proposals are timed."""

    def __init__(self, learner: WeakLearner, clock: Clock) -> None:
        self.learner, self.clock = learner, clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self.learner, name)

    def prepare(self, rows: Any, n_threads: int = 1) -> Any:
        """Prepare the samples."""
        prepared = self.learner.prepare(rows, n_threads)
        prepared.propose = self.clock.timed("propose", prepared.propose)  # type: ignore[method-assign]
        return prepared


class Rounds:
    """Notes the end of every round."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.ends: list[tuple[float, float]] = []

    def on_rounds(self, batch: object) -> bool:
        """Note the time."""
        del batch
        self.ends.append((time.perf_counter(), self.clock.kernels))
        return False

    def on_end(self) -> None:
        """Do nothing."""


def problem(n_samples: int, n_features: int, n_classes: int) -> tuple[Samples, Samples]:
    """Noisy blobs, and a quarter as many samples held out."""
    rng = np.random.default_rng(0)
    n_held = n_samples // 4
    y = rng.integers(n_classes, size=n_samples + n_held).astype(np.int32)
    X = 0.7 * rng.normal(size=(n_classes, n_features))[y] + rng.normal(size=(len(y), n_features))
    costs = 1.0 - np.eye(n_classes)
    rows = slice(0, n_samples), slice(n_samples, None)
    first, held = (Samples(np.ascontiguousarray(X[r]), y[r], costs) for r in rows)
    return first, held


def time_rounds(learner: WeakLearner, samples: Samples, held: Samples) -> dict[str, float]:
    """Microseconds of Python by step, of all Python, and of the kernels."""
    clock = Clock()
    settings = Settings(TimedLearner(learner, clock), N_ROUNDS, learner.shrinkage, tol=0.0)  # type: ignore[arg-type]
    followed = follow(held, settings)
    followed.follow = clock.timed("held-out samples", followed.follow)  # type: ignore[method-assign]
    add, tell, rounds = loop.State.add, loop.tell, Rounds(clock)

    def add_once(state: Any, *arguments: Any) -> None:
        """Held-out samples are a step of their own."""
        if state is followed.state:
            add(state, *arguments)
        else:
            clock.timed("advance", add)(state, *arguments)

    loop.State.add = add_once  # type: ignore[method-assign]
    loop.tell = clock.timed("callbacks", tell)
    kernels.active = clock  # type: ignore[assignment]
    try:
        train(
            MemoryRows.of(samples), settings, history=History(), callbacks=[rounds], held=followed
        )
    finally:
        loop.State.add, loop.tell, kernels.active = add, tell, kernels.compiled  # type: ignore[method-assign]
    ends = np.array(rounds.ends)
    spent = np.diff(ends, axis=0)
    whole = float(np.median(spent[:, 0] - spent[:, 1])) * 1e6
    shares = {
        name: float(np.median([all_ - inside for all_, inside in calls])) * 1e6
        for name, calls in clock.steps.items()
    }
    shares["the loop itself"] = whole - sum(shares.values())
    return shares | {"Python": whole, "kernels": float(np.median(spent[:, 1])) * 1e6}


def main() -> None:
    """Print a table for each learner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--classes", type=int, default=3)
    args = parser.parse_args()
    samples, held = problem(args.samples, args.features, args.classes)
    print(f"{args.samples} × {args.features}, {args.classes} classes; µs a round (median)")
    for name, learner in LEARNERS.items():
        runs = [time_rounds(learner, samples, held) for _ in range(3)]
        best = min(runs, key=lambda run: run["Python"])
        for step, spent in best.items():
            print(f"{name:<12} {step:<20} {spent:8.1f}")


if __name__ == "__main__":
    main()
