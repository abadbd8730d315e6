"""Columns that identify groups of rows, and measurements that do not."""

import numpy as np
import polars as pl
import pytest

from rebelboost.tables.feature_selection import names_rows
from rebelboost.tables.grouping import find_group
from rebelboost.tables.leaks import find_leaks

RNG = np.random.default_rng(0)
N = 400


def group(name, values, y):
    found = find_group([pl.Series(name, values)], np.asarray(y))
    return None if found is None else found.name


def test_an_identifier_by_name_groups_the_rows_even_if_it_does_not_decide():
    y = RNG.choice(["a", "b"], N)
    patient = np.repeat(np.arange(100), 4)
    assert group("id", patient, y) == "id"
    assert group("Individual ID", [f"N{p}" for p in patient], y) == "Individual ID"
    assert group("score", patient, y) is None


@pytest.mark.parametrize("name", ["PID", "uid", "id_str", "caseid", "StoreID", "subject.id", "MRN"])
def test_identifiers_that_repeat_are_groups_by_any_usual_name(name):
    y = RNG.choice(["a", "b"], N)
    # Most values are different: a few patients have come again.
    values = np.arange(N) + 100_000
    values[:5] = values[5:10]
    assert group(name, values, y) == name
    assert group(name, [f"case {v}" for v in values], y) == name


@pytest.mark.parametrize(
    "name", ["animal_name", "paid", "acid", "covid", "valid", "steroid", "lipid", "number"]
)
def test_words_that_end_like_identifiers_are_none(name):
    assert group(name, np.repeat(np.arange(100), 4), RNG.choice(["a", "b"], N)) is None
    assert not names_rows(name)


def test_the_name_of_an_identifier_counts_more_than_what_another_column_decides():
    y = np.repeat(RNG.choice(["a", "b"], 100), 4)
    columns = [
        pl.Series("street", [f"S{i // 4}" for i in range(N)]),
        pl.Series("patient", np.repeat(np.arange(50), 8)),
    ]
    assert find_group(columns, y).name == "patient"


def test_a_few_large_shops_are_categories():
    y = RNG.choice(["a", "b"], 10_000)
    assert group("shop id", np.arange(10_000) % 25, y) is None
    # One shop has a fifth of the rows.
    shops = np.where(np.arange(1000) % 5 == 0, 0, 1 + np.arange(1000) % 100)
    assert group("shop id", shops, RNG.choice(["a", "b"], 1000)) is None


def test_a_follow_up_time_that_ends_with_the_study_is_a_leak_not_a_group():
    # As in the Rossi recidivism data: whoever is not arrested is followed for 52 weeks.
    arrested = RNG.random(N) < 0.3
    week = np.where(arrested, RNG.integers(1, 52, N), 52)
    assert group("week", week, arrested) is None
    (leak,) = find_leaks([pl.Series("week", week)], arrested)
    assert leak.name == "week"


def test_equal_measurements_that_are_scattered_over_the_file_are_not_a_group():
    # As in the mode choice data: four rows for each traveller, minutes by mode and place.
    minutes = RNG.integers(0, 60, 60)
    place = RNG.integers(0, 60, N)
    assert group("invt", minutes[place] * 5 + place % 5, place % 2) is None


def test_text_that_seldom_repeats_is_not_a_group():
    y = np.array(["a", "b"] * 200)
    terms = [f"T{i}" for i in range(N - 40)] + ["x1", "x2"] * 20
    assert group("Term", terms, y) is None


@pytest.mark.parametrize(("n_columns", "found"), [(3, 1), (3_000, 0)])
def test_among_many_columns_of_few_rows_some_decide_by_chance(n_columns, found):
    y = np.array([0] * 10 + [1] * 10)
    columns = [pl.Series("leak", np.arange(20.0))]
    columns += [pl.Series(f"v{i}", np.zeros(20)) for i in range(n_columns - 1)]
    assert len(find_leaks(columns, y)) == found


def test_a_column_that_stands_far_out_is_asked_about_below_98_percent():
    y = RNG.integers(0, 2, 1000)
    mostly = np.where(RNG.random(1000) < 0.03, 1 - y, y)
    noise = pl.Series("noise", RNG.normal(size=1000))
    leaky = pl.Series("outcome code", mostly.astype(str))
    assert [leak.name for leak in find_leaks([noise, leaky], y)] == ["outcome code"]
    also_good = pl.Series("other", np.where(RNG.random(1000) < 0.06, 1 - y, y).astype(str))
    assert find_leaks([noise, leaky, also_good], y) == []
