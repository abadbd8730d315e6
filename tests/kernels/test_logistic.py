"""Logistic regression on features: compiled = reference, and the slope vanishes at the solution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, smooth_calls
from kernels.calls import assert_same
from rebelboost.kernels import reference

n_points = st.sampled_from([1, 7, 8, 127, 129, 300])
n_columns = st.sampled_from([1, 8, 11, 24])
n_labels = st.integers(1, 4)
ridges = st.sampled_from([1e-4, 0.01, 1.0])


def case(rng, n, columns, labels):
    features = smooth_calls.random_features(rng, n, columns)
    mass = smooth_calls.random_mass(rng, labels, n)
    gram = smooth_calls.weighted_gram(reference, features, np.full(n, 1 / n))
    return features, mass, smooth_calls.ridge_factor(reference, gram, 0.01)


def slopes(features, mass, ridge, solved):
    """(K, 1 + R) derivatives of the loss."""
    scores = solved[:, 1:] @ features.T.astype(np.float64) + solved[:, :1]
    P = 1 / (1 + np.exp(-2 * scores))
    by_score = 2 * (mass[1] * P - mass[0] * (1 - P))
    by_feature = by_score @ features.astype(np.float64) + ridge * solved[:, 1:]
    return np.column_stack([by_score.sum(axis=1), by_feature])


@given(builders.rngs, n_points, n_columns, n_labels, ridges)
def test_compiled_solutions_equal_reference(compiled, rng, n, columns, labels, ridge):
    features, mass, factor = case(rng, n, columns, labels)
    used = 8 * int(rng.integers(1, len(factor) // 8 + 1))
    most = int(rng.integers(1, 30))
    options = smooth_calls.options_of(used, ridge, 10.0 ** rng.integers(-7, -1), most)
    start = np.zeros((labels, 1 + len(factor)))
    if rng.random() < 0.5:
        start[:, : 1 + used] = rng.normal(size=(labels, 1 + used)) * 10.0 ** rng.integers(-2, 3)
    ours, theirs = (
        smooth_calls.solve_logistic(m, features, mass, factor, options, start)
        for m in (compiled, reference)
    )
    assert_same(ours, theirs)
    np.testing.assert_array_equal(ours[:, 1 + used :], start[:, 1 + used :])


@given(builders.rngs, st.integers(1, 3), st.sampled_from([0.01, 0.1]))
def test_the_slope_vanishes_at_the_solution(either, rng, labels, ridge):
    features, mass, factor = case(rng, 200, 16, labels + 1)
    options = smooth_calls.options_of(16, ridge, 1e-12, 300)
    start = np.zeros((len(mass[0]), 17))
    solved = smooth_calls.solve_logistic(either, features, mass, factor, options, start)
    # A step that promises 10⁻¹² has a whitened slope of 10⁻⁶ or less, and the curvature of the loss is
    # below 1; single precision adds 2⁻²⁴ of sums of 200 products.
    found = slopes(features, mass, ridge, solved)
    np.testing.assert_allclose(found, 0, atol=2e-5)


def test_points_without_weight_change_nothing(either):
    rng = np.random.default_rng(0)
    features, mass, factor = case(rng, 100, 16, 3)
    options, start = smooth_calls.options_of(16), np.zeros((3, 17))
    kept = np.flatnonzero(mass[:, 0].sum(axis=0) > 0)
    assert len(kept) < 100
    whole = smooth_calls.solve_logistic(either, features, mass, factor, options, start)
    fewer = smooth_calls.solve_logistic(
        either, features[kept], np.ascontiguousarray(mass[:, :, kept]), factor, options, start
    )
    assert_same(whole, fewer)


def test_classes_are_solved_one_by_one(either):
    rng = np.random.default_rng(1)
    features, mass, factor = case(rng, 100, 16, 4)
    options = smooth_calls.options_of(16)
    whole = smooth_calls.solve_logistic(either, features, mass, factor, options, np.zeros((4, 17)))
    for k in range(4):
        own = np.ascontiguousarray(mass[:, k : k + 1])
        alone = smooth_calls.solve_logistic(
            either, features, own, factor, options, np.zeros((1, 17))
        )
        assert_same(whole[k : k + 1], alone)


@pytest.mark.parametrize("n_features", [4, 24])
def test_features_that_are_not_there_are_refused(compiled, n_features):
    features, mass, factor = case(np.random.default_rng(2), 20, 16, 2)
    options = smooth_calls.options_of(n_features)
    with pytest.raises(ValueError, match="must be a multiple of 8"):
        smooth_calls.solve_logistic(compiled, features, mass, factor, options, np.zeros((2, 17)))
