import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rebelboost.kernels import reference

flags = hnp.arrays(np.uint8, st.integers(0, 300), elements=st.sampled_from([0, 0, 1, 255]))


@given(right=flags, seed=st.integers(0, 2**32 - 1))
def test_compiled_partition_equals_reference(compiled, right, seed):
    samples = np.random.default_rng(seed).permutation(right.size).astype(np.int32)
    ours, theirs = samples.copy(), samples.copy()
    assert compiled.partition(ours, right) == reference.partition(theirs, right)
    np.testing.assert_array_equal(ours, theirs)


@given(right=flags)
def test_partition_keeps_the_order_of_both_groups(right):
    samples = np.arange(right.size, dtype=np.int32)
    n_left = reference.partition(samples, right)
    assert n_left == np.count_nonzero(right == 0)
    assert samples.tolist() == [*np.flatnonzero(right == 0), *np.flatnonzero(right)]


def test_arrays_of_another_type_are_refused_not_copied(compiled):
    right = np.zeros(3, np.uint8)
    for samples in (np.arange(3, dtype=np.int64), np.arange(6, dtype=np.int32)[::2], [0, 1, 2]):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            compiled.partition(samples, right)


def test_lengths_that_differ_are_refused(compiled):
    with pytest.raises(ValueError, match="differ in length"):
        compiled.partition(np.arange(3, dtype=np.int32), np.zeros(4, np.uint8))
