"""Rounds as columns: batches and histories say the same as their records."""

import numpy as np
from sklearn.datasets import load_iris

from rebelboost import RebelClassifier
from rebelboost.boosting.rounds import History, RoundBatch, RoundColumns

X, y = load_iris(return_X_y=True)


def fitted_history():
    return RebelClassifier("tree", n_rounds=30, cross_fit=None).fit(X, y).history_


def assert_equal(a, b):
    for left, right in zip(a, b, strict=True):
        np.testing.assert_array_equal(left, right)
        assert left.dtype == right.dtype


def test_columns_of_a_history_are_those_of_its_records():
    history = fitted_history()
    columns = history.columns()
    assert len(columns.numbers) == 30
    assert_equal(columns, RoundColumns.of(list(history)))


def test_columns_do_not_depend_on_whether_records_were_read():
    history = fitted_history()
    before = history.columns(), [h.describe() for h in history.hypotheses()]
    assert len(history.rounds) == 30
    assert_equal(history.columns(), before[0])
    assert [h.describe() for h in history.hypotheses()] == before[1]


def test_records_and_columns_of_one_history_stay_in_order():
    mixed, fused = History(), fitted_history()
    records = list(fitted_history())
    mixed.on_rounds(RoundBatch(*records[:3]))
    mixed.append(fused)
    mixed.on_rounds(RoundBatch(records[3]))
    assert_equal(mixed.columns(), RoundColumns.of([*records[:3], *list(fused), records[3]]))


def test_an_empty_history_has_columns_without_rows():
    assert [len(column) for column in History().columns()] == [0, 0, 0, 0]
