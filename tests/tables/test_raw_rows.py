"""Rows in memory are read as the command reads files."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from export.test_reading import assert_same, read_by_command, trained, with_odd_cells
from rebelboost import RebelClassifier, TableError, UnknownCategoryWarning, UnreadCellWarning, load
from rebelboost.estimators.base import encode_table
from rebelboost.tables.schema import packed_schema

NOTED = pytest.mark.filterwarnings(
    "ignore::rebelboost.UnknownCategoryWarning", "ignore::rebelboost.UnreadCellWarning"
)


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """A model of German numbers, dates, pairs, units and texts, its rows, and what the command reads."""
    folder = tmp_path_factory.mktemp("german")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownCategoryWarning)
        model, schema, rows = trained(folder, text=("words",))
        model.metadata_ = {"table": packed_schema(schema)}
        rows = with_odd_cells(rows)
        return model, rows, read_by_command(model, schema, rows, folder)


@NOTED
def test_dicts_and_frames_of_text_are_read_as_the_command_reads_a_file(german):
    model, rows, expected = german
    rows = [{name: cell or None for name, cell in row.items()} for row in rows]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))
    for given in (rows, frame, pd.DataFrame(rows), pd.DataFrame(rows, dtype="string")):
        assert_same(encode_table(model, given), expected, rows, model)


@NOTED
def test_a_row_is_read_alike_whatever_stands_beside_it(german):
    model, rows, expected = german
    rows, expected = rows[::9], expected[::9]
    alone = np.concatenate([encode_table(model, row) for row in rows])
    assert_same(alone, expected, rows, model)


def test_cells_with_types_are_read_as_their_text(german):
    model, *_ = german
    text = {
        "amount": "1.234,50", "price": "7,25 €", "age": "41", "term": "12 Tage", "bp": "120/80",
        "day": "03.04.2021", "moment": "2021-04-03T12:30:00", "time": "12:30", "colour": " rot ",
        "limit": "<5", "words": "gut See",
    }  # fmt: skip
    typed = text | {
        "amount": 1234.5, "price": np.float64(7.25), "age": 41, "term": np.int64(12),
        "day": dt.date(2021, 4, 3), "moment": dt.datetime(2021, 4, 3, 12, 30, tzinfo=dt.UTC),
        "time": dt.time(12, 30), "limit": 5,
    }  # fmt: skip
    as_text, as_types = encode_table(model, text), encode_table(model, typed)
    assert np.array_equal(as_text, as_types)
    assert np.isfinite(as_text).all()
    # Rows with text and rows with types may stand in one list, in any order.
    mixed = encode_table(model, [typed, text, typed | {"age": None}, text])
    assert np.array_equal(mixed[[0, 1, 3]], np.tile(as_text, (3, 1)))
    assert np.isnan(mixed[2]).sum() == 1


def test_the_features_themselves_are_still_understood(german, tmp_path):
    model, rows, _ = german
    read = encode_table(model, rows[:20])
    names = list(model.feature_names_in_)
    frame = pd.DataFrame(read, columns=names)
    for f, levels in model.model_.encoder.levels.items():
        codes = read[:, f]
        frame[names[f]] = [None if np.isnan(code) else levels[int(code)] for code in codes]
    model.save(tmp_path / "m.safetensors")
    model = load(tmp_path / "m.safetensors")
    for given in (frame, pl.from_pandas(frame)):
        assert np.array_equal(encode_table(model, given), read, equal_nan=True)
    frame["colour"] = " " + frame["colour"]  # blanks around categories do not count, here too
    assert np.array_equal(encode_table(model, frame), read, equal_nan=True)


def test_cells_that_count_as_missing_are_warned_of(german):
    model, rows, _ = german
    with pytest.warns(UnknownCategoryWarning, match=r"colour: 1 cell.* such as 'lila'"):
        model.predict(rows[0] | {"colour": "lila"})
    with pytest.warns(UnreadCellWarning, match=r"day: 1 cell.* another format"):
        model.predict(rows[0] | {"day": "April"})


def test_rows_that_cannot_be_read_are_refused_with_the_row_and_the_column(german):
    model, rows, _ = german
    good = rows[0]
    lacking = {name: cell for name, cell in good.items() if name != "colour"}
    refused = [
        ([good, lacking], r"row 2 lacks 1 of the 11 column.*, colour: add"),
        ([good, lacking | {"color": "rot"}], r"for 'colour' did you mean 'color'"),
        ([good, good | {"colour": [1]}], r"row 2 has '\[1\]' in column 'colour': give text.*list"),
        ([good, good | {"age": float("inf")}], r"row 2 has an infinite value in column 'age'"),
        ([good | {"age": n} for n in (3, 4, 10**400)], r"row 3 has an infinite value in column 'age'"),
        ([good, 3], r"row 2 is a int, not a dict"),
        (good | {"day": 18000.0}, r"'day': it is a float, but the model expects dates"),
        (good | {"bp": 18.0}, r"'bp': it is a float, but the model expects pairs"),
        (pl.DataFrame([lacking]), r"the table lacks 1 of the 11 column"),
        (pl.DataFrame([good]).clear(), "the table has no rows"),
        (pd.DataFrame([good, good | {"age": [1]}]), r"row 2 of the table has '\[1\]' in column 'age'"),
        (pd.DataFrame([good | {"age": 3.0}, good, good | {"age": float("inf")}]),
         "row 3 of the table has an infinite value"),
    ]  # fmt: skip
    for given, message in refused:
        with pytest.raises(TableError, match=message):
            model.predict(given)


def test_predictions_explanations_and_costs_take_rows_as_they_stand(german):
    model, rows, expected = german
    rows, X = rows[:6], expected[:6]
    scores = model.model_.scores(X)
    assert model.predict(rows).tolist() == model.model_.labels(scores).tolist()
    assert np.array_equal(model.predict_proba(rows), model.model_.posterior(scores))
    assert [e.decision for e in model.explain(rows)] == model.predict(rows).tolist()
    assert np.array_equal(
        model.price_ranges(rows).low, model.price_ranges(rows[:6]).low, equal_nan=True
    )


def test_a_model_that_was_trained_in_python_takes_dicts():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4] * 9, "b": ["x", "y", "z", "x"] * 9})
    y = [0, 0, 1, 1] * 9
    model = RebelClassifier("stump", n_rounds=3, cross_fit=None).fit(frame, y)
    expected = model.predict_proba(frame.iloc[:3])
    assert np.array_equal(model.predict_proba(frame.iloc[:3].to_dict("records")), expected)
    assert np.array_equal(model.predict_proba({"b": "x", "a": 1}), expected[:1])
    assert np.array_equal(model.predict_proba({"b": "x", "a": "1"}), expected[:1])
    with pytest.raises(TableError, match="infinite"):
        model.predict({"a": float("inf"), "b": "x"})
    with pytest.raises(TableError, match=r"row 1 lacks 1 of the 2 .*, b"):
        model.predict({"a": 1.0})


def test_a_stale_description_of_another_table_is_not_used(german):
    model, _, _ = german
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4] * 9})
    other = RebelClassifier("stump", n_rounds=3, cross_fit=None)
    other.metadata_ = dict(model.metadata_)
    other.fit(frame, [0, 0, 1, 1] * 9)
    assert len(other.predict(frame)) == 36
