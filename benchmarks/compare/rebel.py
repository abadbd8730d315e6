"""Ours, with one setting for all sets: the default."""

from rebelboost import RebelClassifier, RebelRegressor

name = "rebelboost"


def make(n_threads: int) -> RebelClassifier:
    return RebelClassifier(n_jobs=n_threads)


def make_regressor(n_threads: int) -> RebelRegressor:
    return RebelRegressor(n_jobs=n_threads)
