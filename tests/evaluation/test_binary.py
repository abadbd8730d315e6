"""AUC, KS, calibration intercept and slope of the probability of one of two classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp, norm
from sklearn.linear_model import LogisticRegression

from rebelboost.evaluation.binary import binary_measures, difference, log_odds
from rebelboost.evaluation.intervals import Estimate, WeightedRows


def drawn(n, prevalence, distance, rng, sharpness=1.0):
    """Labels and their probabilities, which are right at sharpness 1."""
    y = rng.random(n) < prevalence
    x = rng.normal(size=n) + distance * y
    odds = np.log(prevalence / (1 - prevalence)) + distance * x - distance**2 / 2
    return 1 / (1 + np.exp(-sharpness * odds)), y.astype(np.int32)


def measured(probability, y, weight=None, groups=None):
    weight = np.ones(len(y)) if weight is None else weight
    return binary_measures(probability, y, WeightedRows(weight, groups))


@given(
    st.integers(0, 2**32 - 1), st.integers(2, 80), st.sampled_from([1, 2, 16]), st.integers(1, 9)
)
def test_every_estimate_lies_in_its_interval(seed, n, decimals, n_groups):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.append([0, 1], rng.integers(0, 2, n - 2)))
    probability = np.round(rng.random(n), decimals)
    groups = rng.integers(0, n_groups, n) if n_groups > 1 else None
    found = measured(probability, y, rng.random(n) + 0.01, groups)
    for each in (found.auc, found.ks, found.intercept, *([found.slope] if found.slope else [])):
        assert each.low <= each.value <= each.high
    assert found.auc.low >= 0
    assert found.auc.high <= 1


def test_the_gap_is_the_statistic_of_kolmogorov_and_smirnov():
    probability, y = drawn(300, 0.4, 1.0, np.random.default_rng(0))
    found = measured(probability, y)
    # One-sided: the positive class has the higher probabilities.
    expected = ks_2samp(probability[y == 1], probability[y == 0], alternative="less").statistic
    assert found.ks.value == pytest.approx(expected)
    called = probability >= found.ks_threshold
    assert called[y == 1].mean() - called[y == 0].mean() == pytest.approx(expected)


def test_intercept_and_slope_are_those_of_logistic_regressions():
    rng = np.random.default_rng(1)
    probability, y = drawn(400, 0.3, 1.2, rng, sharpness=1.7)
    weight = rng.random(400) + 0.5
    found = measured(probability, y, weight)
    odds = log_odds(probability)
    fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(odds[:, np.newaxis], y, weight)
    assert found.slope.value == pytest.approx(fitted.coef_[0, 0], rel=1e-4)
    corrected = 1 / (1 + np.exp(-odds - found.intercept.value))
    assert np.average(corrected, weights=weight) == pytest.approx(np.average(y, weights=weight))


def test_the_interval_of_the_area_is_newcombes():
    # The defining equation of method 5, at both ends: |A − θ| = z·√V(θ).
    y = np.repeat([0, 1], [30, 20])
    probability = np.r_[np.linspace(0.05, 0.7, 30), np.linspace(0.3, 0.95, 20)]
    found = measured(probability, y).auc
    for end in (found.low, found.high):
        rest = 24 * ((1 - end) / (2 - end) + end / (1 + end))
        variance = end * (1 - end) * (1 + rest) / 600
        assert abs(found.value - end) == pytest.approx(norm.ppf(0.975) * np.sqrt(variance))


def test_an_area_of_1_is_not_certain():
    found = measured(np.r_[np.full(5, 0.9), np.full(45, 0.1)], np.repeat([1, 0], [5, 45])).auc
    assert found.value == found.high == 1
    assert 0.7 < found.low < 0.9


def test_intervals_contain_the_truth_in_95_of_100_cases():
    rng, n_trials, distance = np.random.default_rng(2), 200, 1.5
    area, gap = norm.cdf(distance / np.sqrt(2)), 2 * norm.cdf(distance / 2) - 1
    hits = np.zeros(4)
    for _ in range(n_trials):
        found = measured(*drawn(100, 0.3, distance, rng))
        truth = ((found.auc, area), (found.ks, gap), (found.intercept, 0.0), (found.slope, 1.0))
        hits += [each.low <= true <= each.high for each, true in truth]
    # 200 trials at 95 %: below 0.9 with a probability of 0.1 % only.
    assert (hits / n_trials >= 0.9).all(), hits / n_trials


def test_rows_that_are_repeated_in_groups_count_once():
    probability, y = drawn(60, 0.4, 1.0, np.random.default_rng(3))
    once = measured(probability, y)
    often = measured(
        np.repeat(probability, 10), np.repeat(y, 10), groups=np.repeat(np.arange(60), 10)
    )
    alone = measured(np.repeat(probability, 10), np.repeat(y, 10))
    for name in ("auc", "ks", "intercept", "slope"):
        one, grouped, many = (getattr(each, name) for each in (once, often, alone))
        assert grouped.value == pytest.approx(one.value)
        # Student's quantile for groups is wider than the normal one: 2.0 to 1.96 for 59 degrees.
        assert grouped.high - grouped.low == pytest.approx(one.high - one.low, rel=0.1)
        assert many.high - many.low < 0.5 * (one.high - one.low)


def test_separated_classes_have_no_slope_and_one_class_has_no_measures():
    assert measured(np.array([0.1, 0.2, 0.8, 0.9]), np.array([0, 0, 1, 1])).slope is None
    assert measured(np.array([0.5, 0.5, 0.5]), np.array([0, 1, 1])).slope is None
    assert measured(np.array([0.5, 0.6]), np.array([1, 1])) is None


def test_certain_and_wrong_probabilities_are_measured():
    found = measured(np.array([0.0, 1.0, 0.0, 1.0]), np.array([1, 0, 0, 1]))
    assert found.auc.value == 0.5
    assert np.isfinite([*found.intercept]).all()


def test_a_difference_of_shares_is_as_published():
    # Newcombe 1998, method 10: 56/70 − 48/80 = 0.2, from 0.0524 to 0.3339.
    first, second = Estimate(0.8, 0.6918, 0.8768), Estimate(0.6, 0.4904, 0.7005)
    assert difference(first, second) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-4)
