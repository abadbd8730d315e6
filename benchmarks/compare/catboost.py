"""CatBoost at its defaults, silent; it has to be told which columns are categorical."""

from typing import Any

import pandas as pd
from catboost import CatBoostClassifier, CatBoostRegressor

name = "CatBoost"


def _told(X: Any) -> tuple[Any, list[str] | None]:
    """The table with its categories as text, which may not be missing, and their columns."""
    if not isinstance(X, pd.DataFrame):
        return X, None
    chosen = list(X.columns[X.dtypes == "category"])
    text = {column: X[column].astype(object).fillna("missing").astype(str) for column in chosen}
    return X.assign(**text), chosen


class Classifier(CatBoostClassifier):
    def fit(self, X: Any, y: Any) -> "Classifier":
        table, categorical = _told(X)
        return super().fit(table, y, cat_features=categorical)

    def predict(self, X: Any) -> Any:
        return super().predict(_told(X)[0]).ravel()

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(_told(X)[0])


class Regressor(CatBoostRegressor):
    def fit(self, X: Any, y: Any) -> "Regressor":
        table, categorical = _told(X)
        return super().fit(table, y, cat_features=categorical)

    def predict(self, X: Any) -> Any:
        return super().predict(_told(X)[0])


def make(n_threads: int) -> Classifier:
    return Classifier(thread_count=n_threads, verbose=False, allow_writing_files=False)


def make_regressor(n_threads: int) -> Regressor:
    return Regressor(thread_count=n_threads, verbose=False, allow_writing_files=False)
