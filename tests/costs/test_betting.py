"""Certified costs: the bound holds as often as it says, whatever the distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from rebelboost.costs.betting import Units, bets_on, units_needed, units_of, upper_bound

DELTA = 0.05
LAWS = {
    "few dear mistakes": lambda rng, n: rng.choice([0, 0.2, 1], n, p=[0.68, 0.25, 0.07]),
    "rare": lambda rng, n: rng.random(n) < 0.02,
    "heavy tail": lambda rng, n: np.minimum(1, 0.01 * rng.pareto(1.1, n)),
    "even": lambda rng, n: rng.random(n),
}
MEANS = {"few dear mistakes": 0.12, "rare": 0.02, "even": 0.5}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [50, 400])
def test_an_expected_cost_is_above_its_bound_no_more_often_than_allowed(law, n):
    rng, draws = np.random.default_rng(1), 1000
    mean = MEANS.get(law)
    if mean is None:
        mean = float(LAWS[law](rng, 10**6).mean())
    # The bound is below the mean where the bets refute the mean.
    missed = sum(
        bets_on(ungrouped(LAWS[law](rng, n), seed=seed), DELTA).refute(mean)
        for seed in range(draws)
    )
    # A binomial of probability δ is above this in fewer than one of 10,000 runs of the test.
    assert missed <= DELTA * draws + 3.8 * np.sqrt(draws * DELTA * (1 - DELTA))


def ungrouped(cost, greatest=1.0, seed=0):
    return units_of(np.asarray(cost, dtype=float), np.ones(len(cost)), None, greatest, seed)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.randoms())
def test_the_bound_is_above_the_mean_and_does_not_depend_on_the_order(costs, shuffling):
    found = upper_bound(ungrouped(costs), DELTA)
    assert np.mean(costs) <= found <= 1
    shuffling.shuffle(costs)
    assert upper_bound(ungrouped(costs), DELTA) == found


def test_costs_and_their_bound_have_the_same_unit():
    cost = np.random.default_rng(0).exponential(size=200).clip(max=8)
    assert upper_bound(ungrouped(cost, 8.0), DELTA) == upper_bound(
        ungrouped(10 * cost, 80.0), DELTA
    )


def test_more_rows_and_less_confidence_give_lower_bounds():
    cost = np.tile([0, 0, 0, 1.0], 50)
    wide = upper_bound(ungrouped(cost[:40]), DELTA)
    assert upper_bound(ungrouped(cost), 0.01) > upper_bound(ungrouped(cost), DELTA)
    assert upper_bound(ungrouped(cost), DELTA) < wide


def test_rows_of_a_group_count_as_one_observation():
    cost, groups = np.repeat(np.tile([0, 0, 0, 1.0], 10), 5), np.repeat(np.arange(40), 5)
    grouped = units_of(cost, np.ones(200), groups, 1.0)
    assert len(grouped.cost) == 40
    assert upper_bound(grouped, DELTA) == upper_bound(ungrouped(cost[::5]), DELTA)


def test_weights_of_equal_size_change_nothing_and_weight_0_is_no_row():
    cost = np.array([0.0, 1.0, 0.25, 0.5] * 10)
    heavy = units_of(cost, np.full(40, 3.0), None, 1.0)
    assert upper_bound(heavy, DELTA) == pytest.approx(upper_bound(ungrouped(cost), DELTA), abs=1e-6)
    some = units_of(cost, np.repeat([1.0, 0.0], 20), None, 1.0)
    assert len(some.cost) == 20


def test_without_rows_nothing_is_known():
    empty = Units(np.empty(0), np.empty(0))
    assert upper_bound(empty, DELTA) == 1


def test_so_many_rows_as_are_said_to_be_needed_suffice():
    cost = np.tile([0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0], 10)
    needed = units_needed(ungrouped(cost), 0.15, DELTA)
    assert needed > 100
    enough = ungrouped(np.tile(cost, -(-needed // 100)))
    assert upper_bound(enough, DELTA) <= 0.16
    assert units_needed(ungrouped(cost), 0.1, DELTA) is None  # the mean itself


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_bound_of_a_share_is_exact(n_hits, n_others):
    if n_hits + n_others == 0:
        return
    bound = upper_bound(ungrouped([1.0] * n_hits + [0.0] * n_others), DELTA)
    if n_others == 0:
        assert bound == 1
    else:  # so few hits have the probability δ there
        assert binom.cdf(n_hits, n_hits + n_others, bound) == pytest.approx(DELTA)


def test_the_order_in_which_rows_are_bet_on_hardly_matters():
    cost = np.repeat([0, 0.2, 1.0], [68, 25, 7])
    bounds = [upper_bound(ungrouped(cost, seed=seed), DELTA) for seed in range(20)]
    assert max(bounds) - min(bounds) < 0.1 * np.mean(bounds)
