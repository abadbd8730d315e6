import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls, coded_builders
from kernels.calls import assert_same
from kernels.test_refusals import VALID, WIDTH, Place, array_at, call_with
from rebelboost.kernels import reference

COLUMNS, TREES = "columns", "trees"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    rng=builders.rngs,
    counts=st.lists(st.integers(-1, 9), min_size=1, max_size=5),
    depths=st.lists(st.integers(0, 8), max_size=4),
    n_samples=st.sampled_from([0, 1, 31, 32, 33, 256, 300, 4100]),
    n_sets=st.sampled_from([0, 1, 7]),
)
def test_compiled_predictions_of_coded_trees_equal_reference(
    compiled, dtype, rng, counts, depths, n_samples, n_sets
):
    columns, trees = coded_builders.random_coded(rng, counts, depths, 4, 3, n_sets)
    X = builders.random_values(rng, n_samples, 4, dtype)
    first, last = np.sort(rng.integers(0, len(depths) + 1, 2)).tolist()
    ours = calls.predict_coded(compiled, X, columns, trees, first, last)
    assert_same(ours, calls.predict_coded(reference, X, columns, trees, first, last))


@given(
    rng=builders.rngs,
    counts=st.lists(st.integers(-1, 9), min_size=1, max_size=5),
    depths=st.lists(st.integers(0, 6), max_size=20),
    n_sets=st.sampled_from([0, 1, 7]),
)
def test_the_scores_of_a_single_sample_are_those_that_it_has_among_others(
    compiled, rng, counts, depths, n_sets
):
    columns, trees = coded_builders.random_coded(rng, counts, depths, 4, 3, n_sets)
    X = builders.random_values(rng, 5, 4, np.float64)
    first, last = np.sort(rng.integers(0, len(depths) + 1, 2)).tolist()
    among = calls.predict_coded(compiled, X, columns, trees, first, last)
    for module in (compiled, reference):
        alone = [calls.score_row(module, x, columns, trees, first, last) for x in X]
        assert_same(np.array(alone), among)


def spoilt(name, field, i, value, kernel="predict_coded"):
    place = Place(kernel, name, field)
    array = array_at(VALID, place).copy()
    array[i] = value
    return place, array


@pytest.mark.parametrize(
    ("name", "field", "i", "value"),
    [
        (COLUMNS, "features", 1, WIDTH),
        (COLUMNS, "features", 1, -1),
        (COLUMNS, "starts", 1, 6),
        (TREES, "nodes", (4, 0), 3),
        (TREES, "nodes", (4, 1), 256 + 3),
        (TREES, "depths", 0, 3),
        (TREES, "depths", 0, -1),
        (TREES, "node_offsets", 1, 2),
        (TREES, "leaf_offsets", 1, 3),
    ],
)
def test_coded_trees_that_name_what_is_not_there_are_refused(compiled, name, field, i, value):
    with pytest.raises(ValueError, match=r"match|not there"):
        call_with(compiled, *spoilt(name, field, i, value))
    with pytest.raises(ValueError, match=r"match|not there"):
        call_with(compiled, *spoilt(name, field, i, value, "score_row"))
