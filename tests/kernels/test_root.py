import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.kernels import reference


@given(builders.rngs, builders.n_samples, builders.n_features, builders.n_classes)
def test_compiled_root_search_equals_reference(compiled, rng, n_samples, n_features, n_classes):
    bins = builders.random_bins(rng, n_samples, n_features)
    nodes = builders.one_node(builders.random_samples(rng, n_samples), rng)
    vectors = builders.random_vectors(rng, n_samples, n_classes, nodes.samples)
    case = (bins, builders.random_allowed(rng, n_features), vectors, nodes)
    assert_same(calls.search_root(compiled, *case), calls.search_root(reference, *case))


@given(builders.rngs, builders.n_samples, builders.n_features, builders.n_classes)
def test_compiled_class_sums_equal_reference(compiled, rng, n_samples, n_features, n_classes):
    bins = builders.random_bins(rng, n_samples, n_features)
    samples = builders.random_samples(rng, n_samples)
    values, _ = builders.random_vectors(rng, n_samples, n_classes, samples)
    case = (bins, builders.random_allowed(rng, n_features), values, samples)
    np.testing.assert_array_equal(
        calls.class_sums(compiled, *case), calls.class_sums(reference, *case)
    )


def stumps(n_bins, categorical):
    """Each way in which one stump sends bins right."""
    if categorical:
        yield from (np.arange(n_bins) != b for b in range(n_bins))
        return
    for after in range(n_bins - 1):
        right = np.arange(n_bins) > after
        for right[-1] in (False, True):
            yield right.copy()


def criterion(signed, totals, right):
    """Σ_k √(S_k² − P_k²) of the response that is +1 where right, −1 elsewhere; roots rounded."""
    response = np.where(right, 1, -1)
    P = [sum(int(f) * int(g) for f, g in zip(response, column, strict=True)) for column in signed.T]
    return sum(round(math.sqrt(S * S - p * p)) for S, p in zip(totals.tolist(), P, strict=True))


@given(builders.rngs, st.integers(1, 8), st.integers(1, 3), st.integers(2, 4))
def test_no_stump_is_better_than_the_one_found(either, rng, n_samples, n_features, n_classes):
    n_bins = rng.integers(2, 6, n_features)
    columns = rng.integers(0, n_bins, (n_samples, n_features))
    bins = builders.bins_of(columns, n_bins, rng.random(n_features) < 0.4)
    samples = np.arange(n_samples, dtype=np.int32)
    signed, totals = builders.random_vectors(rng, n_samples, n_classes, samples)
    own = signed[:, :n_classes]

    best, best_feature = criterion(own, totals, np.ones(n_samples, dtype=bool)), -1
    for f in range(n_features):
        for right in stumps(n_bins[f], bins.categorical[f]):
            value = criterion(own, totals, right[columns[:, f]])
            if value < best:
                best, best_feature = value, f

    allowed = np.ones(n_features, dtype=np.uint8)
    case = (bins, allowed, (signed, totals), builders.one_node(samples))
    feature, found, right = calls.search_root(either, *case)
    assert (found, feature) == (best, best_feature)
    if feature >= 0:
        assert criterion(own, totals, right[columns[:, feature]] != 0) == best
