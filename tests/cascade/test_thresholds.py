import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from rebelboost.cascade.thresholds import (
    choose_thresholds,
    exact_interval,
    follow_thresholds,
    most_wrong,
)

seeds = st.integers(0, 2**32 - 1)
agreements = st.sampled_from([1.0, 0.99, 0.95, 0.5])


def partial_sums(seed, n=200, n_checks=6):
    """Partial sums of random steps, some of them equal, and their ends."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(rng.normal(size=n), 1.5, (n_checks + 1, n))
    sums = np.round(np.cumsum(steps, axis=0), 1)
    return sums[:-1], sums[-1]


@given(seed=seeds, agreement=agreements)
def test_no_more_samples_leave_wrongly_than_the_budget_allows(seed, agreement):
    h, end = partial_sums(seed)
    found = choose_thresholds(h, end > 0, end <= 0, agreement=agreement)
    assert found.wrong.sum() <= (1 - agreement) * h.shape[1] + 1e-9
    out = found.stage < len(h)
    above = h[found.stage[out], out] > found.high[found.stage[out]]
    np.testing.assert_array_equal(found.wrong[out], above != (end[out] > 0))


@given(seed=seeds, agreement=agreements)
def test_leads_above_the_next_wrong_one_leave(seed, agreement):
    h, end = partial_sums(seed)
    lead, right = np.abs(h), np.sign(h) == np.sign(end)
    found = choose_thresholds(lead, right, agreement=agreement)
    assert found.wrong.sum() <= (1 - agreement) * h.shape[1] + 1e-9
    first = found.stage == 0
    np.testing.assert_array_equal(first, lead[0] > found.high[0])
    # One more sample than the budget allows would be wrong at the threshold itself.
    wrong = np.sort(lead[0][~right[0]])[::-1]
    allowed = int((1 - agreement) * h.shape[1] / len(h) + 1e-9)
    assert found.high[0] == (wrong[allowed] if allowed < len(wrong) else -np.inf)


@given(seed=seeds, agreement=agreements)
def test_the_thresholds_reproduce_the_exits(seed, agreement):
    h, end = partial_sums(seed)
    found = choose_thresholds(h, end > 0, end <= 0, agreement=agreement)
    np.testing.assert_array_equal(follow_thresholds(h, found.low, found.high), found.stage)


def test_all_samples_leave_where_none_would_leave_wrongly():
    h = np.array([[-3.0, -1.0, 2.0, 4.0] * 5])
    found = choose_thresholds(h, h[0] > 0, h[0] <= 0, agreement=1.0)
    assert found.low[0] == found.high[0] == 0.5
    assert (found.stage == 0).all()


def test_without_checks_no_sample_leaves():
    nothing, none = np.empty((0, 30)), np.empty(0)
    assert (follow_thresholds(nothing, none, none) == 0).all()
    assert (choose_thresholds(nothing, np.ones(30, bool), agreement=0.9).stage == 0).all()


def test_ties_do_not_leave_if_the_floor_is_0():
    lead = np.array([[0.0] * 20, [0.0] * 10 + [1.0] * 10])
    right = np.array([[True] * 20, [True] * 20])
    found = choose_thresholds(lead, right, agreement=1.0, floor=0.0)
    np.testing.assert_array_equal(found.stage, [2] * 10 + [1] * 10)
    assert (found.high == 0).all()


def test_no_sample_leaves_where_too_few_are_left():
    h = np.array([[5.0, -5.0, 5.0], [1.0, 1.0, 1.0]])
    found = choose_thresholds(h, h[0] > 0, h[0] <= 0, agreement=0.5)
    assert (found.stage == 2).all()


@pytest.mark.parametrize("agreement", [0, -0.1, 1.01, np.nan, "0.9", None])
def test_an_agreement_outside_its_range_is_refused(agreement):
    with pytest.raises(ValueError, match=r"such as 0\.995"):
        choose_thresholds(np.zeros((1, 20)), np.ones(20, bool), agreement=agreement)


@pytest.mark.parametrize(("wrong", "n"), [(0, 50), (3, 1000), (20, 20), (7, 30)])
def test_the_interval_ends_where_the_observation_has_a_tail_of_a_fortieth(wrong, n):
    low, high = exact_interval(wrong, n)
    assert low <= wrong / n <= high
    if wrong > 0:
        assert binom.sf(wrong - 1, n, low) == pytest.approx(0.025)
    if wrong < n:
        assert binom.cdf(wrong, n, high) == pytest.approx(0.025)


@given(n=st.integers(1, 5000), share=st.floats(0.0, 0.3), doubt=st.sampled_from([0.01, 0.05, 0.2]))
def test_so_few_wrong_samples_prove_that_the_share_of_all_is_lower(n, share, doubt):
    most = most_wrong(n, share, doubt)
    assert -1 <= most <= share * n
    assert most == -1 or binom.cdf(most, n, share) <= doubt
    assert binom.cdf(most + 1, n, share) > doubt


def test_few_samples_prove_nothing():
    assert most_wrong(597, 0.005, 0.05) == -1  # 0.995⁵⁹⁷ is 0.0502
    assert most_wrong(598, 0.005, 0.05) == 0
    assert most_wrong(2130, 0.005, 0.05) == 5
