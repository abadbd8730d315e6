"""Cost matrices and cost rows: what is served, and what is refused with which words."""

import warnings

import numpy as np
import pytest

from rebelboost import CostDiagonalWarning, CostError, RebelClassifier, Stump
from rebelboost.costs.matrix import cost_matrix, cost_rows, uniform

CLASSES = ["ant", "bee", "cat"]
LABELS = np.array([0, 1, 2, 0], dtype=np.int32)


def test_no_costs_are_uniform_costs():
    np.testing.assert_array_equal(cost_matrix(None, CLASSES), uniform(3))
    assert uniform(2).tolist() == [[0, 1], [1, 0]]


def test_costs_may_be_nested_lists():
    given = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    assert cost_matrix(given, CLASSES).tolist() == given


REFUSED = {
    "shape": (
        np.ones((2, 3)),
        r"shape \(2, 3\), but there are 3 classes \(ant, bee, cat\): give a 3",
    ),
    "one dimension": (
        np.ones(3),
        r"shape \(3,\).*costs\[true, decided\], with classes in this order",
    ),
    "negative": (
        [[0, 1, 1], [1, 0, -2], [1, 1, 0]],
        r"\(1, 2\) is -2: .*Subtract the smallest entry",
    ),
    "NaN": ([[0, 1, 1], [1, 0, np.nan], [1, 1, 0]], r"\(1, 2\) is nan: give a finite number"),
    "infinite": ([[0, np.inf, 1], [1, 0, 1], [1, 1, 0]], r"\(0, 1\) is inf: give a finite number"),
    "text": ([["a", "b"]], r"costs must be numbers in rows of equal length"),
    "ragged": ([[0, 1], [1, 0, 2]], r"costs must be numbers in rows of equal length"),
    "diagonal": (
        [[2, 1, 3], [1, 0, 1], [1, 1, 0]],
        r"row 0 .* costs 2, more than decision 1 \(1\)",
    ),
}


@pytest.mark.parametrize(("costs", "message"), REFUSED.values(), ids=REFUSED)
def test_a_matrix_that_cannot_be_meant_is_refused(costs, message):
    with pytest.raises(CostError, match=message):
        cost_matrix(costs, CLASSES)


def test_many_classes_are_not_all_listed():
    with pytest.raises(CostError, match=r"9 classes \(0, 1, 2, 3, 4, 5, …\)"):
        cost_matrix(np.ones((2, 2)), range(9))


def test_what_right_decisions_cost_is_subtracted_from_their_row_with_a_warning():
    with pytest.warns(CostDiagonalWarning, match="subtracted from their rows, which changes no"):
        costs = cost_matrix([[1, 2, 3], [1, 0, 1], [5, 4, 4]], CLASSES)
    assert costs.tolist() == [[0, 1, 2], [1, 0, 1], [1, 0, 0]]


def test_the_warning_points_at_the_call_of_fit():
    model = RebelClassifier(Stump(), n_rounds=1, costs=[[1, 2], [1, 0]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit([[0], [1]], [0, 1])
    assert {w.filename for w in caught} == {__file__}


def test_the_users_matrix_is_not_touched():
    costs = np.array([[1.0, 2, 3], [1, 0, 1], [5, 4, 4]])
    before = costs.copy()
    with pytest.warns(CostDiagonalWarning):
        cost_matrix(costs, CLASSES)
    np.testing.assert_array_equal(costs, before)


def test_a_row_for_each_sample_is_checked_against_its_label():
    rows = np.ones((4, 3))
    rows[np.arange(4), LABELS] = 0
    np.testing.assert_array_equal(cost_rows(rows, LABELS, 3), rows)
    with pytest.raises(CostError, match=r"shape \(3, 3\): give a row for each of the 4 samples"):
        cost_rows(np.ones((3, 3)), LABELS, 3)
    with pytest.raises(
        CostError, match=r"Pass a matrix by class to RebelClassifier\(costs=\.\.\.\)"
    ):
        cost_rows(np.ones((3, 3)), LABELS, 3)
    with pytest.warns(CostDiagonalWarning):
        assert not cost_rows(np.ones((4, 3)), LABELS, 3).any()


def test_costs_shift_the_decision_towards_the_cheaper_mistake():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, 200), rng.normal(1, 1, 200)][:, np.newaxis]
    y = np.repeat([0, 1], 200)
    missed = {}
    for cost in (0.1, 10):
        model = RebelClassifier(
            Stump(), n_rounds=20, costs=[[0, 1], [cost, 0]], decision="argmax"
        ).fit(X, y)
        missed[cost] = np.mean(model.predict(X[y == 1]) == 0)
    assert missed[10] < 0.05
    assert missed[0.1] > 0.5
