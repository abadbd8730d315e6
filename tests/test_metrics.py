"""Mean cost, the report and the cost curve, on cases worked out by hand."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import zero_one_loss

from rebelboost.costs.taxonomy import Taxonomy
from rebelboost.exceptions import CostDiagonalWarning, CostError
from rebelboost.metrics import cost_report, mean_cost

TRUE = ["good", "good", "good", "bad", "bad"]
DECIDED = ["good", "bad", "good", "good", "bad"]
COSTS = {("bad", "good"): 5}
FORMS = {
    "exceptions": COSTS,
    "matrix": [[0, 5], [1, 0]],
    "pandas": pd.DataFrame([[0, 1], [5, 0]], index=["good", "bad"], columns=["good", "bad"]),
    "polars": pl.DataFrame({"true": ["good", "bad"], "good": [0, 5], "bad": [1, 0]}),
}


# ---- mean cost


@pytest.mark.parametrize("costs", FORMS.values(), ids=FORMS)
def test_the_mean_cost_is_what_one_finds_by_hand(costs):
    assert mean_cost(TRUE, DECIDED, costs) == (1 + 5) / 5
    weight = [1, 1, 1, 3, 4]
    assert mean_cost(TRUE, DECIDED, costs, sample_weight=weight) == (1 + 15) / 10


def test_labels_give_the_order_of_a_bare_matrix():
    costs = [[0, 1], [5, 0]]
    assert mean_cost(TRUE, DECIDED, costs, labels=["good", "bad"]) == 6 / 5
    assert mean_cost(TRUE, DECIDED, costs, labels=["bad", "good"]) == 6 / 5
    assert mean_cost(TRUE, ["good"] * 5, costs, labels=["good", "bad"]) == 2
    assert mean_cost(TRUE, ["good"] * 5, costs, labels=["bad", "good"]) == 2 / 5


def test_a_table_knows_classes_that_do_not_occur():
    assert mean_cost(["good"], ["good"], FORMS["pandas"]) == 0
    with pytest.raises(CostError, match=r"costs have shape \(2, 2\), but there are 1 classes"):
        mean_cost(["good"], ["good"], FORMS["matrix"])


@given(
    hnp.arrays(np.int64, (2, 20), elements=st.integers(0, 3)),
    hnp.arrays(np.float64, 20, elements=st.floats(0.01, 9)),
)
def test_uniform_costs_give_the_error(y, weight):
    # Two sums of twenty terms, and a division each.
    expected = zero_one_loss(*y, sample_weight=weight)
    np.testing.assert_allclose(mean_cost(*y, None, sample_weight=weight), expected, atol=1e-14)


@given(
    hnp.arrays(np.int64, (2, 12), elements=st.integers(0, 3)),
    hnp.arrays(np.float64, (4, 4), elements=st.just(0.0) | st.floats(1e-30, 100)),
)
def test_the_mean_cost_does_not_depend_on_how_costs_are_given(y, costs):
    np.fill_diagonal(costs, 0)
    y_true, y_pred = y
    by_hand = sum(costs[t, p] for t, p in zip(y_true, y_pred, strict=True)) / 12
    by_class = mean_cost(y_true, y_pred, costs, labels=range(4))
    by_sample = mean_cost(y_true, y_pred, costs[y_true], labels=range(4))
    assert by_class == by_sample
    np.testing.assert_allclose(by_class, by_hand, rtol=1e-14)
    shuffled = [2, 0, 3, 1]
    assert by_class == mean_cost(y_true, y_pred, costs[np.ix_(shuffled, shuffled)], labels=shuffled)


def test_balanced_costs_make_the_mean_of_the_errors_of_the_classes():
    # 1/3 of the good and 1/2 of the bad.
    np.testing.assert_allclose(mean_cost(TRUE, DECIDED, "balanced"), (1 / 3 + 1 / 2) / 2)


def test_a_taxonomy_serves():
    tree = Taxonomy({"dog": "mammal/dog", "cat": "mammal/cat", "trout": "fish/trout"})
    y = ["cat", "dog", "trout"]
    np.testing.assert_allclose(mean_cost(y, ["dog", "dog", "dog"], tree), (0.6 + 1.2) / 3)


def test_abstaining_has_a_price():
    decided = ["good", None, "good", None, "bad"]
    assert mean_cost(TRUE, decided, COSTS, reject_cost=0.5) == 1 / 5
    decided = ["good", "ask", "good", "good", "bad"]
    assert mean_cost(TRUE, decided, COSTS, reject_cost=0.5, reject_label="ask") == 5.5 / 5
    assert mean_cost([0, 1, 1], [0, np.nan, 0], None, reject_cost=0.5, reject_label=np.nan) == 0.5
    rows = np.array([[5, 0]] * 3 + [[0, 2]] * 2)
    assert mean_cost(TRUE, decided, rows, reject_cost=0.5, reject_label="ask") == 2.5 / 5
    with pytest.raises(ValueError, match=r"y_pred has the label 'ask', which is not a class"):
        mean_cost(TRUE, decided, COSTS, labels=["bad", "good"])
    with pytest.raises(ValueError, match=r"y_true has the label 'ask', which is not a class"):
        mean_cost(decided, TRUE, COSTS, reject_cost=0.5, reject_label="ask")


@pytest.mark.filterwarnings("error::rebelboost.exceptions.CostDiagonalWarning")
def test_what_right_decisions_cost_is_left_out_with_a_warning():
    with pytest.warns(CostDiagonalWarning):
        assert mean_cost([0, 1], [0, 0], [[1, 2], [3, 2]]) == 1 / 2


REFUSED = {
    "lengths": (
        lambda: mean_cost([0, 1, 1], [0, 1], None),
        r"y_true has 3 labels, but y_pred has 2",
    ),
    "nothing": (lambda: mean_cost([], [], None), r"y_true is empty: give at least one label"),
    "label": (
        lambda: mean_cost([0, 1], [0, 7], None, labels=[0, 1]),
        r"y_pred has the label 7, which is not a class: the classes are 0, 1 \(labels=... changes",
    ),
    "mixed labels": (
        lambda: mean_cost(np.array([0, "a"], dtype=object), [0, 0], None),
        r"the labels 0, a cannot be sorted: give labels=",
    ),
    "weight": (
        lambda: mean_cost([0, 1], [0, 1], None, sample_weight=[1]),
        r"sample_weight has shape \(1,\): give \(2,\)",
    ),
    "zero weight": (
        lambda: mean_cost([0, 1], [0, 1], None, sample_weight=[0, 0]),
        r"sample_weight must be finite, 0 or more, and not 0 everywhere",
    ),
    "reject cost": (
        lambda: mean_cost([0, 1], [0, 1], None, reject_cost=-1),
        r"reject_cost is -1: give a finite number, 0 or more",
    ),
    "rival": (
        lambda: cost_report([0, 1], [0, 1], None, rivals={"other": [0]}),
        r"y_true has 2 labels, but other has 1",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_meant_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- the report


def test_the_report_counts_and_prices_every_kind_of_decision():
    report = cost_report(TRUE, DECIDED, COSTS, rivals={"always good": ["good"] * 5})
    assert report.classes == report.decisions == ("bad", "good")
    assert report.counts.tolist() == [[1, 1], [1, 2]]
    assert report.money.tolist() == [[0, 5], [1, 0]]
    assert report.total == 6
    assert report.mean == mean_cost(TRUE, DECIDED, COSTS)
    assert report.constant == "bad"
    assert report.constant_total == 3
    assert report.rival_totals == {"always good": 10}
    assert [(c.true, c.decided, c.count, c.cost, c.total) for c in report.worst(1)] == [
        ("bad", "good", 1, 5, 5)
    ]


def test_the_report_weighs_samples():
    weight = np.array([1, 1, 1, 3, 4])
    report = cost_report(TRUE, DECIDED, COSTS, sample_weight=weight)
    assert report.counts.tolist() == [[4, 3], [1, 2]]
    assert report.mean == mean_cost(TRUE, DECIDED, COSTS, sample_weight=weight)


PRINTED = """\
1,243 decisions cost 1,202 in total, 0.967 each

            each    total
