"""AutoGluon at its default preset, medium quality: several libraries, fitted once, and their best average."""

from compare.autogluon import Predictor

name = "AutoGluon, medium"


def make(n_threads: int) -> Predictor:
    if n_threads != 1:
        raise ValueError(f"compare/autogluon.py runs AutoGluon with one processor, not {n_threads}")
    return Predictor("medium_quality", None)
