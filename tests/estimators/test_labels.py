"""Labels of every kind that `fit` documents, with classes of one row, one class, and missing labels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rebelboost import RareClassWarning, RebelClassifier, SingleClassWarning

X = np.random.default_rng(0).normal(size=(40, 2))
LONE = ["a"] * 20 + ["b"] * 19 + ["c"]

TEXT = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "array of objects": lambda y: np.array(y, dtype=object),
    "array of NumPy's new text": lambda y: np.array(y, dtype=np.dtypes.StringDType()),
    "series": pd.Series,
    "series of objects": lambda y: pd.Series(y, dtype=object),
    "series of strings": lambda y: pd.Series(y, dtype="string"),
    "categorical series": lambda y: pd.Series(pd.Categorical(y)),
    "unused categories": lambda y: pd.Series(pd.Categorical(y, categories=["z", "c", "b", "a"])),
    "categorical": pd.Categorical,
    "index": pd.Index,
    "one column": lambda y: pd.DataFrame({"y": y}),
    "polars": pl.Series,
    "polars categorical": lambda y: pl.Series(y, dtype=pl.Categorical),
    "polars enum": lambda y: pl.Series(y, dtype=pl.Enum(["z", "c", "b", "a"])),
}
NUMBERS = {
    "integers": np.array,
    "floats": lambda y: np.array(y, dtype=float),
    "Int64": lambda y: pd.Series(y, dtype="Int64"),
    "polars integers": pl.Series,
}
KEEPS_MISSING = set(TEXT) - {"array", "array of NumPy's new text"}


def codes(labels):
    return [ord(label) for label in labels]


def fitted(y):
    return RebelClassifier("stump", n_rounds=3).fit(X, y)


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("kind", TEXT)
def test_a_class_with_one_row_of_text_is_served_with_a_warning(kind):
    with pytest.warns(RareClassWarning, match="class 'c' has only one sample"):
        clf = fitted(TEXT[kind](LONE))
    assert clf.classes_.tolist() == ["a", "b", "c"], "categories without rows are no classes"


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_class_with_one_row_of_numbers_is_served_with_a_warning(kind):
    with pytest.warns(RareClassWarning, match="class 99(.0)? has only one sample"):
        clf = fitted(NUMBERS[kind](codes(LONE)))
    assert clf.classes_.tolist() == [97, 98, 99]


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("kind", TEXT)
def test_a_single_class_of_any_kind_is_always_predicted(kind):
    with pytest.warns(SingleClassWarning, match="only one class, 'a'"):
        clf = fitted(TEXT[kind](["a"] * 40))
    assert set(clf.predict(X)) == {"a"}


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("kind", sorted(KEEPS_MISSING))
def test_a_missing_label_is_named_by_its_row(kind):
    with pytest.raises(ValueError, match="row 39 of y has no label: remove rows without a label"):
        fitted(TEXT[kind]([*LONE[:39], None]))


def test_labels_of_bytes_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"y contains bytes: convert them to text"):
        fitted(np.array(LONE, dtype="S"))
