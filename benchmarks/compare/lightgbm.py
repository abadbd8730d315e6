"""LightGBM at its defaults, silent."""

from lightgbm import LGBMClassifier

name = "LightGBM"


def make(n_threads: int) -> LGBMClassifier:
    return LGBMClassifier(n_jobs=n_threads, verbosity=-1)
