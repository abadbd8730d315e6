"""XGBoost at its defaults; "hist" is what its default "auto" means, said aloud.

Categories are taken as such, which matters for frames alone.
"""

from xgboost import XGBClassifier, XGBRegressor

name = "XGBoost"


def make(n_threads: int) -> XGBClassifier:
    return XGBClassifier(tree_method="hist", enable_categorical=True, n_jobs=n_threads)


def make_regressor(n_threads: int) -> XGBRegressor:
    return XGBRegressor(tree_method="hist", enable_categorical=True, n_jobs=n_threads)
