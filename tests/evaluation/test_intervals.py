"""Confidence intervals of accuracy and mean cost, as `evaluate` gives them: how often they hold the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from rebelboost import RebelClassifier
from rebelboost.evaluation import evaluate
from rebelboost.evaluation.intervals import WeightedRows, mean_cost_interval

TRIALS = 150
# Of 150 intervals that hold the truth with probability 0.95 each, 134 or more do with probability 0.997.
ENOUGH = 134


def decides_by_the_column(n_classes, costs=None):
    """A model that decides for the class whose number is in its only column."""
    y = np.repeat(np.arange(n_classes), 50)
    model = RebelClassifier("tree", n_rounds=50, cross_fit=None).fit(y[:, np.newaxis], y)
    return model if costs is None else model.with_costs(costs).set_params(decision="argmax")


def cells(rng, n, chances):
    """True classes and decisions, drawn with these (K, K) chances."""
    drawn = rng.choice(chances.size, n, p=chances.ravel())
    return drawn // len(chances), drawn % len(chances)


COSTS = {
    "1 and 50": ([[0, 1], [50, 0]], [[0.4, 0.08], [0.02, 0.5]]),
    "0 and 100": ([[0, 0], [100, 0]], [[0.4, 0.1], [0.01, 0.49]]),
    "three classes": (
        [[0, 1, 20], [2, 0, 50], [1, 5, 0]],
        [[0.3, 0.02, 0.004], [0.02, 0.3, 0.002], [0.02, 0.01, 0.324]],
    ),
}


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("kind", COSTS)
def test_the_interval_of_the_mean_cost_holds_the_truth_as_often_as_it_says(kind, n):
    costs, chances = map(np.array, COSTS[kind])
    model, truth, held = decides_by_the_column(len(costs), costs), (costs * chances).sum(), 0
    for trial in range(TRIALS):
        true, decided = cells(np.random.default_rng([trial, n]), n, chances)
        _, low, high = evaluate(model, decided[:, np.newaxis], true).cost
        held += low <= truth <= high
    assert held >= ENOUGH


def test_the_interval_of_the_mean_cost_by_row_holds_the_truth_as_often_as_it_says():
    costs, chances = np.array([[0, 10], [100, 0]]), np.array([[0.5, 0.08], [0.03, 0.39]])
    model, held = decides_by_the_column(2), 0
    truth = 0.6 * (costs * chances).sum()
    for trial in range(TRIALS):
        rng = np.random.default_rng(trial)
        true, decided = cells(rng, 50, chances)
        own = costs * rng.uniform(0.2, 1, (50, 1, 1))
        weight = rng.choice([1.0, 3.0], 50)
        found = evaluate(model, decided[:, np.newaxis], true, costs=own, sample_weight=weight)
        held += found.cost.low <= truth <= found.cost.high
    assert held >= ENOUGH


def test_rows_without_a_mistake_leave_room_for_expensive_ones():
    model = decides_by_the_column(2, [[0, 1], [100, 0]])
    y = np.arange(30) % 2
    found = evaluate(model, y[:, np.newaxis], y)
    # The exact upper limit of a share of which none of 30 was seen.
    assert found.cost == pytest.approx((0, 0, 100 * (1 - 0.025 ** (1 / 30))), rel=1e-6)


@given(st.integers(0, 40), st.integers(0, 40).filter(bool), st.floats(0.01, 100))
def test_where_mistakes_cost_the_same_the_interval_is_clopper_and_pearsons(wrong, right, price):
    n = wrong + right
    costs = np.repeat([price, 0.0], [wrong, right])
    _, low, high = mean_cost_interval(costs, np.ones(n), n, price)
    assert low / price == pytest.approx(beta.ppf(0.025, wrong, right + 1) if wrong else 0, abs=1e-6)
    assert high / price == pytest.approx(beta.ppf(0.975, wrong + 1, right), abs=1e-6)


def test_the_order_of_rows_and_the_unit_of_weights_change_no_interval():
    rng = np.random.default_rng(0)
    costs, weight = rng.choice([0, 1, 5.0, 50], 100), rng.exponential(size=100)
    once = mean_cost_interval(costs, weight, 70, 50)
    order = rng.permutation(100)
    other = mean_cost_interval(costs[order], 1000 * weight[order], 70, 50)
    assert once == pytest.approx(other, rel=1e-8)


def test_many_different_costs_have_nearly_the_interval_of_the_normal_distribution():
    rng = np.random.default_rng(0)
    costs = rng.uniform(0, 1, 50_000)
    value, low, high = mean_cost_interval(costs, np.ones(50_000), 50_000, 1.0)
    half = 1.96 * costs.std() / np.sqrt(50_000)
    assert (value - low, high - value) == pytest.approx((half, half), rel=0.02)


@pytest.mark.parametrize("correlation", [0.1, 0.6])
@pytest.mark.parametrize(("n_groups", "size"), [(10, 20), (25, 8)])
def test_intervals_with_groups_hold_the_truth_as_often_as_they_say(n_groups, size, correlation):
    model, right, held = decides_by_the_column(2, [[0, 1], [50, 0]]), 0.9, np.zeros(2, int)
    strength = (1 - correlation) / correlation
    groups = np.repeat(np.arange(n_groups), size)
    for trial in range(TRIALS):
        rng = np.random.default_rng(trial)
        shares = rng.beta(strength * (1 - right), strength * right, n_groups)
        decided = rng.integers(0, 2, len(groups))
        true = np.where(rng.random(len(groups)) < shares[groups], 1 - decided, decided)
        found = evaluate(model, decided[:, np.newaxis], true, groups=groups)
        mean = (1 - right) * 25.5
        held += (
            found.accuracy.low <= right <= found.accuracy.high,
            (found.cost.low <= mean <= found.cost.high),
        )
    assert (held >= ENOUGH).all()


def test_groups_of_one_row_have_about_the_interval_of_rows():
    hits = np.repeat([1.0, 0.0], [180, 20])
    alone = WeightedRows(np.ones(200)).share(hits)
    grouped = WeightedRows(np.ones(200), np.arange(200)).share(hits)
    assert grouped == pytest.approx(alone, abs=0.002)


def test_copies_of_rows_in_one_group_say_no_more_than_the_rows():
    hits = np.repeat([1.0, 0.0], [40, 10])
    groups = np.arange(50)
    copied = WeightedRows(np.ones(500), np.repeat(groups, 10)).share(np.repeat(hits, 10))
    alone = WeightedRows(np.ones(50)).share(hits)
    assert copied.low <= alone.low + 0.01
    assert copied.high >= alone.high - 0.01
