"""Our trees in one fit, as the other histogram boosters are: what is measured for speed."""

from rebelboost import RebelClassifier, RebelRegressor

name = "rebelboost, trees"


def make(n_threads: int) -> RebelClassifier:
    return RebelClassifier("tree", cross_fit=None, n_jobs=n_threads)


def make_regressor(n_threads: int) -> RebelRegressor:
    return RebelRegressor("tree", n_jobs=n_threads)
