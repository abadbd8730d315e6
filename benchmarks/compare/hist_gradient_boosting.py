"""scikit-learn's HistGradientBoosting at its defaults (it stops early above 10,000 samples).

It has no `n_jobs`: its threads are OpenMP's, which are limited here for the whole process.
The seed makes repeats fit the same model.
"""

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

name = "HistGradientBoosting"


def make(n_threads: int) -> HistGradientBoostingClassifier:
    threadpool_limits(n_threads, user_api="openmp")
    return HistGradientBoostingClassifier(random_state=0)


def make_regressor(n_threads: int) -> HistGradientBoostingRegressor:
    threadpool_limits(n_threads, user_api="openmp")
    return HistGradientBoostingRegressor(random_state=0)
