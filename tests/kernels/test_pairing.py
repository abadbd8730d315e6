"""What similarities are searched by: compiled = reference, and both say what the formulas say."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.kernels import reference

n_rivals = st.sampled_from([1, 2, 8, 30])


def random_sides(rng, n_anchors, n_rows):
    """Distances with ties, zeros and infinite ones; values of which some are 0."""
    distances = builders.random_distances(rng, n_anchors, n_rows)
    if rng.random() < 0.5:
        distances = rng.choice(np.array([0, 1, 2, np.inf], dtype=np.float32), (n_anchors, n_rows))
    return distances, rng.integers(-1, 2, n_anchors), rng.integers(-1, 2, n_rows)


@given(builders.rngs, st.integers(1, 4), builders.n_samples, n_rivals)
def test_compiled_rivals_equal_reference(compiled, rng, n_anchors, n_rows, n_rivals):
    case = (*random_sides(rng, n_anchors, n_rows), n_rivals)
    assert_same(calls.nearest_rivals(compiled, *case), calls.nearest_rivals(reference, *case))


@given(builders.rngs, builders.n_samples, n_rivals)
def test_rivals_are_the_nearest_on_the_other_side(either, rng, n_rows, n_rivals):
    distances, (own,), values = random_sides(rng, 1, n_rows)
    (found,) = calls.nearest_rivals(either, distances, np.array([own]), values, n_rivals)
    (row,) = distances
    rivals = [n for n in range(n_rows) if own * values[n] < 0 and 0 < row[n] < np.inf]
    rivals.sort(key=lambda n: row[n])
    assert found.tolist() == (rivals + [-1] * n_rivals)[:n_rivals]


@given(builders.rngs, builders.n_planes, builders.n_samples, builders.n_classes)
def test_the_least_isolated_loss_is_that_of_some_sample(either, rng, planes, n_rows, n_labels):
    weights = builders.random_weights(rng, planes, n_rows, n_labels)
    totals, signed_totals = np.abs(weights).sum(axis=(0, 1)), weights.sum(axis=(0, 1))
    case = (weights, totals, signed_totals)
    found = calls.least_isolated(either, *case)
    assert found == calls.least_isolated(reference, *case)
    P = 2 * weights.sum(axis=0) - signed_totals
    left = np.sqrt(np.maximum(totals**2 - P**2, 0)).sum(axis=1)
    # Sums of up to 30 positive numbers, in another order.
    np.testing.assert_allclose(found, left.min(), rtol=30 * 2.0**-53)
