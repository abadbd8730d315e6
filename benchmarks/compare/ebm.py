"""Explainable Boosting Machines (interpret) at their defaults: the other white box."""

from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

name = "EBM"


def make(n_threads: int) -> ExplainableBoostingClassifier:
    return ExplainableBoostingClassifier(n_jobs=n_threads)


def make_regressor(n_threads: int) -> ExplainableBoostingRegressor:
    return ExplainableBoostingRegressor(n_jobs=n_threads)
