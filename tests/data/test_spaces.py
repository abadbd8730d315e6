"""Where samples lie: scales, categories, missing values, and sums whose order changes no bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.covariance import ledoit_wolf as sklearn_ledoit_wolf

from rebelboost.base.hashing import hash_rows
from rebelboost.data.measured import Measured, Precomputed
from rebelboost.data.point_set import coincident
from rebelboost.data.spaces import (
    RAREST,
    exact_gram,
    exact_mean,
    fit_embedding,
    ledoit_wolf,
    whitening,
)

rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def numeric(width):
    return np.zeros(width, dtype=np.uint8)


def random_table(rng):
    """(N, d), columns over many orders of magnitude, some of them constant or 0."""
    n_samples, width = rng.integers(1, 60), rng.integers(1, 6)
    X = rng.standard_normal((n_samples, width)) * 10.0 ** rng.integers(-6, 7, width)
    X += 10.0 ** rng.integers(-3, 4) * rng.standard_normal(width)
    X[:, rng.random(width) < 0.2] = rng.choice([0.0, 3.1])
    return X


# ---- exact sums


@given(rngs, st.booleans(), st.booleans())
def test_means_do_not_depend_on_the_order_and_agree_with_numpy(rng, weighted, missing):
    X = random_table(rng)
    weight = rng.uniform(0.1, 3, len(X)) if weighted else None
    if missing:
        X[rng.random(X.shape) < 0.3] = np.nan
    order = rng.permutation(len(X))
    mean = exact_mean(X, weight)
    shuffled = exact_mean(X[order], None if weight is None else weight[order])
    np.testing.assert_array_equal(mean, shuffled)
    there = ~np.isnan(X)
    counted = there * (1.0 if weight is None else weight[:, np.newaxis])
    largest = np.abs(np.nan_to_num(X)).max(axis=0)
    totals, sums = counted.sum(axis=0), (counted * np.nan_to_num(X)).sum(axis=0)
    assert np.isnan(mean[totals == 0]).all()
    known = totals > 0
    # Each summand is kept to 2⁻⁵⁴ of the largest one, for fewer than 2⁷ samples; NumPy rounds too.
    np.testing.assert_allclose(
        mean[known], sums[known] / totals[known], rtol=0, atol=1e-13 * largest.max()
    )


@given(rngs)
def test_products_do_not_depend_on_the_order_and_agree_with_numpy(rng):
    X = random_table(rng)
    gram = exact_gram(X)
    np.testing.assert_array_equal(gram, exact_gram(X[rng.permutation(len(X))]))
    np.testing.assert_array_equal(gram, gram.T)
    # A value is kept to 2⁻²⁵ of its column's norm or better, and N products of it with another
    # column add up to √N of that, by Cauchy and Schwarz; both factors are rounded.
    norms = np.sqrt((X**2).sum(axis=0))
    allowed = 4 * 2.0**-25 * np.sqrt(len(X)) * np.outer(norms, norms)
    assert (np.abs(gram - X.T @ X) <= allowed).all()


# ---- shrinkage and whitening


@given(rngs)
def test_shrinkage_is_that_of_ledoit_and_wolf(rng):
    n_samples, width = rng.integers(3, 80), rng.integers(1, 8)
    X = rng.standard_normal((n_samples, width)) @ rng.standard_normal((width, width))
    X -= X.mean(axis=0)
    covariance = X.T @ X / n_samples
    if width == 1:  # already a multiple of the identity
        assert 0 <= ledoit_wolf(covariance, X) <= 1
        return
    _, expected = sklearn_ledoit_wolf(X, assume_centered=True)
    assert ledoit_wolf(covariance, X) == pytest.approx(expected, abs=1e-6)


def correlated(rng, n_samples, width, n_classes):
    labels = rng.integers(n_classes, size=n_samples).astype(np.int32)
    X = rng.standard_normal((n_samples, width))
    X[:, 1:] += X[:, :-1]  # neighbours share a half of their variance
    return X + 10 * rng.standard_normal((n_classes, width))[labels], labels


@pytest.mark.parametrize("weighted", [False, True])
def test_whitening_makes_the_covariance_within_classes_the_identity(weighted):
    rng = np.random.default_rng(0)
    X, labels = correlated(rng, 20_000, 5, 3)
    weight = rng.uniform(0.2, 1, len(X)) if weighted else None
    placed = fit_embedding(X, labels, numeric(5), "whitened", weight).place(X).astype(np.float64)
    w = np.ones(len(X)) if weight is None else weight
    for k in range(3):
        placed[labels == k] -= np.average(placed[labels == k], axis=0, weights=w[labels == k])
    covariance = (placed * w[:, np.newaxis]).T @ placed / w.sum()
    # Ledoit and Wolf shrink by a share of about d²/N = 1/800 of the mean variance, which is some ten
    # times the smallest one.
    np.testing.assert_allclose(covariance, np.eye(5), rtol=0, atol=0.0125)


@given(rngs)
def test_the_order_of_samples_changes_no_bit_of_the_whitening(rng):
    deviations, weight = rng.standard_normal((30, 3)), rng.uniform(0.1, 3, 30)
    order = rng.permutation(30)
    turn = whitening(deviations, weight)
    np.testing.assert_array_equal(turn, whitening(deviations[order], weight[order]))


@pytest.mark.parametrize("scale", ["none", "standard", "whitened"])
@pytest.mark.parametrize("unit", [1.0, 0.5, 8.0])
def test_equal_weights_are_as_good_as_none(scale, unit):
    rng = np.random.default_rng(1)
    X, labels = correlated(rng, 40, 4, 2)
    plain = fit_embedding(X, labels, numeric(4), scale).place(X)
    weighted = fit_embedding(X, labels, numeric(4), scale, np.full(40, unit)).place(X)
    np.testing.assert_allclose(weighted, plain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", ["none", "standard", "whitened"])
@given(rngs)
def test_the_order_of_samples_changes_no_bit_of_their_places(scale, rng):
    X, labels = correlated(rng, 30, 3, 2)
    X[rng.random(X.shape) < 0.1] = np.nan
    order = rng.permutation(30)
    placed = fit_embedding(X, labels, numeric(3), scale).place(X)
    shuffled = fit_embedding(X[order], labels[order], numeric(3), scale).place(X)
    np.testing.assert_array_equal(placed, shuffled)


def squared(placed):
    placed = placed.astype(np.float64)
    return ((placed[:, np.newaxis] - placed) ** 2).sum(axis=2)


def test_without_a_scale_distances_are_those_of_the_values_but_for_a_power_of_two():
    rng = np.random.default_rng(2)
    X, labels = correlated(rng, 50, 3, 2)
    ratio = (
        squared(fit_embedding(X, labels, numeric(3), "none").place(X))[0, 1:] / squared(X)[0, 1:]
    )
    np.testing.assert_allclose(np.log2(ratio), np.rint(np.log2(ratio[0])), rtol=0, atol=1e-4)


def test_standard_features_have_the_same_variance():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 3)) * [1e-6, 1.0, 1e6]
    placed = fit_embedding(X, np.zeros(200, np.int32), numeric(3), "standard").place(X)
    np.testing.assert_allclose(placed.var(axis=0) / placed[:, 0].var(), 1.0, rtol=1e-4)


def test_classes_of_equal_samples_can_be_whitened():
    X, labels = np.array([[0.0], [0.0], [1.0]]), np.array([0, 0, 1], dtype=np.int32)
    placed = fit_embedding(X, labels, numeric(1), "whitened").place(X)
    apart = squared(placed).astype(np.float32)
    assert np.isfinite(apart).all()
    assert apart[0, 1] == 0 < apart[0, 2]


# ---- categories and missing values

mixed = np.array([0, 1], dtype=np.uint8)


def two_columns(counts, seed=4):
    """A number with variance 1, and a category with so many samples of each level."""
    n_samples = sum(counts)
    number = np.random.default_rng(seed).standard_normal(n_samples)
    number = (number - number.mean()) / number.std()
    return np.column_stack([number, np.repeat(np.arange(len(counts)), counts)])


@pytest.mark.parametrize("counts", [(50, 50), (20, 30, 50), (10,) * 10, (70, 20, 10)])
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_random_samples_are_as_far_apart_in_a_category_as_in_a_number(counts, scale):
    X = two_columns(counts)
    placed = fit_embedding(X, np.zeros(len(X), np.int32), mixed, scale).place(X)
    assert placed.shape[1] == 1 + len(counts)
    in_number, in_category = squared(placed[:, :1]).mean(), squared(placed[:, 1:]).mean()
    assert in_category == pytest.approx(in_number, rel=1e-4)


def test_a_mismatch_counts_more_where_mismatches_are_rare_up_to_a_limit():
    sizes = []
    for rare in (40, 10, 2, 1):
        X = two_columns((200 - rare, rare))
        placed = fit_embedding(X, np.zeros(len(X), np.int32), mixed, "standard").place(X)
        number = squared(placed[:, :1]).mean() / 2
        sizes.append(squared(placed[:, 1:])[0, -1] / number)
    assert sizes[0] < sizes[1] < sizes[2]
    assert sizes[2] == pytest.approx(2 / RAREST, rel=1e-4)
    assert sizes[3] == pytest.approx(2 / RAREST, rel=1e-4)


def test_a_missing_category_is_half_as_far_from_each_level_as_they_are_from_one_another():
    X = two_columns((30, 30, 30))
    X[:, 0] = 0.0
    embedding = fit_embedding(X, np.zeros(len(X), np.int32), mixed, "standard")
    apart = squared(embedding.place(np.array([[0, 0], [0, 1], [0, 2], [0, np.nan]])))
    assert apart[0, 1] == apart[0, 2] == apart[1, 2] > 0
    np.testing.assert_allclose(apart[3, :3], apart[0, 1] / 2, rtol=1e-5)


def test_a_level_that_was_never_seen_lies_where_missing_ones_do():
    X = two_columns((30, 30, 30))
    embedding = fit_embedding(X, np.zeros(len(X), np.int32), mixed, "standard")
    unknown, missing = embedding.place(np.array([[1.0, 7.0], [1.0, np.nan]]))
    np.testing.assert_array_equal(unknown, missing)


def test_a_missing_number_lies_at_the_mean_and_is_told_from_it():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((100, 2))
    X[:25, 0] = np.nan
    embedding = fit_embedding(X, np.zeros(100, np.int32), numeric(2), "standard")
    missing, at_mean, other = embedding.place(
        np.array([[np.nan, 0.0], [np.nanmean(X[:, 0]), 0.0], [2.0, 0.0]])
    )
    assert len(missing) == 3
    np.testing.assert_allclose(missing[:2], at_mean[:2], atol=1e-6)
    assert missing[2] != at_mean[2] == other[2]


def test_a_feature_that_was_never_missing_may_be_so_in_new_samples():
    X = np.random.default_rng(6).standard_normal((50, 2))
    embedding = fit_embedding(X, np.zeros(50, np.int32), numeric(2), "standard")
    placed = embedding.place(np.array([[np.nan, 1.0], [X[:, 0].mean(), 1.0]]))
    np.testing.assert_allclose(placed[0], placed[1], atol=1e-6)


def test_features_of_nothing_but_missing_or_equal_values_are_harmless():
    X = np.column_stack([np.full(20, np.nan), np.full(20, 3.0), np.arange(20.0)])
    for scale in ("none", "standard", "whitened"):
        labels = np.arange(20, dtype=np.int32) % 2
        placed = fit_embedding(X, labels, numeric(3), scale).place(X)
        assert np.isfinite(placed).all()


@pytest.mark.parametrize("n_samples", [1, 15, 16, 17])
def test_blocks_hold_the_points(n_samples):
    X = np.random.default_rng(7).standard_normal((n_samples, 3))
    embedding = fit_embedding(X, np.zeros(n_samples, np.int32), numeric(3), "none")
    placed = embedding.place(X)
    blocks = embedding.lay_out(placed)
    assert blocks.shape == (-(-n_samples // 16), 3, 16)
    np.testing.assert_array_equal(blocks.transpose(0, 2, 1).reshape(-1, 3)[:n_samples], placed)
    found = embedding.distances(blocks, placed, np.arange(n_samples, dtype=np.int32), 1)
    np.testing.assert_allclose(found[:, :n_samples], squared(placed), rtol=1e-5, atol=1e-7)


# ---- distances from elsewhere


@pytest.mark.parametrize(("bad", "text"), [(-1.0, "is -1; give"), (np.nan, "is NaN: give")])
def test_what_cannot_be_a_squared_distance_is_refused(bad, text):
    table = np.array([[0.0, bad], [bad, 0.0]])
    rows = np.array([0, 1], dtype=np.int32)
    with pytest.raises(ValueError, match=f"a squared distance {text} numbers of 0 or"):
        Precomputed().distances(table, table[:, :0], rows, 1)
    with pytest.raises(ValueError, match=f"a squared distance {text} numbers of 0 or"):
        Measured(lambda x, y: bad).distances(table, table, rows, 1)


# ---- coincident points


@given(rngs)
def test_equal_points_are_found_whatever_their_order(rng):
    placed = rng.integers(-1, 2, (rng.integers(1, 40), rng.integers(1, 4))).astype(np.float32)
    placed[placed == 0] *= rng.choice([-1.0, 1.0])  # −0 and 0 are one place
    order, group = coincident(placed)
    assert sorted(order.tolist()) == list(range(len(placed)))
    sorted_points = placed[order]
    assert (np.diff(group, prepend=0) >= 0).all()
    same_group = group[:, np.newaxis] == group
    same_point = (sorted_points[:, np.newaxis] == sorted_points).all(axis=2)
    np.testing.assert_array_equal(same_group, same_point)

    shuffle = rng.permutation(len(placed))
    again, same = coincident(placed[shuffle])
    np.testing.assert_array_equal(group, same)
    np.testing.assert_array_equal(placed[order], placed[shuffle][again])


def test_keys_of_labelled_rows_are_those_of_a_table_with_the_labels_in_front():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)).astype(np.float32)
    X[0, 1], X[1, 2] = np.nan, -0.0
    y = rng.integers(0, 3, 50).astype(np.int32)
    assert np.array_equal(hash_rows(X, 1, y), hash_rows(np.column_stack([y, X]), 1))
    assert not np.array_equal(hash_rows(X, 1, y), hash_rows(X, 1))
