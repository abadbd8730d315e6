"""AutoGluon's best quality: libraries bagged and stacked, for 60 seconds on the clock."""

from compare.autogluon import Predictor

name = "AutoGluon, best (60 s)"
SECONDS = 60


def make(n_threads: int) -> Predictor:
    if n_threads != 1:
        raise ValueError(f"compare/autogluon.py runs AutoGluon with one processor, not {n_threads}")
    return Predictor("best_quality", SECONDS)
