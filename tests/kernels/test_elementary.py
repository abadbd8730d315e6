import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.kernels import reference

FUNCTIONS = ["exponentials", "logarithms"]
any_floats = arrays(np.float64, st.integers(0, 40), elements=st.floats(width=64))


def values(module, name, x):
    return getattr(calls, name)(module, x)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(any_floats)
def test_compiled_functions_equal_reference(compiled, name, x):
    ours, theirs = values(compiled, name, x), values(reference, name, x)
    np.testing.assert_array_equal(ours, theirs)
    finite = np.isfinite(ours)
    assert_same(ours[finite], theirs[finite])


@pytest.mark.parametrize("name", FUNCTIONS)
@given(rng=builders.rngs)
def test_compiled_functions_equal_reference_on_random_bits(compiled, name, rng):
    x = rng.integers(0, 2**64, 500, dtype=np.uint64).view(np.float64)
    np.testing.assert_array_equal(values(compiled, name, x), values(reference, name, x))


@given(rng=builders.rngs)
def test_exponentials_err_by_less_than_one_unit_in_the_last_place(either, rng):
    x = rng.uniform(-700, 700, 20)
    with localcontext(prec=40):
        for at, y in zip(x, values(either, "exponentials", x), strict=True):
            assert abs(Decimal(float(y)) - Decimal(float(at)).exp()) < Decimal(math.ulp(y))


@given(rng=builders.rngs)
def test_logarithms_err_by_less_than_one_unit_in_the_last_place(either, rng):
    near_one = 1 + rng.uniform(-0.5, 0.5, 20) ** 5
    x = np.concatenate([near_one, 2.0 ** rng.uniform(-1070, 1020, 20)])
    with localcontext(prec=40):
        for at, y in zip(x, values(either, "logarithms", x), strict=True):
            assert abs(Decimal(float(y)) - Decimal(float(at)).ln()) < Decimal(math.ulp(y))


def test_functions_at_their_limits(either):
    x = np.array([0.0, -0.0, -1.0, 1.0, np.inf, -np.inf, np.nan, 800.0, -800.0, 709.7, -745.0])
    exp = values(either, "exponentials", x)
    np.testing.assert_array_equal(exp[[0, 1, 4, 5, 6, 7, 8]], [1, 1, np.inf, 0, np.nan, np.inf, 0])
    assert exp[9] < np.inf
    assert exp[10] == 5e-324  # the smallest denormal number
    log = values(either, "logarithms", x)
    expected = [-np.inf, -np.inf, np.nan, 0, np.inf, np.nan, np.nan]
    np.testing.assert_array_equal(log[:7], expected)


@given(rng=builders.rngs)
def test_exponentials_never_fall(either, rng):
    x = np.sort(rng.normal(0, 5, 200))
    assert np.all(np.diff(values(either, "exponentials", x)) >= 0)
