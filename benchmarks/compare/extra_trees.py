"""scikit-learn's extra trees at their defaults; the seed makes repeats fit the same model."""

from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.pipeline import Pipeline

from compare.columns import on_numbers

name = "extra trees"


def make(n_threads: int) -> Pipeline:
    return on_numbers(ExtraTreesClassifier(n_jobs=n_threads, random_state=0), scaled=False)


def make_regressor(n_threads: int) -> Pipeline:
    return on_numbers(ExtraTreesRegressor(n_jobs=n_threads, random_state=0), scaled=False)
