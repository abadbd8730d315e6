"""Searches that drop features find what searches of everything find, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.base.arrays import Nodes
from rebelboost.kernels import reference
from rebelboost.kernels.reference.splits import times_log2

shares = st.sampled_from([[0.9], [0.5, 0.75], [0.9, 0.92, 0.94, 0.96, 0.98], [0.01, 0.02, 0.999]])
n_threads = st.sampled_from([1, 2, 3])


def random_case(rng, n_samples, n_features, kind):
    bins = builders.random_bins(rng, n_samples, n_features)
    values = builders.random_pairs(rng, n_samples, kind)
    return bins, builders.random_allowed(rng, n_features), values


random_cases = st.builds(
    random_case,
    builders.rngs,
    st.sampled_from([2, 10, 40, 120, 600]),
    builders.n_features,
    st.sampled_from(builders.PAIRS),
)


def heaviest_first(keys, nodes, at):
    starts = np.append(nodes.cuts[:, 0], nodes.cuts[-1, -1])
    return Nodes(*calls.heaviest_first(reference, keys, nodes.samples, starts, np.array(at)))


@given(builders.rngs, builders.n_samples, st.integers(1, 5), shares, n_threads)
def test_compiled_subsets_equal_reference(compiled, rng, n_samples, n_nodes, shares, n_threads):
    keys = rng.integers(0, 2 ** rng.integers(1, 40, n_samples))
    keys = np.where(rng.random(n_samples) < rng.choice([0, 0.1, 0.5, 1]), -keys, keys)
    nodes = builders.random_nodes(rng, builders.random_samples(rng, n_samples), n_nodes)
    starts = np.append(nodes.cuts[:, 0], nodes.cuts[-1, -1])
    case = (keys, nodes.samples, starts, np.array(shares))
    ours = calls.heaviest_first(compiled, *case, n_threads=n_threads)
    assert_same(ours, calls.heaviest_first(reference, *case))


@given(builders.rngs, builders.n_samples, shares)
def test_first_samples_hold_their_share_and_are_no_lighter_than_the_rest(
    either, rng, n_samples, shares
):
    keys = rng.integers(0, 2 ** rng.integers(1, 40, n_samples))
    samples = rng.permutation(n_samples).astype(np.int32)
    ordered, cuts = calls.heaviest_first(
        either, keys, samples, np.array([0, n_samples], dtype=np.int32), np.array(shares)
    )
    assert sorted(ordered) == list(range(n_samples))
    for share, cut in zip(shares, cuts[0, 1:-1], strict=True):
        first, rest = keys[ordered[:cut]], keys[ordered[cut:]]
        assert first.sum() >= share * keys.sum()
        # Quarters of a power of two are not told apart.
        assert len(first) == 0 or len(rest) == 0 or first.min() * 1.25 >= rest.max()


@given(builders.rngs, st.integers(2, 120))
def test_the_lighter_sign_is_raised_until_both_weigh_the_same(either, rng, n_samples):
    sizes = rng.integers(1, 2**20, n_samples)
    keys = np.where(np.arange(n_samples) < max(1, n_samples // 10), -sizes, sizes)
    minus, plus = sizes[keys < 0].sum(), sizes[keys > 0].sum()
    factor = np.where((keys < 0) == (minus < plus), max(minus, plus) / min(minus, plus), 1.0)
    case = (np.arange(n_samples, dtype=np.int32), np.array([0, n_samples], dtype=np.int32))
    at = np.array([0.5, 0.9])
    raised = calls.heaviest_first(either, (sizes * factor).astype(np.int64), *case, at)
    assert_same(calls.heaviest_first(either, keys, *case, at), raised)


@cases(400)
@given(random_cases, builders.rngs, builders.options, st.integers(1, 5), shares, n_threads)
def test_pruned_layers_equal_reference(compiled, case, rng, options, n_nodes, shares, n_threads):
    samples = builders.random_samples(rng, len(case[-1]))
    nodes = builders.random_nodes(rng, samples, n_nodes)
    whole, _ = calls.search_layer(reference, *case, nodes, options)
    subsets = heaviest_first(case[-1] >> 32, nodes, shares)
    assert_same(calls.prune_layer(compiled, *case, subsets, options, n_threads), whole)


@given(random_cases, builders.rngs, builders.options, n_threads)
def test_layers_pruned_in_any_order_equal_reference(compiled, case, rng, options, n_threads):
    nodes = builders.one_node(builders.random_samples(rng, len(case[-1])), rng)
    whole, _ = calls.search_layer(reference, *case, nodes, options)
    assert_same(calls.prune_layer(compiled, *case, nodes, options, n_threads), whole)
    assert_same(calls.prune_layer(reference, *case, nodes, options), whole)


@cases(300)
@given(
    builders.rngs,
    st.sampled_from([2, 10, 40, 120, 600]),
    builders.n_features,
    st.sampled_from([2, 2, 2, 3, 5, 17, 30]),
    shares,
    n_threads,
)
def test_pruned_roots_equal_reference(
    compiled, rng, n_samples, n_features, n_classes, shares, n_threads
):
    bins = builders.random_bins(rng, n_samples, n_features)
    nodes = builders.one_node(builders.random_samples(rng, n_samples))
    signed, totals = builders.random_vectors(rng, n_samples, n_classes, nodes.samples)
    if rng.random() < 0.5:  # as for two classes and equal costs
        signed[:, 1] = -signed[:, 0]
        totals[:2] = np.abs(signed[nodes.samples, 0]).sum()
    allowed = builders.random_allowed(rng, n_features)
    subsets = heaviest_first(np.abs(signed).sum(axis=1, dtype=np.int64), nodes, shares)
    whole = calls.search_root(reference, bins, allowed, (signed, totals), nodes)
    ours = calls.search_root(compiled, bins, allowed, (signed, totals), subsets, n_threads)
    assert_same(ours, whole)


@pytest.mark.parametrize("criterion", ["error", "variance", "entropy"])
def test_a_clear_winner_among_noise_spares_most_visits(compiled, criterion):
    rng = np.random.default_rng(0)
    n_samples, width = 4000, 64
    columns = rng.integers(0, 20, (n_samples, width))
    bins = builders.bins_of(columns, [21] * width, [0] * width)
    signed = np.where(columns[:, 5] > 9, 1, -1) * np.rint(
        1e5 * 0.5 ** rng.exponential(6, n_samples)
    )
    signed = signed.astype(np.int64)
    values = signed * 2**32 + np.abs(signed)
    samples = np.arange(n_samples, dtype=np.int32)
    nodes = heaviest_first(np.abs(signed), builders.one_node(samples), [0.9, 0.95])
    splits = calls.empty_splits(1)
    options = builders.search_options(criterion, 1)
    allowed = np.ones(width, dtype=np.uint8)
    visited, dropped = compiled.prune_layer(bins, allowed, values, nodes, options, splits, 1)
    assert splits.features[0] == 5
    assert visited < n_samples * width / 2
    assert dropped > width / 2


@given(st.floats(0, 2**40))
def test_the_logarithm_is_one(x):
    # log₂ is within a few units in the last place; near 1 the error is relative to 1.
    exact = x * np.log2(x) if x > 0 else 0.0
    assert abs(times_log2(np.array(x)) - exact) <= 4 * 2.0**-52 * x * (
        1 + abs(exact) / max(x, 1e-300)
    )
