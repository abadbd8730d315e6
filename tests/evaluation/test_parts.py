"""Results by group of rows."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebelboost import EvaluationError, RebelClassifier, RebelRegressor
from rebelboost.evaluation import evaluate, left_out
from rebelboost.evaluation.parts import MISSING, MOST_PARTS, OTHERS, apart, divided

COSTS = {("bad", "good"): 5.0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "c"])
    region = np.array(["north", "south"])[rng.integers(0, 2, 600)]
    noise = np.where(region == "north", 0.1, 3.0)
    y = np.where(X["a"] + noise * rng.normal(size=600) > 0, "bad", "good")
    return X, y, region


@pytest.fixture(scope="module")
def clf(table):
    X, y, _ = table
    clf = RebelClassifier("stump", n_rounds=20, costs=COSTS, cross_fit=2, training="neutral")
    return clf.fit(X[:300], y[:300])


def test_each_part_is_an_evaluation_of_its_own_rows(clf, table):
    X, y, region = table
    found = evaluate(clf, X[300:], y[300:], by=region[300:])
    assert [each.name for each in found.parts.parts] == ["north", "south"]
    for part in found.parts.parts:
        own = region[300:] == part.name
        alone = evaluate(clf, X[300:][own], y[300:][own])
        assert part.evaluation.accuracy == alone.accuracy
        assert part.evaluation.cost == alone.cost
        assert part.evaluation.recalls == alone.recalls
    assert sum(each.evaluation.n for each in found.parts.parts) == found.n


def test_a_group_that_is_decided_worse_is_named(clf, table):
    X, y, region = table
    parts = evaluate(clf, X[300:], y[300:], by=region[300:]).parts
    north, south = parts.parts
    assert north.apart.low > 0 > south.apart.high
    assert "south: −" in parts.told()
    assert "south" in str(parts)


def test_groups_without_a_difference_raise_a_false_alarm_in_5_of_100_tables(clf, table):
    X, y, _ = table
    judged = evaluate(clf, X[300:], y[300:]).judged
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(200):
        place = rng.integers(0, 5, 300)
        gaps = [apart(judged.of(place == k), judged.of(place != k), 5) for k in range(5)]
        alarms += any(each.low > 0 or each.high < 0 for each in gaps)
    # 200 tables at 5 %: above 20 with a probability of 0.1 % only.
    assert alarms <= 20


def test_a_column_of_the_table_can_be_named_and_left_out_rows_have_parts_too(clf, table):
    X, y, region = table
    found = left_out(clf, y[:300], X=X[:300], by="a")
    assert len(found.parts.parts) == 4
    assert found.parts.column == "a"
    by_region = left_out(clf, y[:300], by=pd.Series(region[:300], name="region"))
    assert by_region.parts.column == "region"
    json.dumps(by_region.to_dict(), allow_nan=False)
    assert by_region.to_dict()["by"]["parts"][0]["value"] == "north"


def test_columns_that_are_not_there_are_refused(clf, table):
    X, y, _ = table
    with pytest.raises(EvaluationError, match="no column 'd': X has a, b, c"):
        evaluate(clf, X, y, by="d")
    with pytest.raises(EvaluationError, match="by has shape"):
        evaluate(clf, X, y, by=[1, 2])
    numbers = RebelRegressor("stump", n_rounds=2, cross_fit=None).fit(X, X["a"])
    with pytest.raises(EvaluationError, match="by is for classes"):
        evaluate(numbers, X, X["a"], by="a")


@given(
    st.lists(
        st.one_of(st.none(), st.floats(-1e9, 1e9), st.integers(-5, 5), st.just(float("nan"))),
        min_size=1,
        max_size=60,
    )
)
def test_every_row_is_in_one_part(values):
    names, place = divided(np.array(values, dtype=object))
    assert len(set(names)) == len(names)
    assert len(place) == len(values)
    assert ((place >= 0) & (place < len(names))).all()


def test_numbers_of_many_values_are_divided_at_the_quartiles_and_rare_names_put_together():
    names, place = divided(np.arange(100).astype(object))
    assert np.bincount(place).tolist() == [24, 25, 25, 26]
    assert names[0] == "0 to below 24"
    many = [f"v{i}" for i in range(30) for _ in range(30 - i)]
    names, place = divided(np.array([*many, None], dtype=object))
    assert len(names) == MOST_PARTS + 1
    assert names[-2:] == [OTHERS, MISSING]
    assert (place == len(names) - 1).sum() == 1