this       0.967    1,202
neutral    96.54  120,003  +9884 %
always 9  0.0346       43    -96 %

Most expensive mistakes
  9 decided as 4: 12 × 100 = 1,200
  4 decided as 9: 2 × 1 = 2

Counts (rows: true class, columns: decision)
    4      9  7
4  38      2  0
9  12  1,188  0
7   0      0  3

Costs (rows: true class, columns: decision)
       4  9  7
4      0  2  0
9  1,200  0  0
7      0  0  0"""


def test_the_report_prints_a_table():
    y = np.repeat([4, 9, 7], [40, 1200, 3])
    decided = y.copy()
    decided[[0, 1]] = 9
    decided[40:52] = 4
    costs = pd.DataFrame([[0, 1, 2.5], [100, 0, 1], [1, 1, 0]], index=[4, 9, 7], columns=[4, 9, 7])
    report = cost_report(y, decided, costs, rivals={"neutral": np.full(len(y), 4)})
    assert str(report) == PRINTED


def test_many_classes_are_not_tabled_and_a_faultless_report_names_no_mistakes():
    y = np.arange(40)
    text = str(cost_report(y, y, None))
    assert text.splitlines() == [
        "40 decisions cost 0 in total, 0 each",
        "",
        "           each  total",
        "this          0      0",
        "always 0  0.975     39",
    ]


def test_abstentions_have_a_column_and_may_be_the_cheapest_constant():
    decided = ["good", "ask", "good", "ask", "good"]
    report = cost_report(TRUE, decided, COSTS, reject_cost=0.5, reject_label="ask")
    assert report.decisions == ("bad", "good", "ask")
    assert report.counts.tolist() == [[0, 1, 1], [0, 2, 1]]
    assert report.total == 6
    assert (report.constant, report.constant_total) == ("ask", 2.5)
    assert "bad decided as ask: 1 × 0.5 = 0.5" in str(report)


@given(
    hnp.arrays(np.int64, (2, 15), elements=st.integers(0, 2)),
    hnp.arrays(np.float64, (3, 3), elements=st.just(0.0) | st.floats(1e-30, 100)),
)
def test_the_cheapest_constant_is_the_cheapest_of_all_constants(y, costs):
    np.fill_diagonal(costs, 0)
    report = cost_report(*y, costs, labels=range(3))
    constants = [mean_cost(y[0], np.full(15, k), costs, labels=range(3)) for k in range(3)]
    np.testing.assert_allclose(report.constant_total / 15, min(constants), rtol=1e-13)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_mean_cost_takes_cost_rows_as_a_data_frame_with_class_names(frame):
    rows = {"good": [0.0, 3.0, 5.0, 0.0], "bad": [1.0, 0.0, 0.0, 2.0]}
    true, decided = ["good", "bad", "bad", "good"], ["good", "good", "bad", "bad"]
    expected = (0 + 3 + 0 + 2) / 4
    assert mean_cost(true, decided, frame(rows)) == expected
    assert mean_cost(true, decided, frame(rows), labels=["bad", "good"]) == expected
