"""A search in two halves, sums and choice, finds what a search of all samples finds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from kernels.test_layer import cases
from rebelboost.kernels import reference


def halves(module, case, nodes, options, n_threads=1):
    bins, allowed, values = case
    chosen = np.arange(len(nodes.cuts), dtype=np.int32)
    sums = calls.node_sums(module, bins, values, nodes, chosen, n_threads)
    own = [nodes.samples[cut[0] : cut[-1]] for cut in nodes.cuts]
    totals = np.array([values[samples].sum() for samples in own], dtype=np.int64)
    counts = np.array([len(samples) for samples in own], dtype=np.int64)
    return calls.choose_splits(module, bins, allowed, sums, totals, counts, options, n_threads)


@given(cases, builders.rngs, builders.options, st.integers(1, 9), st.sampled_from([1, 4]))
def test_sums_and_a_choice_are_a_search(either, case, rng, options, n_nodes, n_threads):
    nodes = builders.random_nodes(rng, builders.random_samples(rng, len(case[-1])), n_nodes)
    whole, _ = calls.search_layer(either, *case, nodes, options)
    assert_same(halves(either, case, nodes, options, n_threads), whole)


@given(cases, builders.rngs, builders.options, st.integers(1, 9), st.integers(1, 4))
def test_compiled_halves_equal_reference(compiled, case, rng, options, n_nodes, n_threads):
    nodes = builders.random_nodes(rng, builders.random_samples(rng, len(case[-1])), n_nodes)
    chosen = rng.integers(0, n_nodes, 3).astype(np.int32)
    bins, _, values = case
    ours = calls.node_sums(compiled, bins, values, nodes, chosen, n_threads)
    assert_same(ours, calls.node_sums(reference, bins, values, nodes, chosen))
    assert_same(
        halves(compiled, case, nodes, options, n_threads), halves(reference, case, nodes, options)
    )
