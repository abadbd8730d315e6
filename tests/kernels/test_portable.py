"""Elementary functions of arrays, against the math library: a few units in the last place."""

import numpy as np
import pytest

from rebelboost.kernels import elementary

NUMBERS = np.concatenate([np.geomspace(1e-300, 300, 4001), np.linspace(0.1, 0.15, 999)])


@pytest.mark.parametrize("name", ["exp", "log", "log1p", "sinh"])
def test_functions_are_precise(name):
    # Each is a product of a few roundings of 2⁻⁵³.
    ours, theirs = getattr(elementary, f"portable_{name}")(NUMBERS), getattr(np, name)(NUMBERS)
    np.testing.assert_allclose(ours, theirs, rtol=2.0**-50, atol=0)


@pytest.mark.parametrize("power", [0.25, 0.3, 0.5, 1.0])
def test_powers_are_precise(power):
    # The error of the logarithm, of at most 700, is that of the exponent: 700 · 2⁻⁵³ and a few roundings.
    ours = elementary.portable_power(NUMBERS, power)
    np.testing.assert_allclose(ours, NUMBERS**power, rtol=2.0**-43, atol=0)


def test_functions_of_numbers_are_those_of_arrays():
    x = np.array([0.3, 2.5])
    assert [elementary.exp_of(each) for each in x] == elementary.portable_exp(x).tolist()
    assert [elementary.log_of(each) for each in x] == elementary.portable_log(x).tolist()


def test_sinh_is_odd():
    np.testing.assert_array_equal(
        elementary.portable_sinh(-NUMBERS), -elementary.portable_sinh(NUMBERS)
    )


def test_limits():
    zero = np.zeros(1)
    assert elementary.portable_log(zero) == -np.inf
    assert elementary.portable_log1p(zero) == 0
    assert elementary.portable_sinh(zero) == 0
