"""Features of smooth similarities: compiled = reference, and what they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, smooth_calls
from kernels.calls import assert_same
from rebelboost.kernels import reference

sizes = st.sampled_from([1, 2, 7, 8, 9, 33, 60])


def kernel(tau, squares):
    return 2 * tau / (tau + squares.astype(np.float64))


def case(rng, n_points, n_examples):
    """Squared distances, and a width near their median."""
    squares = smooth_calls.random_squares(rng, n_points, min(n_examples, n_points))
    return squares, float(np.median(squares)) * 2.0 ** rng.integers(-3, 4) + 1e-12


def among(squares):
    return np.ascontiguousarray(squares[:, : len(squares)])


def basis(module, squares, tau, least=1e-6):
    n, chosen, factor = smooth_calls.choose_examples(module, among(squares), tau, least)
    size = smooth_calls.padded(n)
    return chosen[:n].copy(), np.ascontiguousarray(factor[:size, :size])


@given(builders.rngs, sizes, sizes, st.sampled_from([0.0, 1e-6, 0.1]))
def test_compiled_choices_equal_reference(compiled, rng, n_points, n_examples, least):
    squares, tau = case(rng, n_points, n_examples)
    ours, theirs = (
        smooth_calls.choose_examples(m, among(squares), tau, least) for m in (compiled, reference)
    )
    assert_same(ours, theirs)


@given(builders.rngs, sizes, sizes)
def test_compiled_features_equal_reference(compiled, rng, n_points, n_examples):
    squares, tau = case(rng, n_points, n_examples)
    chosen, factor = basis(reference, squares, tau)
    ours, theirs = (
        smooth_calls.place_features(m, squares, tau, chosen, factor) for m in (compiled, reference)
    )
    assert_same(ours, theirs)


@given(builders.rngs, sizes, sizes, st.integers(1, 4))
def test_compiled_scores_equal_reference(compiled, rng, n_points, n_columns, n_labels):
    features = smooth_calls.random_features(rng, n_points, n_columns)
    points = rng.integers(n_points, size=rng.integers(0, 20)).astype(np.int32)
    solved = rng.normal(size=(n_labels, 1 + features.shape[1]))
    ours, theirs = (
        smooth_calls.feature_scores(m, features, points, solved) for m in (compiled, reference)
    )
    assert_same(ours, theirs)
    expected = features[points].astype(np.float64) @ solved[:, 1:].T + solved[:, 0]
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12)


@given(builders.rngs, sizes)
def test_the_factor_of_the_chosen_examples_gives_their_kernel(either, rng, n_examples):
    squares, tau = case(rng, n_examples, n_examples)
    chosen, factor = basis(either, squares, tau)
    n = len(chosen)
    assert len(set(chosen.tolist())) == n
    np.testing.assert_array_equal(factor, np.triu(factor))
    explained = np.diag(factor)[:n]
    assert (np.diff(explained) <= 0).all()
    np.testing.assert_allclose(
        (factor.T @ factor)[:n, :n], kernel(tau, squares)[np.ix_(chosen, chosen)], atol=1e-12
    )


@given(builders.rngs, sizes)
def test_examples_are_chosen_until_little_is_unexplained(either, rng, n_examples):
    squares, tau = case(rng, n_examples, n_examples)
    chosen, factor = basis(either, squares, tau, least=0.1)
    K, n = kernel(tau, squares), len(chosen)
    parts = np.linalg.solve(factor[:n, :n].T, K[chosen])
    unexplained = np.delete(np.diag(K) - (parts**2).sum(axis=0), chosen)
    assert (unexplained <= 0.1 + 1e-9).all()


@given(builders.rngs, sizes, sizes)
def test_products_of_features_are_kernels_of_examples(either, rng, n_points, n_examples):
    squares, tau = case(rng, n_points, n_examples)
    chosen, factor = basis(either, squares, tau)
    centre, features = smooth_calls.place_features(either, squares, tau, chosen, factor)
    whole = features.astype(np.float64) + centre
    # Rounding to single precision: 2⁻²⁴ of features of a size of at most √2, times as many of them.
    allowed = 2 * 2.0**-24 * (1 + len(chosen))
    np.testing.assert_allclose(
        whole @ whole[chosen].T, kernel(tau, squares[chosen]).T, atol=allowed
    )
    np.testing.assert_allclose(features.mean(axis=0), 0, atol=allowed)


@pytest.mark.parametrize("point", [-1, 5])
def test_points_that_are_not_there_are_refused(compiled, point):
    features, points = np.zeros((5, 8), dtype=np.float32), np.array([0, point], dtype=np.int32)
    with pytest.raises(ValueError, match="that is not there"):
        smooth_calls.feature_scores(compiled, features, points, np.zeros((2, 9)))
    with pytest.raises(ValueError, match="that is not there"):
        smooth_calls.place_features(compiled, np.ones((5, 5), np.float32), 1.0, points, np.eye(8))


@pytest.mark.parametrize("tau", [0.0, -1.0, np.nan])
def test_a_width_that_is_not_positive_is_refused(compiled, tau):
    squares = np.ones((3, 3), dtype=np.float32)
    with pytest.raises(ValueError, match="tau must be positive"):
        smooth_calls.choose_examples(compiled, squares, tau, 1e-6)
    with pytest.raises(ValueError, match="tau must be positive"):
        smooth_calls.place_features(compiled, squares, tau, np.zeros(3, np.int32), np.eye(8))
