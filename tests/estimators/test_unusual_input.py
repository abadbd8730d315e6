"""Input of the kinds that people have: sparse matrices, dates, lazy frames; and clear refusals of others."""

import datetime as dt
import io
import pydoc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from rebelboost import RebelClassifier, RebelRegressor, load
from rebelboost.estimators import validation
from rebelboost.exceptions import CostError, NumbersAsTextWarning

RNG = np.random.default_rng(0)
X = np.where(RNG.random((80, 6)) < 0.3, RNG.integers(1, 5, (80, 6)), 0).astype(float)
Y = (X[:, 0] + X[:, 1] > 1).astype(int)


def quick(**options):
    return RebelClassifier(**{"learner": "tree", "n_rounds": 5} | options)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_sparse_tables_give_the_model_of_the_same_array(form):
    dense, thin = quick().fit(X, Y), quick().fit(form(X), Y)
    np.testing.assert_array_equal(thin.predict_proba(form(X)), dense.predict_proba(X))
    np.testing.assert_array_equal(thin.predict_proba(X), dense.predict_proba(X))
    assert thin.explain(form(X[:1])).text() == dense.explain(X[:1]).text()


def test_words_are_classified_in_a_pipeline():
    texts = ["good fine", "bad poor", "fine day", "poor day"] * 10
    model = make_pipeline(CountVectorizer(), quick(cross_fit=None))
    assert model.fit(texts, [1, 0, 1, 0] * 10).score(texts, [1, 0, 1, 0] * 10) == 1


def test_a_sparse_table_that_would_fill_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(validation, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"of shape \(80, 6\).*TruncatedSVD"):
        quick().fit(sparse.csr_matrix(X), Y)


DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=int(d)) for d in RNG.integers(0, 700, 80)]
LATE = np.array([day >= dt.date(2025, 1, 1) for day in DAYS]).astype(int)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"day": DAYS, "v": X[:, 0]}),
        pl.DataFrame({"day": DAYS, "v": X[:, 0]}).with_columns(pl.col("day").cast(pl.Datetime)),
        pl.LazyFrame({"day": DAYS, "v": X[:, 0]}),
        pd.DataFrame({"day": pd.to_datetime(DAYS), "v": X[:, 0]}),
        pd.DataFrame({"day": pd.to_datetime(DAYS, utc=True), "v": X[:, 0]}),
    ],
    ids=["date", "datetime", "lazy", "pandas", "pandas with a time zone"],
)
def test_dates_count_as_days(frame):
    model = quick().fit(frame, LATE)
    assert model.score(frame, LATE) == 1
    numbers = np.column_stack([[(d - dt.date(1970, 1, 1)).days for d in DAYS], X[:, 0]])
    np.testing.assert_array_equal(
        model.predict_proba(frame), quick().fit(numbers, LATE).predict_proba(numbers)
    )


def test_missing_dates_and_durations_are_numbers_too():
    waits = [None if i % 7 == 0 else dt.timedelta(hours=36 * (i % 5)) for i in range(80)]
    frame = pl.DataFrame({"wait": waits, "day": [None, *DAYS[1:]]})
    encoder = quick().fit(frame, LATE).model_.encoder
    import narwhals.stable.v1 as nw

    values = encoder.transform_frame(nw.from_native(frame))
    assert np.isnan(values[0]).all()
    assert values[1, 0] == 1.5


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"a": [1, 2]}, ValueError, "X is a dict \\(a, …\\): make a data frame"),
        (
            np.array([[1, "x"], [2, "y"]], dtype=object),
            ValueError,
            "column 1 of X holds 'x' in row 0",
        ),
        (
            np.array([[1, 2], [[3], 4]], dtype=object),
            TypeError,
            "column 0 of X holds \\[3\\] in row 1",
        ),
        (pl.DataFrame({"tags": [[1, 2], [3]]}), ValueError, "column 'tags' has type List"),
        (pd.DataFrame({"tags": [[1, 2], [3]]}), ValueError, "column 'tags' holds a list"),
        (pl.DataFrame({"who": [{"a": 1}, {"a": 2}]}), ValueError, "column 'who' has type Struct"),
    ],
    ids=["dict", "text in objects", "list in objects", "lists", "lists in pandas", "structs"],
)
def test_what_cannot_be_read_is_refused_by_column(given, error, told):
    with pytest.raises(error, match=told):
        quick().fit(given, [0, 1])


