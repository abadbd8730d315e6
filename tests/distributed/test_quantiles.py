"""Bins of spread values are those of all values in one place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebelboost.base.fixed_point import fixed_weights, weight_scale
from rebelboost.data.binning import fit_binner
from rebelboost.rows import quantiles
from rebelboost.rows.block import EncodedRows, Raw, ScoredRows
from spreading import in_memory

floats = st.floats(allow_nan=False, allow_infinity=False)


def spread_of(X, weight, cuts):
    spread = in_memory([Raw(None, None) for _ in range(len(cuts) + 1)])
    weights = [None] * (len(cuts) + 1) if weight is None else np.split(weight, cuts)
    for part, x, w in zip(spread.blocks, np.split(X, cuts), weights, strict=True):
        part.train = ScoredRows(EncodedRows(x, np.zeros(len(x), dtype=np.int32), weight=w))
    return spread


def test_keys_of_sorted_floats_are_the_sorted_keys():
    rng = np.random.default_rng(0)
    odd = [0.0, -0.0, np.nan, 5e-324, -5e-324, 1e308, -1e308]
    for values in (np.append(rng.normal(size=100), odd), np.array([np.nan]), np.array([-1.0])):
        with np.errstate(over="ignore"):
            narrow = values.astype(np.float32)
        for x in (values, narrow):
            found = quantiles.sorted_keys(x)
            np.testing.assert_array_equal(found, np.sort(quantiles.keys_of(x[~np.isnan(x)])))


def assert_same_edges(X, weight, cuts, max_bins, method):
    flags = np.zeros(X.shape[1], dtype=np.uint8)
    local = fit_binner(X, max_bins=max_bins, method=method, weights=fixed_weights(weight))
    scale = None if weight is None else weight_scale(float(weight.max()), len(weight))
    ours = quantiles.binner_of(spread_of(X, weight, cuts), flags, max_bins, method, scale, len(X))
    for mine, theirs in zip(ours.edges, local.edges, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@given(st.lists(floats, min_size=1, max_size=60))
def test_keys_are_in_the_order_of_the_floats(values):
    x = np.array(values)
    keys = quantiles.keys_of(x)
    np.testing.assert_array_equal(quantiles.floats_of(keys), x)
    np.testing.assert_array_equal(x[np.argsort(keys)], np.sort(x))


@given(
    st.lists(floats | st.sampled_from([0.0, -0.0, 1.5]), min_size=2, max_size=80),
    st.integers(2, 9),
    st.sampled_from(["quantile", "even", "exact"]),
    st.integers(0, 80),
)
def test_edges_of_any_floats_are_the_same(values, max_bins, method, at):
    X = np.array(values)[:, np.newaxis]
    assert_same_edges(X, None, [min(at, len(values))], max_bins, method)


@given(
    st.lists(st.tuples(floats, st.floats(1e-9, 1)), min_size=2, max_size=80),
    st.integers(2, 9),
    st.integers(0, 80),
)
def test_edges_of_weighted_floats_are_the_same(pairs, max_bins, at):
    X, weight = np.array(pairs)[:, :1], np.array(pairs)[:, 1]
    assert_same_edges(X, weight, [min(at, len(X))], max_bins, "quantile")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("few", [2**15, 0])
def test_edges_of_many_values_are_the_same(monkeypatch, weighted, few):
    """Also where every division is made by bits, down to single values."""
    monkeypatch.setattr(quantiles, "FEW_ROWS", few)
    rng = np.random.default_rng(0)
    n_rows = 5000
    X = np.stack(
        [
            rng.normal(size=n_rows),
            np.exp(9 * rng.normal(size=n_rows)),
            np.where(rng.random(n_rows) < 0.6, 3.0, rng.normal(size=n_rows)),
            rng.integers(0, 300, n_rows),
            np.nextafter(1.0, 2) + 1e-16 * rng.integers(0, 4000, n_rows),
            rng.integers(0, 5, n_rows),
        ],
        axis=1,
    )
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.exponential(size=n_rows) if weighted else None
    assert_same_edges(X, weight, [0, 17, 2500, 2500], 255, "quantile")
