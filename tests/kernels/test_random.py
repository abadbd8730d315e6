import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels import calls
from rebelboost.base.draws import key_of
from rebelboost.kernels import reference

keys = st.integers(0, 2**64 - 1)
firsts = st.integers(0, 2**32)


def drawn(module, name, *arguments):
    return getattr(calls, name)(module, *arguments)


@given(keys, firsts, st.integers(0, 50))
def test_compiled_numbers_equal_reference(compiled, key, first, n):
    for name in ("random_numbers", "random_normals"):
        np.testing.assert_array_equal(
            drawn(compiled, name, key, first, n), drawn(reference, name, key, first, n)
        )


@given(keys, firsts, st.integers(1, 20))
def test_a_number_depends_on_its_place_only(either, key, first, skipped):
    for name in ("random_numbers", "random_normals"):
        np.testing.assert_array_equal(
            drawn(either, name, key, first, 30)[skipped:],
            drawn(either, name, key, first + skipped, 30 - skipped),
        )


def test_numbers_are_those_published_for_the_generator(either):
    # The first outputs of SplitMix64 from the state 1234567, printed by its authors' reference code.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert drawn(either, "random_numbers", 1234567, 0, 3).tolist() == expected


def test_numbers_are_spread_evenly(either):
    counts = np.bincount(
        drawn(either, "random_numbers", 7, 0, 25600) >> np.uint64(56), minlength=256
    )
    # χ² with 255 degrees of freedom: mean 255, standard deviation √510 ≈ 22.6; five of them either way.
    assert abs(((counts - 100) ** 2 / 100).sum() - 255) < 5 * 22.6


def test_normals_have_mean_0_and_variance_1(either):
    x = drawn(either, "random_normals", 11, 0, 20000)
    assert abs(x.mean()) < 5 / np.sqrt(20000)
    assert abs(x.var() - 1) < 5 * np.sqrt(2 / 20000)


def test_keys_differ_in_every_part_and_in_their_order():
    cases = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1), (0, 0, 0), (2**63, 5), (5, 2**63)]
    assert len({key_of(*parts) for parts in cases}) == len(cases)


@given(st.lists(keys, max_size=4))
def test_keys_have_64_bits(parts):
    assert 0 <= key_of(*parts) < 2**64