def test_objects_that_are_numbers_are_numbers():
    model = quick(cross_fit=None).fit(X.astype(object), Y)
    np.testing.assert_array_equal(model.predict(X), quick(cross_fit=None).fit(X, Y).predict(X))


@pytest.mark.parametrize("kind", [float, np.float64, Decimal, Fraction])
def test_columns_of_pandas_objects_that_are_numbers_are_numbers(kind):
    plain = pd.DataFrame(X, columns=list("abcdef"))
    plain.iloc[::7, 0] = np.nan
    objects = plain.map(lambda cell: None if np.isnan(cell) else kind(cell)).astype(object)
    model = quick(cross_fit=None).fit(objects, Y)
    reference = quick(cross_fit=None).fit(plain, Y)
    assert not model.model_.encoder.levels
    np.testing.assert_array_equal(model.predict(objects), reference.predict(plain))
    np.testing.assert_array_equal(reference.predict(objects.iloc[:1]), model.predict(plain[:1]))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda cell: "n/a" if cell > 1 else cell, "column 'v' holds numbers, such as .* 'n/a'"),
        (str, "column 'v' holds numbers as text, such as"),
    ],
)
def test_columns_of_pandas_objects_with_numbers_that_become_categories_are_named(change, told):
    cells = [change(cell / 8) for cell in range(len(Y))]
    mixed = pd.DataFrame({"v": pd.Series(cells, dtype=object)})
    with pytest.warns(NumbersAsTextWarning, match=told):
        quick(cross_fit=None).fit(mixed, Y)


def test_text_that_is_meant_as_categories_is_not_warned_of():
    codes = pd.Series([f"{i % 40:05d}" for i in range(len(Y))], dtype=object)
    flags = pd.Series([True, False] * (len(Y) // 2), dtype=object)
    meant = pd.Series(pd.Categorical([f"{i % 40}.5" for i in range(len(Y))]))
    frame = pd.DataFrame({"zip": codes[: len(Y)], "flag": flags, "class": meant})
    assert set(quick(cross_fit=None).fit(frame, Y).model_.encoder.levels) == {0, 1, 2}


# ---- class_weight


def test_class_weights_are_costs_of_mistakes():
    weighted = quick(class_weight={1: 5}).fit(X, Y)
    np.testing.assert_array_equal(weighted.costs_, [[0, 1], [5, 0]])
    priced = quick(costs=[[0, 1], [5, 0]]).fit(X, Y)
    np.testing.assert_array_equal(weighted.predict(X), priced.predict(X))
    balanced = quick(class_weight="balanced").fit(X, Y)
    np.testing.assert_array_equal(balanced.costs_, quick(costs="balanced").fit(X, Y).costs_)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"class_weight": {7: 2}}, "class_weight names class 7, but y has 0, 1"),
        ({"class_weight": "equal"}, 'give "balanced", or a dict'),
        ({"class_weight": {1: 2}, "costs": "balanced"}, "give one of them"),
        ({"class_weight": {1: -2}}, "-2"),
    ],
)
def test_class_weights_that_cannot_be_meant_are_refused(options, told):
    with pytest.raises(CostError, match=told):
        quick(**options).fit(X, Y)


# ---- seeds


@pytest.mark.parametrize("kind", [RebelClassifier, RebelRegressor])
def test_seeds_come_from_numbers_random_states_and_generators(kind, tmp_path):
    def fitted(seed):
        model = kind("tree", n_rounds=4, subsample=0.5, random_state=seed)
        return model.set_params(cross_fit=None) if "cross_fit" in model.get_params() else model

    for make in (lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)):
        first, second = (fitted(make()).fit(X, Y) for _ in range(2))
        np.testing.assert_array_equal(first.predict(X), second.predict(X))
        first.save(tmp_path / "m.safetensors")
        again = load(tmp_path / "m.safetensors").random_state
        assert type(again) is type(make())
        if hasattr(again, "integers"):
            drawn = make()
            drawn.integers(2**31 - 1)
            assert again.integers(10**9) == drawn.integers(10**9)


# ---- help


@pytest.mark.parametrize("method", [RebelClassifier.fit, RebelRegressor.fit])
def test_help_fits_a_screen(method):
    text = pydoc.plain(pydoc.render_doc(method))
    wrapped = sum(1 + len(line) // 80 for line in io.StringIO(text))
    assert wrapped <= 40
    assert "Buffer" not in text
