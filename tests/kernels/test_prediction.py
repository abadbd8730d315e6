import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.kernels import reference

dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
depths = st.lists(st.integers(0, 7), min_size=1, max_size=4)


@st.composite
def forests(draw):
    """A random generator, the number of features, and some trees."""
    rng, n_features = draw(builders.rngs), draw(builders.n_features)
    trees = builders.random_trees(
        rng, draw(depths), n_features, draw(builders.n_classes), categories=draw(st.booleans())
    )
    return rng, n_features, trees


@dtypes
@given(forest=forests(), n_samples=st.sampled_from([0, 1, 31, 32, 33, 100]))
def test_compiled_predictions_equal_reference(compiled, dtype, forest, n_samples):
    rng, n_features, trees = forest
    X = builders.random_values(rng, n_samples, n_features, dtype)
    first, last = np.sort(rng.integers(0, len(trees.depths) + 1, 2)).tolist()
    ours = calls.predict(compiled, X, trees, first, last)
    assert_same(ours, calls.predict(reference, X, trees, first, last))


@dtypes
@given(forest=forests(), n_samples=st.sampled_from([0, 1, 31, 32, 33, 100]))
def test_compiled_leaves_equal_reference(compiled, dtype, forest, n_samples):
    rng, n_features, trees = forest
    X = builders.random_values(rng, n_samples, n_features, dtype)
    for tree in range(len(trees.depths)):
        ours = calls.apply(compiled, X, trees, tree)
        assert_same(ours, calls.apply(reference, X, trees, tree))


def leaf(trees, tree, x):
    """Walk down by hand."""
    at = 0
    for layer in range(trees.depths[tree]):
        node = trees.node_offsets[tree] + 2**layer - 1 + at
        value, row = float(x[trees.features[node]]), trees.category[node]
        if np.isnan(value) or (row >= 0 and not 0 <= value < 256):
            right = trees.missing_right[node]
        elif row >= 0:
            right = trees.right[row, int(value)]
        else:
            right = value > trees.thresholds[node]
        at = 2 * at + bool(right)
    return at


@given(forest=forests())
def test_a_walk_by_hand_ends_in_the_same_leaf(either, forest):
    rng, n_features, trees = forest
    X = builders.random_values(rng, 5, n_features)
    expected = [leaf(trees, 0, x) for x in X]
    assert calls.apply(either, X, trees, 0).tolist() == expected


def test_the_scores_of_no_trees_are_left_as_they_are(either):
    trees = builders.random_trees(np.random.default_rng(0), [2], 3, 4, categories=True)
    scores = calls.predict(either, np.zeros((5, 3)), trees, 1, 1)
    assert (scores == calls.RUBBISH).all()
