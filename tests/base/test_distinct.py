import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rebelboost.base.hashing import distinct, n_distinct_values

shapes = hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=30)
arrays = st.one_of(
    hnp.arrays(np.int64, shapes, elements=st.integers(-5, 5)),
    hnp.arrays(np.uint64, shapes),
    hnp.arrays(np.float64, shapes, elements=st.floats(allow_nan=False)),
)


@given(values=arrays)
def test_distinct_values_are_those_of_numpy(values):
    expected = np.unique(values)
    np.testing.assert_array_equal(distinct(values), expected, strict=True)
    assert n_distinct_values(values) == len(expected)
