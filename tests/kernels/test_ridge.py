"""Least squares on features: compiled = reference, and the solutions are those of the systems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, smooth_calls
from kernels.calls import assert_same
from rebelboost.kernels import reference

n_points = st.sampled_from([1, 7, 63, 64, 65, 130])
n_columns = st.sampled_from([1, 8, 11, 24, 40])


@given(builders.rngs, n_points, n_columns, st.integers(1, 3))
def test_compiled_sums_equal_reference(compiled, rng, n, columns, n_values):
    features, values = smooth_calls.random_features(rng, n, columns), rng.normal(size=(n, n_values))
    ours, theirs = (smooth_calls.feature_sums(m, features, values) for m in (compiled, reference))
    assert_same(ours, theirs)
    np.testing.assert_allclose(ours, values.T @ features, rtol=1e-6, atol=1e-6)


@given(builders.rngs, n_points, n_columns)
def test_compiled_products_equal_reference(compiled, rng, n, columns):
    features = smooth_calls.random_features(rng, n, columns)
    weight = rng.uniform(0, 1, n) * (rng.random(n) < 0.8)
    ours, theirs = (smooth_calls.weighted_gram(m, features, weight) for m in (compiled, reference))
    assert_same(ours, theirs)
    doubles = features.astype(np.float64)
    np.testing.assert_allclose(ours, (doubles.T * weight) @ doubles, rtol=1e-12, atol=1e-12)


def products(rng, n, columns):
    features = smooth_calls.random_features(rng, n, columns)
    return smooth_calls.weighted_gram(reference, features, np.full(n, 1 / n))


@given(builders.rngs, n_points, n_columns, st.sampled_from([1e-6, 0.01, 10.0]))
def test_compiled_factors_equal_reference(compiled, rng, n, columns, ridge):
    gram = products(rng, n, columns)
    size = 8 * int(rng.integers(1, len(gram) // 8 + 1))
    ours, theirs = (smooth_calls.ridge_factor(m, gram, ridge, size) for m in (compiled, reference))
    assert_same(ours, theirs)
    np.testing.assert_array_equal(ours, np.triu(ours))
    expected = gram[:size, :size] + ridge * np.eye(size)
    np.testing.assert_allclose(ours.T @ ours, expected, rtol=1e-12, atol=1e-12)


def test_no_pivot_is_below_the_ridge(either):
    off_by_rounding = np.full((8, 8), 1.0) - 1e-9 * np.eye(8)  # not positive semidefinite
    factor = smooth_calls.ridge_factor(either, off_by_rounding, 1e-12)
    assert (np.diag(factor) ** 2 >= 1e-12 * (1 - 1e-15)).all()


@given(builders.rngs, n_columns, st.integers(1, 5))
def test_compiled_solutions_equal_reference(compiled, rng, columns, n_values):
    gram = products(rng, 50, columns)
    factor = smooth_calls.ridge_factor(reference, gram, 0.01)
    values = rng.normal(size=(len(gram), n_values))
    for solve, matrix in ((smooth_calls.solve_lower, factor.T), (smooth_calls.solve_upper, factor)):
        ours, theirs = (solve(m, factor, values) for m in (compiled, reference))
        assert_same(ours, theirs)
        np.testing.assert_allclose(matrix @ ours, values, atol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, -1.0, np.nan])
def test_a_ridge_that_is_not_positive_is_refused(compiled, ridge):
    with pytest.raises(ValueError, match="ridge must be positive"):
        smooth_calls.ridge_factor(compiled, np.eye(8), ridge)
