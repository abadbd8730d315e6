"""Values → bins: where the edges lie."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rebelboost.data.binning import METHODS, MOST_BINS, fit_binner

numbers = st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float)


def column(values):
    return np.asarray(values, dtype=np.float64)[:, np.newaxis]


def edges(values, **options):
    return fit_binner(column(values), **options).edges[0]


def bins(values, **options):
    X = column(values)
    return fit_binner(X, **options).transform(X).blocks[0, :, 0]


@pytest.mark.parametrize("method", METHODS)
def test_few_values_are_cut_halfway_between_all_of_them(method):
    assert edges([5, 1, 2, 2, np.nan], method=method).tolist() == [1.5, 3.5]


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_or_missing_feature_has_no_edges(method):
    assert edges([3, 3, 3], method=method).tolist() == []
    assert edges([np.nan, np.nan], method=method).tolist() == []


@given(
    x=hnp.arrays(np.float64, st.integers(1, 400), elements=numbers | st.just(np.nan)),
    method=st.sampled_from(METHODS),
    max_bins=st.integers(2, MOST_BINS),
)
def test_bins_rise_with_values_and_missing_ones_have_the_last(x, method, max_bins):
    binner = fit_binner(column(x), max_bins=max_bins, method=method)
    found = binner.transform(column(x)).blocks[0, :, 0]
    there = ~np.isnan(x)
    order = np.argsort(x[there], kind="stable")
    assert np.all(np.diff(found[there][order].astype(int)) >= 0)
    assert np.all(found[~there] == binner.n_bins[0] - 1)
    assert np.all(found[there] < binner.n_bins[0] - 1)
    assert np.all(np.diff(binner.edges[0]) > 0)
    most = MOST_BINS if method == "exact" else max_bins
    assert binner.n_bins[0] <= most + 1


@given(x=hnp.arrays(np.float64, st.integers(2, 100), elements=numbers))
def test_different_values_have_different_bins_while_bins_last(x):
    found = bins(x)
    assert len(np.unique(found)) == len(np.unique(x))


def test_quantiles_share_out_the_samples_evenly():
    x = np.random.default_rng(0).lognormal(size=10_000)
    counts = np.bincount(bins(x, max_bins=100), minlength=100)[:100]
    assert counts.min() == counts.max() == 100


def test_even_bins_share_out_the_range():
    x = np.random.default_rng(0).uniform(size=1000)
    x[:2] = 0, 1
    np.testing.assert_allclose(edges(x, max_bins=4, method="even"), [0.25, 0.5, 0.75])


def test_exact_cuts_between_all_values_whatever_max_bins_says():
    assert len(edges(np.arange(200), max_bins=10, method="exact")) == 199
    assert len(edges(np.arange(200), max_bins=10)) == 9


def test_a_heavy_value_fills_a_bin_of_its_own_and_the_rest_is_shared_out():
    x = np.r_[np.zeros(9000), np.arange(1, 1001)]
    counts = np.bincount(bins(x, max_bins=100))
    assert counts[0] == 9000
    assert len(counts) > 90
    assert counts[1:].max() <= 12


def test_a_weight_counts_as_that_many_samples():
    rng = np.random.default_rng(1)
    x, copies = rng.normal(size=700), rng.integers(1, 30, size=700)
    repeated = edges(np.repeat(x, copies), max_bins=50)
    np.testing.assert_array_equal(edges(x, max_bins=50, weights=copies), repeated)
    # Weights in fixed point have another unit.
    np.testing.assert_array_equal(edges(x, max_bins=50, weights=copies * 2**30), repeated)


def test_values_without_weight_make_no_edge():
    weights = np.array([1, 0, 1])
    assert edges([1, 2, 5], weights=weights).tolist() == [3]


@pytest.mark.parametrize("low", [1.0, 0.1, -1e300, 5e-324, 1e308])
def test_neighbours_in_floating_point_are_told_apart(low):
    high = np.nextafter(low, np.inf)
    (edge,) = edges([low, high])
    assert low <= edge < high
    assert bins([low, high]).tolist() == [0, 1]


def test_the_largest_floats_do_not_overflow():
    largest = np.finfo(np.float64).max
    assert edges([-largest, largest]).tolist() == [0]
    assert np.isfinite(edges(np.linspace(-1, 1, 500) * largest)).all()
    assert np.isfinite(edges(np.linspace(-1, 1, 500) * largest, method="even")).all()


def test_single_precision_is_binned_as_its_double():
    x = np.random.default_rng(2).normal(size=(500, 2)).astype(np.float32)
    single, double = fit_binner(x), fit_binner(x.astype(np.float64))
    for ours, theirs in zip(single.edges, double.edges, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(
        single.transform(x).blocks, double.transform(x.astype(np.float64)).blocks
    )


def test_codes_of_categories_are_their_bins():
    X = column([2, 0, np.nan, 1])
    binner = fit_binner(X, categorical=np.ones(1, dtype=np.uint8))
    assert binner.transform(X).blocks[0, :, 0].tolist() == [2, 0, 3, 1]


def test_threads_do_not_change_the_edges():
    X = np.random.default_rng(3).normal(size=(30_000, 5))
    for ours, theirs in zip(fit_binner(X, n_threads=3).edges, fit_binner(X).edges, strict=True):
        np.testing.assert_array_equal(ours, theirs)
