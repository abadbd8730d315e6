import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rebelboost.base.fixed_point import (
    SMALL_ENOUGH,
    coarsest,
    is_multiple,
    rounded,
    spacing,
    unit_of,
)

numbers = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=20)


def test_the_spacing_is_the_largest_power_of_two_that_divides_all():
    assert spacing(np.array([12.0, -20.0, 0.0])) == 4.0
    assert spacing(np.array([0.75, 3.0])) == 0.25
    assert spacing(np.zeros(3)) == math.inf
    assert spacing(np.array([1.0, np.nan])) == 0.0
    assert spacing(np.array([0.1])) == 2.0**-55


@given(values=numbers, power=st.integers(-40, 10))
def test_rounded_numbers_are_multiples_of_the_unit_within_half_of_it(values, power):
    unit, values = 2.0**power, np.array(values)
    found = rounded(values, unit)
    assert spacing(found) >= unit
    assert np.all(np.abs(found - values) <= unit / 2)


@given(values=numbers, order=st.randoms())
def test_sums_of_numbers_rounded_for_their_bound_are_exact_in_any_order(values, order):
    bound = float(np.abs(values).sum())
    if bound == 0:
        return
    found = rounded(np.array(values), unit_of(bound)).tolist()
    assert sum(map(abs, found)) <= SMALL_ENOUGH * unit_of(bound)
    assert is_multiple(np.array(found), coarsest(sum(map(abs, found)) or bound))
    shuffled = list(found)
    order.shuffle(shuffled)
    assert sum(shuffled) == sum(found) == math.fsum(found)


@given(power=st.integers(-900, 900))
def test_the_coarsest_grid_changes_just_above_powers_of_two(power):
    bound = 2.0**power
    assert coarsest(bound) == bound / SMALL_ENOUGH
    assert coarsest(math.nextafter(bound, math.inf)) == 2 * bound / SMALL_ENOUGH
