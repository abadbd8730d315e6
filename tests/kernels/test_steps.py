import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls, coded_builders
from kernels.calls import assert_same
from kernels.test_refusals import WIDTH, Place, call_with
from rebelboost.kernels import reference

counts = st.lists(st.integers(-1, 9), max_size=5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    rng=builders.rngs,
    counts=counts,
    n_classes=builders.n_classes,
    n_samples=st.sampled_from([0, 1, 31, 32, 33, 600]),
)
def test_compiled_sums_of_steps_equal_reference(compiled, dtype, rng, counts, n_classes, n_samples):
    steps = coded_builders.random_steps(rng, counts, 4, n_classes)
    X = builders.random_values(rng, n_samples, 4, dtype)
    assert_same(calls.add_steps(compiled, X, steps), calls.add_steps(reference, X, steps))


def row_of(steps, i, x):
    """Find the output by hand."""
    if steps.categorical[i]:
        return steps.rows[i] + (int(x) if 0 <= x < 256 else 256)
    thresholds = steps.thresholds[steps.starts[i] : steps.starts[i + 1]]
    if np.isnan(x):
        return steps.rows[i] + len(thresholds) + 1
    return steps.rows[i] + sum(x > threshold for threshold in thresholds)


@given(rng=builders.rngs, counts=counts)
def test_outputs_found_by_hand_are_the_same(either, rng, counts):
    steps = coded_builders.random_steps(rng, counts, 4, 3)
    X = builders.random_values(rng, 5, 4)
    expected = np.full((5, 3), float(calls.RUBBISH))
    for i, feature in enumerate(steps.features):
        expected += [steps.outputs[row_of(steps, i, x)] for x in X[:, feature]]
    assert_same(calls.add_steps(either, X, steps), expected)


@pytest.mark.parametrize("feature", [-1, WIDTH])
def test_steps_of_features_that_are_not_there_are_refused(compiled, feature):
    features = np.array([0, feature, 1], dtype=np.int32)
    with pytest.raises(ValueError, match="a feature that is not there"):
        call_with(compiled, Place("add_steps", "steps", "features"), features)


@pytest.mark.parametrize("starts", [[0, 3, 2, 5], [1, 2, 2, 5], [0, 2, 2, 4]])
def test_steps_whose_thresholds_overlap_or_are_not_all_used_are_refused(compiled, starts):
    with pytest.raises(ValueError, match="match"):
        call_with(compiled, Place("add_steps", "steps", "starts"), np.array(starts))
