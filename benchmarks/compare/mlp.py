"""scikit-learn's neural net, scaled, at its defaults. Its threads are those of BLAS."""

from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from compare.columns import on_numbers

name = "MLP, scaled"


def make(n_threads: int) -> Pipeline:
    threadpool_limits(n_threads, user_api="blas")
    return on_numbers(MLPClassifier(random_state=0), scaled=True)


def make_regressor(n_threads: int) -> Pipeline:
    threadpool_limits(n_threads, user_api="blas")
    return on_numbers(MLPRegressor(random_state=0), scaled=True)
