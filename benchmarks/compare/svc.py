"""scikit-learn's support vector machine, scaled, at its defaults; it has one thread."""

from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from compare.columns import on_numbers

name = "SVC, scaled"


def make(n_threads: int) -> Pipeline:
    del n_threads
    return on_numbers(SVC(), scaled=True)


def make_regressor(n_threads: int) -> Pipeline:
    del n_threads
    return on_numbers(SVR(), scaled=True)
