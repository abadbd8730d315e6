"""Hashes of rows by value."""

import numpy as np
import pytest

from rebelboost.base.hashing import WIDE, hash_rows


@pytest.fixture(params=[3, WIDE + 88])
def table(request):
    return np.random.default_rng(0).integers(-2, 3, (400, request.param)).astype(np.float64)


def test_rows_have_equal_hashes_where_their_values_are_equal(table):
    table[7] = table[300]
    table[300, 0] = table[7, 0] = -0.0
    table[7, 0] = 0.0
    keys = hash_rows(table, 0)
    _, group = np.unique(table + 0.0, axis=0, return_inverse=True)
    pairs = set(zip(group.ravel().tolist(), keys.tolist(), strict=True))
    assert len(pairs) == len(set(group.ravel().tolist())) == len(set(keys.tolist()))
    assert keys[7] == keys[300]


def test_missing_values_are_equal_whatever_their_bits(table):
    table[:, 1] = np.nan
    other = table.copy()
    other.view(np.uint64)[:, 1] += 1
    np.testing.assert_array_equal(hash_rows(table, 0), hash_rows(other, 0))


def test_the_order_of_columns_the_label_and_the_seed_count(table):
    keys = hash_rows(table, 0)
    different = [
        hash_rows(table[:, ::-1], 0),
        hash_rows(table, 1),
        hash_rows(table, 0, np.ones(len(table), dtype=np.int32)),
    ]
    for other in different:
        # A row may read the same backwards.
        assert (keys != other).mean() > 0.7


def test_the_order_of_rows_does_not_count(table):
    order = np.random.default_rng(1).permutation(len(table))
    np.testing.assert_array_equal(hash_rows(table, 5)[order], hash_rows(table[order], 5))


def test_bits_of_hashes_of_wide_rows_are_fair():
    keys = hash_rows(np.eye(4000, WIDE + 1), 0)
    keys = keys[: WIDE + 1]
    ones = np.unpackbits(keys.view(np.uint8)).reshape(len(keys), 64).mean(axis=0)
    # 513 tosses of a fair coin: within 5 standard deviations of a half.
    assert (np.abs(ones - 0.5) < 5 * 0.5 / np.sqrt(len(keys))).all()
