"""Tables of any library: numbers, categories, missing values."""

import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ensembles import assert_same
from rebelboost import RebelClassifier, Stump, Tree, UnknownCategoryWarning
from rebelboost.data.encoder import MOST_LEVELS, as_frame, fit_encoder

RNG = np.random.default_rng(0)
N = 60
HEIGHT = RNG.normal(size=N)
COLOUR = np.array(["red", "green", "blue"])[RNG.integers(3, size=N)]
OLD = RNG.uniform(size=N) < 0.5
COUNT = RNG.integers(0, 9, size=N)
Y = (HEIGHT > 0) + (COLOUR == "red")

COLUMNS = {"height": HEIGHT, "colour": COLOUR, "old": OLD, "count": COUNT}
PLAIN = {name: column.tolist() for name, column in COLUMNS.items()}

FRAMES = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, pyarrow": lambda columns: pd.DataFrame(columns).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "narwhals": lambda columns: nw.from_native(pl.DataFrame(columns)),
}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


DEPTH_3 = Tree(3)


def fit(X, y=Y, learner=DEPTH_3):
    return RebelClassifier(learner, n_rounds=10).fit(X, y)


@frames
def test_every_library_gives_the_same_model(frame):
    model, reference = fit(frame(PLAIN)), fit(FRAMES["polars"](PLAIN))
    assert_same(model, reference)
    np.testing.assert_array_equal(
        model.decision_function(frame(PLAIN)), reference.decision_function(pl.DataFrame(PLAIN))
    )
    assert model.feature_names_in_.tolist() == list(PLAIN)


@frames
def test_numbers_in_a_frame_are_those_of_an_array(frame):
    numbers = {"height": PLAIN["height"], "count": PLAIN["count"]}
    array = np.column_stack([HEIGHT, COUNT])
    assert_same(fit(frame(numbers)), fit(array))


@frames
def test_missing_entries_are_missing_values(frame):
    gaps = {
        "height": [None if n % 5 == 0 else h for n, h in enumerate(PLAIN["height"])],
        "colour": [None if n % 7 == 0 else c for n, c in enumerate(PLAIN["colour"])],
        "count": [None if n % 4 == 0 else c for n, c in enumerate(PLAIN["count"])],
        "old": [None if n % 6 == 0 else c for n, c in enumerate(PLAIN["old"])],
    }
    encoded = fit_encoder(None, as_frame(frame(gaps)), "from_dtype").transform_frame(
        as_frame(frame(gaps))
    )
    for f, name in enumerate(gaps):
        assert np.isnan(encoded[:, f]).tolist() == [v is None for v in gaps[name]]
    assert_same(fit(frame(gaps)), fit(pl.DataFrame(gaps)))


@frames
def test_a_category_that_training_never_saw_counts_as_missing(frame):
    model = fit(frame(PLAIN))
    strange = {**PLAIN, "colour": ["violet"] * N}
    absent = pl.DataFrame(PLAIN).with_columns(pl.lit(None, pl.String).alias("colour"))
    reference = fit(pl.DataFrame(PLAIN))
    with pytest.warns(UnknownCategoryWarning, match="such as 'violet'"):
        found = model.decision_function(frame(strange))
    np.testing.assert_array_equal(found, reference.decision_function(absent))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(PLAIN["colour"])),
        pd.Series(PLAIN["colour"], dtype=object),
        pd.Series(PLAIN["colour"], dtype="string"),
    ],
    ids=["categorical", "object", "string"],
)
def test_categories_of_any_type_are_the_same_to_us(column):
    assert_same(fit(pd.DataFrame({"colour": column})), fit(pl.DataFrame({"colour": COLOUR})))


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["green", "red", "blue"]), pl.String])
def test_the_order_of_levels_in_a_type_does_not_matter(dtype):
    column = pl.Series("colour", COLOUR, dtype=dtype)
    assert_same(fit(pl.DataFrame([column])), fit(pl.DataFrame({"colour": COLOUR})))


def test_categories_are_asked_one_against_the_rest_and_in_groups():
    X = pl.DataFrame({"colour": ["a", "b", "c", "d"] * 10})
    y = [0, 1, 0, 1] * 10
    assert fit(X, y, Tree(1)).score(X, y) == 1
    one_of_four = [0, 0, 1, 0] * 10
    assert fit(X, one_of_four, Stump()).score(X, one_of_four) == 1


