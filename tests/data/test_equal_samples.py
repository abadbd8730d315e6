"""Equal samples are merged, or labelled as mixed where they contradict one another."""

import numpy as np
import pytest

from rebelboost import RebelClassifier, Similarity
from rebelboost.data.equal_samples import merge_equal, mixed_labels
from rebelboost.data.samples import Samples

X = np.array([[0.0, 1.0], [2.0, np.nan], [0.0, 1.0], [2.0, np.nan], [-0.0, 1.0], [3.0, 3.0]])
LABELS = np.array([0, 1, 0, 2, 1, 2], dtype=np.int32)


@pytest.mark.parametrize("order", [np.arange(6), np.arange(6)[::-1]])
def test_equal_samples_of_one_class_become_one_with_the_sum_of_their_weights(order):
    samples = Samples(X, LABELS, 1 - np.eye(3), weight=np.arange(1.0, 7.0)).take(order)
    merged, place = merge_equal(samples)
    assert len(merged) == 5
    assert merged.weight[place[order.tolist().index(0)]] == 1 + 3
    np.testing.assert_array_equal(merged.labels[place], samples.labels)
    np.testing.assert_array_equal(merged.X[place], samples.X)


def test_neither_order_nor_division_of_the_weight_matters():
    whole, _ = merge_equal(Samples(X[:2], LABELS[:2], 1 - np.eye(3), weight=np.array([2.0, 1.0])))
    twice = np.array([1, 0, 0])
    parts, _ = merge_equal(Samples(X[twice], LABELS[twice], 1 - np.eye(3)))
    np.testing.assert_array_equal(whole.X, parts.X)
    np.testing.assert_array_equal(whole.weight, parts.weight)


def test_groups_times_and_own_costs_keep_samples_apart():
    same = Samples(X[[0, 0]], LABELS[[0, 0]], 1 - np.eye(3))
    assert len(merge_equal(same)[0]) == 1
    for apart in ({"groups": np.array([0, 1])}, {"times": np.array([0, 1])}):
        assert len(merge_equal(Samples(X[[0, 0]], LABELS[[0, 0]], 1 - np.eye(3), **apart))[0]) == 2
    own = np.array([[0.0, 1, 2], [0, 2, 1]])
    assert len(merge_equal(Samples(X[[0, 0]], LABELS[[0, 0]], own, by_sample=True))[0]) == 2


def test_samples_that_contradict_one_another_get_a_class_of_their_own():
    names = np.array(["a", "b", "c"])[LABELS]
    changed = mixed_labels(X, names)
    assert changed.tolist() == ["mixed"] * 5 + ["c"]
    assert mixed_labels(X, LABELS, 9).tolist() == [9, 9, 9, 9, 9, 2]
    np.testing.assert_array_equal(mixed_labels(X[[0, 5]], names[[0, 5]]), names[[0, 5]])
    with pytest.raises(ValueError, match="give another name for the mixed class"):
        mixed_labels(X, names, "a")


def test_with_a_mixed_class_similarities_learn_every_training_sample():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 4, size=(60, 2)).astype(float)
    labels = rng.integers(0, 3, size=60)
    changed = mixed_labels(points, labels, 3)
    model = RebelClassifier(Similarity("none")).fit(points, changed)
    assert model.ensemble_.unavoidable_cost == 0
    assert model.score(points, changed) == 1
