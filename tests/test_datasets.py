"""Planar mixtures and random costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebelboost.datasets import CLASSES, planar_mixture, random_costs, spirals

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds)
def test_a_planar_set_has_1000_points_to_train_on_and_500_to_test_on(seed):
    planar = planar_mixture(seed)
    assert planar.X_train.shape == (1000, 2)
    assert planar.y_train.shape == (1000,)
    assert planar.X_test.shape == (500, 2)
    assert planar.y_test.shape == (500,)
    assert np.isfinite(planar.X_train).all()


@given(seed=seeds, n_train=st.integers(6, 200))
def test_every_class_is_among_the_training_samples(seed, n_train):
    planar = planar_mixture(seed, n_train=n_train)
    n_classes = len(np.unique(planar.y_train))
    assert CLASSES[0] <= n_classes <= CLASSES[1]
    assert np.unique(planar.y_train).tolist() == list(range(n_classes))
    assert np.isin(planar.y_test, planar.y_train).all()


@given(seed=seeds)
def test_the_same_seed_gives_the_same_set(seed):
    for once, again in zip(planar_mixture(seed), planar_mixture(seed), strict=True):
        np.testing.assert_array_equal(once, again)


def test_another_seed_gives_another_set():
    assert not np.array_equal(planar_mixture(0).X_train, planar_mixture(1).X_train)


@given(seed=seeds, n_train=st.integers(0, 50))
def test_the_test_samples_do_not_depend_on_how_many_there_are_to_train_on(seed, n_train):
    ours, theirs = planar_mixture(seed, n_train=n_train), planar_mixture(seed)
    np.testing.assert_array_equal(ours.X_test, theirs.X_test)
    np.testing.assert_array_equal(ours.y_test, theirs.y_test)


def test_planar_sets_differ_in_their_number_of_classes():
    found = {len(np.unique(planar_mixture(seed).y_train)) for seed in range(50)}
    assert found == {3, 4, 5, 6}


def test_the_classes_are_equally_likely():
    shares = np.bincount(planar_mixture(0, n_train=60_000).y_train) / 60_000
    # Five standard deviations of a share, √(p(1−p)/N) ≤ 0.002.
    np.testing.assert_allclose(shares, 1 / len(shares), atol=0.01)


def test_training_and_test_samples_come_from_the_same_mixture():
    planar = planar_mixture(3, n_train=40_000, n_test=40_000)
    for label in np.unique(planar.y_train):
        seen, fresh = planar.X_train[planar.y_train == label], planar.X_test[planar.y_test == label]
        # Over 6,000 points each with a deviation below 1 have means within 0.02 of the truth.
        np.testing.assert_allclose(seen.mean(axis=0), fresh.mean(axis=0), atol=0.1)
        np.testing.assert_allclose(np.cov(seen.T), np.cov(fresh.T), atol=0.1)


@given(n_classes=st.integers(2, 40), seed=seeds)
def test_random_guessing_costs_1(n_classes, seed):
    costs = random_costs(n_classes, seed)
    assert costs.shape == (n_classes, n_classes)
    assert costs.mean() == pytest.approx(1)
    assert not np.diagonal(costs).any()
    assert (costs[~np.eye(n_classes, dtype=bool)] > 0).all()


def test_random_costs_are_normal_numbers_without_their_sign():
    costs = random_costs(300, seed=0)
    off = costs[~np.eye(300, dtype=bool)]
    # E|z|² / (E|z|)² = π/2; 89,700 numbers have it to about 0.005.
    assert np.mean(off**2) / np.mean(off) ** 2 == pytest.approx(np.pi / 2, abs=0.03)


def test_random_costs_have_a_seed():
    np.testing.assert_array_equal(random_costs(4, seed=5), random_costs(4, seed=5))
    assert not np.array_equal(random_costs(4, seed=5), random_costs(4, seed=6))


@pytest.mark.parametrize("n_classes", [0, 1])
def test_costs_need_two_classes(n_classes):
    with pytest.raises(ValueError, match=f"n_classes is {n_classes}: .* two classes or more"):
        random_costs(n_classes, seed=0)


def test_spirals_are_three_classes_with_as_many_wrong_labels_as_asked():
    right, wrong = spirals(3), spirals(3, wrong=0.1)
    assert set(right.y_train) == {0, 1, 2}
    assert np.count_nonzero(right.y_train != wrong.y_train) == round(0.1 * 333)
    np.testing.assert_array_equal(right.X_train, wrong.X_train)
    np.testing.assert_array_equal(right.y_test, wrong.y_test)
