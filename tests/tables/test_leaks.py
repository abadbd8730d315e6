"""Columns that decide the target alone."""

import numpy as np
import polars as pl
import pytest

from rebelboost.tables import leaks
from rebelboost.tables.grouping import find_group
from rebelboost.tables.leaks import find_leaks

RNG = np.random.default_rng(0)
Y = RNG.choice(["died", "lived", "moved"], 300, p=[0.1, 0.6, 0.3])


def column(values):
    return pl.Series("v", values)


@pytest.mark.parametrize(
    "values",
    [
        np.where(Y == "died", RNG.uniform(0, 5, 300), RNG.uniform(6, 9, 300) + 9 * (Y == "moved")),
        np.char.add("regime ", Y),
        np.searchsorted(np.unique(Y), Y).astype(float),
    ],
    ids=["numbers", "text", "codes"],
)
def test_a_column_that_decides_alone_is_found(values):
    (leak,) = find_leaks([column(values)], Y)
    assert leak.accuracy >= 0.98


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=300),
        (Y == "died") + RNG.normal(size=300),
        np.zeros(300),
        RNG.choice(list("abc"), 300),
        [f"name {i}" for i in range(300)],
    ],
    ids=["noise", "weak", "constant", "text", "distinct"],
)
def test_other_columns_are_not(values):
    order = np.argsort(Y)  # sorted by class, as many files are
    values = pl.Series("v", values)
    assert not find_leaks([values], Y)
    assert not find_leaks([pl.Series("v", np.zeros(300))], Y[order])


def test_missing_values_may_decide_too():
    values = [None if label == "died" else 5.0 for label in Y]
    two = np.where(Y == "died", "died", "lived")
    assert find_leaks([column(values)], two)
    assert find_leaks([column([None if v is None else "x" for v in values])], two)


def test_groups_need_several_rows_of_the_same_value():
    names = [f"P{i // 3}" for i in range(300)]
    by_group = np.repeat(RNG.choice(["a", "b"], 100), 3)
    assert find_group([column(names)], by_group).n_groups == 100
    assert find_group([column(names)], RNG.choice(["a", "b"], 300)) is None
    assert find_group([column([f"P{i}" for i in range(300)])], by_group) is None


def test_a_category_with_few_values_is_no_group():
    assert find_group([column(np.char.add("regime ", Y))], Y) is None


def test_of_many_rows_some_are_drawn_because_the_first_may_be_of_one_class(monkeypatch):
    monkeypatch.setattr(leaks, "MOST_ROWS", 1000)
    y = np.repeat(["survived", "death"], [9500, 500])  # sorted: the first thousand survived
    column = pl.Series("ward", ["a", "b"] * 5000)
    (found,) = leaks.best_alone([column], y)
    assert found.accuracy == pytest.approx(0.95, abs=0.03)
    assert leaks.find_leaks([column], y) == []
