"""LightGBM at its defaults, silent."""

from lightgbm import LGBMClassifier, LGBMRegressor

name = "LightGBM"


def make(n_threads: int) -> LGBMClassifier:
    return LGBMClassifier(n_jobs=n_threads, verbosity=-1)


def make_regressor(n_threads: int) -> LGBMRegressor:
    return LGBMRegressor(n_jobs=n_threads, verbosity=-1)
