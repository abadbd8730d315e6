"""Drift: new rows beside counts of the training rows."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from rebelboost import RebelClassifier, load
from rebelboost.data.spread import sorted_columns
from rebelboost.model.training_counts import FEWEST, count_columns, counted, range_edges
from rebelboost.theory.drift import chi_squared


def rows(n, rng, moved=0.0, share=0.5):
    y = (rng.random(n) < share).astype(int)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["a"] += 1.2 * y + moved
    X["k"] = rng.choice(["red", "green", "blue"], n, p=[0.5, 0.4, 0.1])
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    return X, y


@pytest.fixture(scope="module")
def clf():
    X, y = rows(600, np.random.default_rng(0))
    return RebelClassifier("stump", n_rounds=20, cross_fit=5).fit(X, y)


# ---- counts


@given(
    st.lists(
        st.one_of(st.just(float("nan")), st.integers(-3, 3).map(float), st.floats(-1e300, 1e300)),
        max_size=200,
    )
)
def test_every_row_is_counted_once_and_ranges_have_enough_rows(values):
    column = np.array(values, dtype=np.float64)
    edges = range_edges(np.sort(column[~np.isnan(column)]))
    found = counted(column, edges, None)
    assert found.sum() == len(column)
    assert (np.diff(edges) > 0).all()
    if len(edges):
        assert found[:-1].min() >= FEWEST
    assert not np.isin(edges, column).any() or len(np.unique(column)) > FEWEST


def test_categories_are_counted_by_their_codes_and_missing_ones_last():
    found = count_columns(sorted_columns(np.array([[0.0], [1.0], [1.0], [np.nan]])), 4, {0: 3})
    assert found.counts[0].tolist() == [1, 2, 0, 1]
    assert found.n_rows == 4
    assert count_columns(sorted_columns(np.zeros((5, 3000))), 5, {}) is None


@given(st.lists(st.tuples(st.integers(20, 99), st.integers(20, 99)), min_size=2, max_size=8))
def test_the_statistic_of_full_cells_is_that_of_a_contingency_table(pairs):
    before, now = np.array(pairs).T
    statistic, freedom, _ = chi_squared(before, now)
    expected = chi2_contingency(np.array([before, now]), correction=False)
    assert statistic == pytest.approx(expected.statistic)
    assert freedom == expected.dof


def test_rare_cells_are_put_together():
    before, now = np.array([500, 480, 10, 6, 4, 0]), np.array([50, 48, 1, 1, 0, 0])
    # Of 100 of 1,100 rows, the last three cells are expected to have 1.0 and the third 1.0.
    statistic, freedom, _ = chi_squared(before, now)
    assert freedom == 1  # what is put together has to join a full cell
    expected = chi2_contingency(np.array([[500, 500], [50, 50]]), correction=False)
    assert statistic == pytest.approx(expected.statistic)
    assert chi_squared(np.array([5, 5]), np.array([0, 0]))[:2] == (0.0, 0)


# ---- monitoring


def test_rows_without_a_change_raise_a_false_alarm_in_5_of_100_cases(clf):
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(100):
        alarms += clf.monitor(rows(300, rng)[0]).has_drifted
    # 100 cases at 5 %: above 12 with a probability of 0.1 % only.
    assert alarms <= 12


def test_a_column_that_moved_is_named_with_its_range(clf):
    found = clf.monitor(rows(400, np.random.default_rng(2), moved=0.6)[0])
    assert found.found[0].of == "a"
    assert found.found[0].now > 1.5 * found.found[0].before
    assert found.found[0].low < found.found[0].now < found.found[0].high
    assert "column" in found.text()
    assert "A certified cost no longer stands" in found.text()


def test_other_class_frequencies_are_estimated_with_an_interval(clf):
    rng, held, seen = np.random.default_rng(3), 0, 0
    for _ in range(40):
        found = clf.monitor(rows(400, rng, share=0.8)[0])
        _, now, low, high = found.frequencies[1]
        held += low <= 0.8 <= high
        assert low <= now <= high
        if "class frequencies" in {each.of for each in found.found}:
            seen += 1
            assert 'with_priors("estimate")' in found.about_certificate()
    # The interval is that of the new rows; that the model was fitted to some rows is not in it.
    assert held >= 30
    assert seen >= 20


def test_categories_and_missing_values_are_compared(clf):
    X, _ = rows(400, np.random.default_rng(4))
    X["k"] = np.where(X["k"] == "red", "blue", X["k"])
    X.loc[::3, "d"] = np.nan
    found = {each.of: each for each in clf.monitor(X).found}
    assert {"k", "d"} <= set(found)
    assert found["k"].cell in {"red", "blue"}
    assert found["d"].cell == "missing"


def test_a_saved_model_says_the_same_also_without_any_row(clf, tmp_path):
    X, _ = rows(300, np.random.default_rng(5), moved=0.4)
    for kept in ("values", "none"):
        clf.save(tmp_path / "m.safetensors", rows=kept)
        again = load(tmp_path / "m.safetensors").monitor(X)
        assert again.to_dict() == clf.monitor(X).to_dict()
    json.dumps(again.to_dict(), allow_nan=False)


def test_present_priors_do_not_hide_a_change_of_classes(clf):
    X, _ = rows(400, np.random.default_rng(6), share=0.8)
    assert clf.with_priors([0.2, 0.8]).monitor(X).frequencies == clf.monitor(X).frequencies


def test_without_fits_that_left_rows_out_only_columns_are_compared():
    X, y = rows(200, np.random.default_rng(7))
    alone = RebelClassifier("stump", n_rounds=5, cross_fit=None).fit(X, y)
    found = alone.monitor(X)
    assert len(found.tests) == X.shape[1]
    assert found.frequencies == {}
    assert not found.has_drifted


def test_what_cannot_be_compared_is_refused(clf):
    X, y = rows(50, np.random.default_rng(8))
    with pytest.raises(ValueError, match=r"alarm is 5: give a probability"):
        clf.monitor(X, alarm=5)
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        clf.monitor(X[:0])
    distances = np.abs(np.subtract.outer(X["a"].to_numpy(), X["a"].to_numpy()))
    from rebelboost import Similarity

    precomputed = RebelClassifier(Similarity(metric="precomputed"), n_rounds=3).fit(distances, y)
    with pytest.raises(ValueError, match="no counts of its training rows"):
        precomputed.monitor(distances)
