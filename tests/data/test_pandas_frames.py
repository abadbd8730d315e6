import numpy as np
import pandas as pd
import pytest

from rebelboost import RebelClassifier
from rebelboost.data.encoder import as_frame, fit_encoder
from rebelboost.data.pandas_frames import FEW_ROWS, values_of
from rebelboost.exceptions import UnknownCategoryWarning

SIZES = (1, FEW_ROWS, 50)


def mixed(n=50, seed=0):
    """Numbers of several types, and categories of several types, with gaps."""
    rng = np.random.default_rng(seed)
    cities = np.array(["Bern", "Köln", None], dtype=object)[rng.integers(3, size=n)]
    return pd.DataFrame(
        {
            "amount": rng.integers(100, size=n),
            "rate": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "small": rng.normal(size=n).astype(np.float32),
            "city": pd.Categorical(cities, ["Köln", "Bern"]),
            "street": pd.Series(cities, dtype="str"),
            "grade": pd.Categorical(rng.integers(3, size=n)),
        }
    )


def numbers(n=50, dtype=np.float64):
    return pd.DataFrame(np.random.default_rng(0).normal(size=(n, 5)).astype(dtype)).add_prefix("x")


def encoder_of(frame):
    return fit_encoder(None, as_frame(frame), "from_dtype")


def read(frame, encoder, names=None):
    return values_of(frame, list(frame) if names is None else names, encoder.codes)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    "table", [mixed(), numbers(), numbers(dtype=np.float32), numbers(dtype=np.int16)]
)
def test_frames_read_at_once_have_the_values_of_those_read_by_column(table, n):
    encoder = encoder_of(table)
    for first in range(0, len(table) - n + 1, 7):
        part = table.iloc[first : first + n]
        found, expected = read(part, encoder), encoder.transform_frame(as_frame(part))
        assert np.array_equal(found, expected, equal_nan=True)
        assert found.flags.c_contiguous


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("amount", "text"),
        ("amount", True),
        ("amount", np.inf),
        ("amount", pd.Timestamp("2024-01-01")),
        ("city", "Paris"),
        ("grade", 1.5),
        ("street", "Rome"),
    ],
)
def test_frames_that_need_a_warning_an_error_or_a_conversion_are_not_read_at_once(
    column, values, n
):
    table = mixed()
    encoder = encoder_of(table)
    changed = table.iloc[:n].assign(**{column: values})
    assert read(changed, encoder) is None


def test_lists_in_cells_are_not_read_at_once():
    table = mixed().assign(city=pd.Series(["Bern"] * 50, dtype=object))
    changed = table.iloc[:1].assign(city=pd.Series([["Bern"]], dtype=object))
    assert read(table.iloc[:1], encoder_of(table)) is not None
    assert read(changed, encoder_of(table)) is None


def test_columns_must_have_the_names_and_the_order_of_the_training_table():
    table = numbers()
    encoder, names = encoder_of(table), list(table)
    assert read(table, encoder, names) is not None
    assert read(table[names[::-1]], encoder, names) is None
    assert read(table.rename(columns={"x0": "y"}), encoder, names) is None
    assert read(table[names[1:]], encoder, names) is None
    assert read(table.iloc[:0], encoder, names) is None
    assert values_of(table, None, {}) is None
    assert values_of(table.to_numpy(), names, {}) is None


def test_rows_that_are_read_at_once_are_predicted_like_others():
    table = mixed(200)
    y = (table["amount"] > 50).to_numpy()
    model = RebelClassifier("tree", n_rounds=5, cross_fit=None).fit(table, y)
    by_row = [model.decision_function(table.iloc[i : i + 1])[0] for i in range(len(table))]
    assert np.array_equal(by_row, model.decision_function(table))
    renamed = table.iloc[:1].rename(columns={"rate": "interest"})
    with pytest.raises(ValueError, match="interest"):
        model.predict(renamed)
    with pytest.warns(UnknownCategoryWarning, match="Paris"):
        model.predict(table.iloc[:1].assign(city="Paris"))


@pytest.mark.parametrize("wrong", [np.inf, -np.inf])
def test_infinite_numbers_are_refused_in_arrays_and_frames(wrong):
    table = numbers()
    y = table["x0"] > 0
    changed = table.copy()
    changed.iloc[0, 1] = wrong
    for values, given in ((table, changed), (table.to_numpy(), changed.to_numpy())):
        model = RebelClassifier("stump", n_rounds=2, cross_fit=None).fit(values, y)
        for part in (given, given[:1]):
            with pytest.raises(ValueError, match="infinite value in row"):
                model.predict(part)
