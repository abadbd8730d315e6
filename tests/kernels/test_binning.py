import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernels import calls
from kernels.calls import assert_same
from rebelboost.kernels import reference

# Numbers that a float32 holds exactly, that it does not, and neighbours of one another.
POOL = [
    -np.inf,
    -1e300,
    -1.5,
    -0.0,
    5e-324,
    0.1,
    float(np.float32(0.1)),
    1.0,
    np.nextafter(1.0, 2.0),
]
EDGES = sorted({*POOL[1:], 2.0, 3e38})


@st.composite
def edges_and_values(draw):
    """A few edges for each feature, and values that are often equal to one of them."""
    few = st.lists(st.sampled_from(EDGES), unique=True).map(sorted).map(np.array)
    many = st.sampled_from([1, 2, 3, 127, 128, 254]).map(np.arange)
    edges = draw(st.lists(st.one_of(few, many).map(np.float64), min_size=1, max_size=20))
    values = st.sampled_from(
        [*POOL, *EDGES, np.nan, np.inf, 126.0, 126.5, 127.0, 252.5, 253.0, 254.0]
    )
    shape = (draw(st.integers(1, 12)), len(edges))
    return edges, draw(hnp.arrays(np.float64, shape, elements=values))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(case=edges_and_values())
def test_compiled_binning_equals_reference(compiled, dtype, case):
    edges, X = case
    with np.errstate(over="ignore"):  # 1e300 becomes ∞ as float32
        X = X.astype(dtype)
    assert_same(calls.bin_values(compiled, X, edges), calls.bin_values(reference, X, edges))


def test_a_value_equal_to_an_edge_goes_below_it(either):
    X = np.array([[-1.0], [0.0], [np.nextafter(0, 1)], [1.0], [2.0], [np.nan]])
    blocks = calls.bin_values(either, X, [np.array([0.0, 1.0])])
    assert blocks[0, :, 0].tolist() == [0, 0, 1, 1, 2, 3]
