"""XGBoost at its defaults; "hist" is what its default "auto" means, said aloud."""

from xgboost import XGBClassifier

name = "XGBoost"


def make(n_threads: int) -> XGBClassifier:
    return XGBClassifier(tree_method="hist", n_jobs=n_threads)
