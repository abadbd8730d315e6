"""Binarization: compiled = reference, and v is what the leading eigenvector says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, pair_calls
from kernels.calls import assert_same
from rebelboost.kernels import reference

sizes = st.sampled_from([1, 2, 3, 10, 33])


def random_matrix(rng, size, rank):
    """A positive semidefinite matrix over orders of magnitude; at times with equal eigenvalues."""
    if rng.random() < 0.3:
        values = rng.integers(0, 3, size) / 2
        vectors, _ = np.linalg.qr(rng.standard_normal((size, size)))
        return np.ascontiguousarray((vectors * values) @ vectors.T) * 2.0 ** rng.integers(-300, 300)
    factors = rng.standard_normal((rank, size)) * 10.0 ** rng.integers(-6, 1, size)
    return factors.T @ factors


@given(builders.rngs, sizes, sizes)
def test_compiled_eigenvectors_equal_reference(compiled, rng, size, rank):
    matrix = random_matrix(rng, size, rank)
    ours, theirs = (pair_calls.leading_eigenvector(m, matrix) for m in (compiled, reference))
    assert_same(ours, theirs)


@given(builders.rngs, sizes, sizes)
def test_an_eigenvector_explains_as_much_as_the_leading_one(either, rng, size, rank):
    matrix = random_matrix(rng, size, rank)
    q = pair_calls.leading_eigenvector(either, matrix)
    values = np.linalg.eigvalsh(matrix)
    if values[-1] <= 1e-12 * np.abs(matrix).max(initial=0.0):
        return
    assert q @ q == pytest.approx(1, rel=1e-12)
    assert q[np.argmax(np.abs(q))] > 0
    # A part with an eigenvalue of (1 - d) of the largest fades as (1 - d)^(2^20), but squaring ends when
    # the trace changes by less than 2^-40, as it does for a few shares apart by d < 2^-20.
    assert q @ matrix @ q >= values[-1] * (1 - 2.0**-18)


def test_the_eigenvector_of_nothing_is_nothing(either):
    assert not pair_calls.leading_eigenvector(either, np.zeros((3, 3))).any()


@given(builders.rngs, builders.n_planes, builders.n_samples, builders.n_classes)
def test_compiled_sides_equal_reference(compiled, rng, planes, n_rows, n_labels):
    case = builders.balanced_weights(rng, planes, n_rows, n_labels)
    assert_same(pair_calls.binarize(compiled, *case), pair_calls.binarize(reference, *case))


@given(builders.rngs, builders.n_samples)
def test_two_classes_are_the_two_sides(either, rng, n_rows):
    labels = rng.integers(2, size=n_rows)
    weights = np.where(np.eye(2)[labels] > 0, -1.0, 1.0)[np.newaxis] * rng.uniform(
        1, 2, (n_rows, 1)
    )
    values = pair_calls.binarize(either, weights, np.abs(weights).sum(axis=(0, 1))) >> 32
    assert len(set(zip(labels.tolist(), (values > 0).tolist(), strict=True))) == len(set(labels))
