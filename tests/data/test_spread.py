"""Columns are sorted once, for their spreads and for the counts that new rows are compared with."""

import numpy as np
import pytest

from rebelboost.data.spread import sorted_columns, spreads_of
from rebelboost.model.training_counts import count_columns, counted

N_LEVELS = 4


@pytest.fixture(params=[1, 30, 400])
def table(request):
    """Numbers, whole numbers, codes of a category, a nearly constant column, and one without values."""
    rng, n = np.random.default_rng(0), request.param
    X = np.full((n, 21), np.nan, dtype=np.float32)
    X[:, :17] = rng.normal(size=(n, 17))
    X[:, 17] = rng.integers(0, 9, n)
    X[:, 18] = rng.integers(0, N_LEVELS, n)
    X[:, 19] = rng.random(n) < 0.05
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def categorical(table):
    return (np.arange(table.shape[1]) == 18).astype(np.uint8)


def test_sorted_columns_have_the_values_of_the_columns(table):
    for values, column in zip(sorted_columns(table), table.T, strict=True):
        assert np.array_equal(values, np.sort(column[~np.isnan(column)]))


def test_a_spread_is_the_interquartile_range_or_else_the_standard_deviation(table):
    found = spreads_of(sorted_columns(table), categorical(table))
    for f, column in enumerate(table.T):
        values = np.sort(column[~np.isnan(column)].astype(np.float64))
        expected = 1.0
        if len(values) and f != 18:
            low, high = (values[(len(values) - 1) * q // 4] for q in (1, 3))
            expected = (high - low) or values.std() or 1.0
        assert found.of(f) == expected
        is_whole = f != 18 and len(values) > 0 and bool(np.all(values == np.rint(values)))
        assert found.is_whole(f) == is_whole


def test_rows_are_counted_as_new_rows_will_be(table):
    found = count_columns(sorted_columns(table), len(table), {18: N_LEVELS})
    for f, (edges, counts) in enumerate(zip(found.edges, found.counts, strict=True)):
        n_levels = N_LEVELS if f == 18 else None
        assert np.array_equal(counts, counted(table[:, f], edges, n_levels))
        assert counts.sum() == len(table)
