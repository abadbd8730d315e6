"""The λ of a row, in NumPy and compiled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.kernels import reference

shapes = st.tuples(st.integers(0, 40), st.integers(2, 12))


def scores(rng, shape, spread):
    return rng.normal(size=shape) * spread


@pytest.mark.parametrize("enough", [1e-14, 1e-3])
@given(rng=builders.rngs, shape=shapes, spread=st.sampled_from([0.0, 0.1, 3.0, 100.0, 1e6]))
def test_compiled_lambdas_equal_the_reference(compiled, enough, rng, shape, spread):
    x = scores(rng, shape, spread)
    assert_same(calls.log_lambdas(compiled, x, enough), calls.log_lambdas(reference, x, enough))


@given(rng=builders.rngs, shape=shapes, spread=st.sampled_from([0.1, 3.0, 100.0]))
def test_the_probabilities_of_a_row_sum_to_one(either, rng, shape, spread):
    x = scores(rng, shape, spread)
    log_lambda = calls.log_lambdas(either, x, 1e-14)
    # The rounding of x − ln λ, at up to 2⁻⁵³ · |x|, in each of at most twelve terms.
    np.testing.assert_allclose(expit(x - log_lambda[:, np.newaxis]).sum(axis=1), 1, atol=1e-12)


@given(rng=builders.rngs, shape=shapes, spread=st.sampled_from([0.1, 3.0, 100.0]))
def test_the_lambda_of_a_row_does_not_depend_on_the_rows_beside_it(either, rng, shape, spread):
    x = scores(rng, shape, spread)
    alone = [calls.log_lambdas(either, row[np.newaxis], 1e-14) for row in x]
    assert_same(calls.log_lambdas(either, x, 1e-14), np.concatenate([*alone, np.empty(0)]))


def test_one_class_has_no_lambda(compiled):
    with pytest.raises(ValueError, match="one class has no λ"):
        calls.log_lambdas(compiled, np.zeros((3, 1)), 1e-14)
