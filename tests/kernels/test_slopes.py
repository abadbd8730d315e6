"""A whole step on slopes, compiled and in NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, tree_calls
from kernels.calls import assert_same
from kernels.test_leaf_tree import random_step, shapes
from rebelboost.base.arrays import Focus, SlopeArrays
from rebelboost.kernels import reference


def random_slopes(rng, shape):
    """Arguments of `propose_on_slopes`, all but the depth."""
    n_samples, _, n_classes, _ = shape
    bins, data, focus, _, _, options = random_step(rng, shape)
    n_classes = int(rng.choice([1, n_classes]))
    signed, mass = builders.random_weights(rng, 2, n_samples, n_classes)
    slopes = SlopeArrays(signed.copy(), np.abs(mass), np.abs(mass).sum(axis=0))
    return bins, data, focus, slopes, options


@given(st.builds(random_slopes, builders.rngs, shapes), st.integers(1, 6))
def test_compiled_steps_on_slopes_equal_reference(compiled, step, depth):
    ours = tree_calls.propose_on_slopes(compiled, *step, depth)
    assert_same(ours, tree_calls.propose_on_slopes(reference, *step, depth))


def test_threads_do_not_change_a_step_on_slopes(compiled):
    bins, data, _, slopes, options = random_slopes(np.random.default_rng(3), (10_000, 40, 1, 1))
    step = bins, data, Focus(np.arange(10_000, dtype=np.int32), np.ones(40, np.uint8)), slopes
    alone = tree_calls.propose_on_slopes(compiled, *step, options, 7)
    for n_threads in (2, 3):
        ours = tree_calls.propose_on_slopes(compiled, *step, options, 7, n_threads=n_threads)
        assert_same(ours, alone)


@given(builders.rngs, builders.n_samples, st.integers(1, 9))
def test_compiled_effects_on_numbers_equal_reference(compiled, rng, n_samples, n_regions):
    effect = (
        rng.standard_normal((n_samples, 1)),
        builders.random_regions(rng, n_samples, n_regions),
        rng.standard_normal((n_regions, 1)),
        rng.standard_normal(n_samples) * 1e3,
        rng.choice([0.0, 1.0, 0.3], n_samples),
    )
    ours = tree_calls.take_number_step(compiled, *effect)
    assert_same(ours, tree_calls.take_number_step(reference, *effect))
