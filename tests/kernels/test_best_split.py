"""Searches of layers against all splits there are, in plain Python and exact fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from rebelboost.base.arrays import CRITERIA


def thresholds(n_bins):
    """Each way to send the bins above a threshold right, and missing values anywhere."""
    for after, missing in product(range(n_bins - 1), (False, True)):
        yield [b > after for b in range(n_bins - 1)] + [missing]


def subsets(n_bins):
    """All 2^ℓ ways to send categories right."""
    yield from product((False, True), repeat=n_bins)


def side_sums(goes_right, signed, mass):
    """(P, M) of the left side and of the right one."""
    sums = [[0, 0], [0, 0]]
    for right, s, m in zip(goes_right, signed, mass, strict=True):
        sums[bool(right)][0] += s
        sums[bool(right)][1] += m
    return sums


def worth(P, M, options):
    if options.criterion == CRITERIA["error"]:
        return Fraction(abs(P))
    return Fraction(P * P, M)


def all_worths(column, ways, signed, mass, options):
    for right in ways:
        sides = side_sums([right[b] for b in column], signed, mass)
        if min(M for _, M in sides) >= options.least_mass:
            yield sum(worth(P, M, options) for P, M in sides)


def best_worths(bins, columns, signed, mass, options):
    """The worth of each feature's best split; None where nothing can be split."""
    bests = []
    for f, n_bins in enumerate(np.diff(bins.offsets).tolist()):
        ways = subsets(n_bins) if bins.categorical[f] else thresholds(n_bins)
        column = columns[:, f].tolist()
        bests.append(max(all_worths(column, ways, signed, mass, options), default=None))
    return bests


def search(module, bins, signed, mass, options):
    samples = np.arange(len(signed), dtype=np.int32)
    allowed = np.ones(len(bins.categorical), dtype=np.uint8)
    pairs = np.array(signed, dtype=np.int64) * 2**32 + mass
    splits, _ = calls.search_layer(
        module, bins, allowed, pairs, builders.one_node(samples), options
    )
    return splits


@st.composite
def tiny_sets(draw, most_bins, *, categorical):
    """(N, d) bins, and small weights. What has no mass has no sign either."""
    rng = draw(builders.rngs)
    n_samples, n_features = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    n_bins = rng.integers(2, most_bins + 1, n_features)
    columns = rng.integers(0, n_bins, (n_samples, n_features))
    mass = rng.integers(0, 8, n_samples)
    signed = np.where(mass > 0, rng.integers(-9, 10, n_samples), 0)
    bins = builders.bins_of(columns, n_bins, [categorical] * n_features)
    return bins, columns, signed.tolist(), mass.tolist()


def assert_best(module, bins, columns, signed, mass, options):
    bests = best_worths(bins, columns, signed, mass, options)
    whole = worth(sum(signed), sum(mass), options) if sum(mass) > 0 else Fraction(0)
    best = max((b for b in bests if b is not None), default=whole)
    splits = search(module, bins, signed, mass, options)
    feature, gain = int(splits.features[0]), float(splits.gains[0])
    # Worths are sums of two fractions, of denominators below 100 and sizes below 10⁴: as floats
    # they err by less than 10⁻¹¹, and two that differ do so by more than 10⁻⁹.
    assert gain == pytest.approx(max(0.0, float(best - whole)), rel=0, abs=1e-10)
    if feature < 0:
        assert best <= whole
        return
    goes_right = splits.right[0, columns[:, feature]]
    sides = side_sums(goes_right, signed, mass)
    assert [[pair >> 32, pair & 0xFFFFFFFF] for pair in splits.sides[0].tolist()] == sides
    assert min(M for _, M in sides) >= options.least_mass
    assert sum(worth(P, M, options) for P, M in sides) == best
    if options.criterion == CRITERIA["error"]:  # integers: equal worths are equal as floats
        assert feature == bests.index(best)


criteria = pytest.mark.parametrize("criterion", ["variance", "error"])  # exact in fractions


@criteria
@given(case=tiny_sets(6, categorical=False), least=st.sampled_from([1, 2, 9]))
def test_no_threshold_is_better_than_the_one_found(either, criterion, case, least):
    assert_best(either, *case, builders.search_options(criterion, least))


@criteria
@given(case=tiny_sets(6, categorical=True))
def test_no_subset_of_categories_is_better_than_the_one_found(either, criterion, case):
    assert_best(either, *case, builders.search_options(criterion, 1))


@criteria
@given(case=tiny_sets(6, categorical=False))
def test_of_equal_features_the_first_wins(either, criterion, case):
    bins, columns, signed, mass = case
    options = builders.search_options(criterion, 1)
    n_bins = np.diff(bins.offsets)
    twice = builders.bins_of(
        np.hstack([columns, columns]), [*n_bins, *n_bins], [0] * 2 * len(n_bins)
    )
    once = search(either, bins, signed, mass, options)
    calls.assert_same(search(either, twice, signed, mass, options), once)


@criteria
def test_missing_values_that_were_never_met_go_with_most_of_the_mass(either, criterion):
    bins = builders.bins_of(np.array([[0], [0], [1], [1]]), [3], [0])
    options = builders.search_options(criterion, 1)
    for mass, side in (([3, 3, 1, 1], 0), ([1, 1, 3, 3], 1)):
        splits = search(either, bins, [1, 1, -1, -1], mass, options)
        assert splits.right[0, :3].tolist() == [0, 1, side]
