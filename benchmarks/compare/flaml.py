"""FLAML at its defaults, for 60 seconds on the clock: a search over libraries and their settings."""

from typing import Any

from flaml import AutoML

name = "FLAML (60 s)"
SECONDS = 60


class Searched(AutoML):
    """FLAML's search, whose settings go to `fit`."""

    def __init__(self, n_threads: int) -> None:
        super().__init__()
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any) -> "Searched":
        super().fit(
            X,
            y,
            task="classification",
            time_budget=SECONDS,
            n_jobs=self.n_threads,
            seed=0,
            verbose=0,
        )
        return self


def make(n_threads: int) -> Searched:
    return Searched(n_threads)
