"""scikit-learn's random forest at its defaults; the seed makes repeats fit the same model."""

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import Pipeline

from compare.columns import on_numbers

name = "random forest"


def make(n_threads: int) -> Pipeline:
    return on_numbers(RandomForestClassifier(n_jobs=n_threads, random_state=0), scaled=False)


def make_regressor(n_threads: int) -> Pipeline:
    return on_numbers(RandomForestRegressor(n_jobs=n_threads, random_state=0), scaled=False)
