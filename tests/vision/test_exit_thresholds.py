import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebelboost.vision.exit_thresholds import choose_exit_thresholds


def sums(seed, mean, n, decimals):
    """(12, n) partial sums of random steps; rounded ones have ties."""
    steps = np.random.default_rng(seed).normal(mean, 1, (12, n))
    return np.round(np.cumsum(steps, axis=0), decimals)


def terms(windows, thresholds):
    """Number of terms that each window uses."""
    below = windows < thresholds[:, np.newaxis]
    return np.where(below.any(axis=0), below.argmax(axis=0) + 1, len(thresholds))


seeds = st.integers(0, 2**32 - 1)
decimals = st.sampled_from([0, 1, 8])


@given(seeds, decimals, st.sampled_from([0.0, 0.02, 0.1, 0.9]), st.sampled_from([0.0, -1.0, 99.0]))
def test_exit_thresholds_lose_no_more_objects_than_allowed(seed, digits, miss, threshold):
    objects = sums(seed, 0.3, 50, digits)
    thresholds = choose_exit_thresholds(objects, sums(seed + 1, -0.3, 80, digits), threshold, miss)
    found = objects[-1] > threshold
    stays = (objects >= thresholds[:, np.newaxis]).all(axis=0)
    assert np.count_nonzero(found & ~stays) <= miss * objects.shape[1]


@given(seeds, decimals, st.sampled_from([0.04, 0.1, 0.3]))
def test_losing_some_objects_leaves_no_background_later(seed, digits, miss):
    objects, others = sums(seed, 0.3, 50, digits), sums(seed + 1, -0.3, 80, digits)
    without, some = (choose_exit_thresholds(objects, others, 0.0, lost) for lost in (0.0, miss))
    np.testing.assert_array_equal(without, objects[:, objects[-1] > 0].min(axis=1))
    assert (some >= without).all()
    assert (terms(others, some) <= terms(others, without)).all()


@given(seeds, decimals)
def test_one_object_is_lost_where_it_saves_most(seed, digits):
    objects, others = sums(seed, 0.3, 25, digits), sums(seed + 1, -0.3, 80, digits)
    objects = objects[:, objects[-1] > 0]
    without = [np.delete(objects, i, axis=1).min(axis=1) for i in range(objects.shape[1])]
    least = min(terms(others, thresholds).sum() for thresholds in without)
    found = choose_exit_thresholds(objects, others, 0.0, 1 / objects.shape[1])
    assert terms(others, found).sum() == least


def test_objects_with_the_same_sum_are_lost_together():
    objects = np.array([[-1.0, -1.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0]])
    others = np.array([[-1.0, 0.0], [-9.0, -9.0]])
    np.testing.assert_array_equal(choose_exit_thresholds(objects, others, 0.0, 0.25), [-1, 3])
    np.testing.assert_array_equal(choose_exit_thresholds(objects, others, 0.0, 0.5), [2, 3])


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (3, 5)])
def test_without_objects_above_the_threshold_no_window_is_left(shape):
    thresholds = choose_exit_thresholds(np.zeros(shape), np.zeros((shape[0], 4)), 1.0, 0.1)
    np.testing.assert_array_equal(thresholds, np.full(shape[0], -np.inf))