def test_the_most_frequent_levels_are_kept_where_there_are_too_many():
    rare = [f"rare {i:03}" for i in range(300)]
    values = rare + ["often"] * 50
    encoder = fit_encoder(None, as_frame(pl.DataFrame({"x": values})), "from_dtype")
    assert len(encoder.levels[0]) == MOST_LEVELS
    assert "often" in encoder.levels[0]
    codes = encoder.transform_frame(as_frame(pl.DataFrame({"x": values})))
    assert np.isnan(codes).sum() == 300 - (MOST_LEVELS - 1)
    y = np.r_[np.zeros(300), np.ones(50)]
    frame = pl.DataFrame({"x": values})
    assert fit(frame, y, Tree(2)).score(frame, y) == 1


@pytest.mark.parametrize("chosen", [["count"], [3], [False, False, False, True]])
def test_numbers_can_be_declared_categories(chosen):
    learner = Tree(3, categorical=chosen)
    X = pl.DataFrame({"a": HEIGHT, "b": HEIGHT**2, "c": -HEIGHT, "count": COUNT})
    model = fit(X, COUNT % 2, learner)
    assert list(model.model_.encoder.levels) == [3]
    array = X.to_numpy()
    if chosen != ["count"]:
        assert_same(fit(array, COUNT % 2, learner), model)
    assert model.score(X, COUNT % 2) == 1


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["weight"], "categorical contains 'weight', but X has no such column"),
        ([7], "categorical contains 7, but X has 4 features"),
        ([-1], "categorical contains -1, but X has 4 features"),
    ],
)
def test_a_categorical_feature_that_is_not_there_is_refused(chosen, message):
    with pytest.raises(ValueError, match=message):
        fit(pl.DataFrame(PLAIN), learner=Tree(2, categorical=chosen))


def test_a_name_cannot_choose_a_column_of_an_array():
    with pytest.raises(ValueError, match="categorical contains 'height', but X has no such column"):
        fit(HEIGHT[:, np.newaxis], learner=Tree(2, categorical=["height"]))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_column_of_dates_counts_days(library):
    days = [dt.datetime(2024, 1, 1 + n % 28, tzinfo=dt.UTC) for n in range(N)]
    numbers = [(day - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)).days for day in days]
    of_dates = fit(FRAMES[library]({"day": days, "height": PLAIN["height"]}))
    of_numbers = fit(FRAMES[library]({"day": numbers, "height": PLAIN["height"]}))
    assert_same(of_dates, of_numbers)


def test_integer_names_of_columns_are_served():
    frame = pd.DataFrame(np.column_stack([HEIGHT, COUNT]))
    assert_same(fit(frame), fit(frame.to_numpy()))


def test_infinite_entries_of_a_frame_are_refused():
    with pytest.raises(ValueError, match="an infinite value in row"):
        fit(pl.DataFrame({"height": np.r_[np.inf, HEIGHT[1:]]}))


def test_a_frame_of_single_precision_stays_so():
    frame = pl.DataFrame({"a": HEIGHT.astype(np.float32)})
    encoder = fit_encoder(None, as_frame(frame), "from_dtype")
    assert encoder.transform_frame(as_frame(frame)).dtype == np.float32


def test_a_frame_without_rows_or_columns_is_refused():
    with pytest.raises(ValueError, match=r"0 sample|no samples|minimum of 1"):
        fit(pl.DataFrame({"a": []}, schema={"a": pl.Float64}), [])
    with pytest.raises(ValueError, match=r"0 feature|no column"):
        fit(pd.DataFrame(index=range(3)), [0, 1, 0])


def test_a_series_is_refused():
    with pytest.raises(ValueError, match=r"[Ee]xpected 2D|reshape|1D"):
        fit(pl.Series(HEIGHT))


def test_columns_in_another_order_or_with_other_names_are_refused():
    model = fit(pd.DataFrame(PLAIN))
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        model.predict(pd.DataFrame(PLAIN)[["colour", "height", "old", "count"]])
    with pytest.raises(ValueError, match=r"seen at fit time, yet now missing[\s\S]*- count"):
        model.predict(pd.DataFrame(PLAIN).rename(columns={"count": "number"}))
    polars = fit(pl.DataFrame(PLAIN))
    with pytest.raises(ValueError, match="feature names"):
        polars.predict(pl.DataFrame(PLAIN).rename({"count": "number"}))


@pytest.mark.parametrize(("dtype", "labels"), [("Int64", [3, 5]), ("boolean", [False, True])])
def test_labels_of_pandas_nullable_types_stay_what_they_are(dtype, labels):
    y = pd.Series(labels * 5, dtype=dtype)
    classes = RebelClassifier(n_rounds=2).fit(np.arange(10.0)[:, np.newaxis], y).classes_
    assert classes.tolist() == labels
    assert classes.dtype == np.asarray(labels).dtype
