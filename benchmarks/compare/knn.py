"""scikit-learn's five nearest neighbours, scaled, at its defaults."""

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline

from compare.columns import on_numbers

name = "5-NN, scaled"


def make(n_threads: int) -> Pipeline:
    return on_numbers(KNeighborsClassifier(n_jobs=n_threads), scaled=True)


def make_regressor(n_threads: int) -> Pipeline:
    return on_numbers(KNeighborsRegressor(n_jobs=n_threads), scaled=True)
