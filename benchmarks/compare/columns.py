"""Tables with categories, and how a library that knows numbers alone is fed with them."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler


def frame(X: np.ndarray, categorical: np.ndarray) -> pd.DataFrame:
    """A frame of the whole table, before it is split: the levels are then the same in all parts."""
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    chosen = table.columns[np.asarray(categorical, dtype=bool)]
    for column in chosen:
        codes = table[column].astype("Int64")
        names = [_named(code) for code in sorted(codes.dropna().unique())]  # XGBoost wants text
        table[column] = pd.Categorical(codes.map(_named, na_action="ignore"), names)
    return table


def _named(code: float) -> str:
    """A name for a code, which older versions of pandas pass as a float."""
    return f"c{int(code):03d}"


def on_numbers(estimator: Any, *, scaled: bool) -> Pipeline:
    """One column a category (a missing one counts as its own), medians for missing numbers."""
    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler() if scaled else "passthrough",
    )
    encoded = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), is_category),
        (numbers, is_number),
    )
    return make_pipeline(FunctionTransformer(pd.DataFrame), encoded, estimator)


is_category = make_column_selector(dtype_include="category")
is_number = make_column_selector(dtype_exclude="category")
