import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.kernels import reference


def random_case(rng, n_samples, n_features, kind):
    bins = builders.random_bins(rng, n_samples, n_features)
    values = builders.random_pairs(rng, n_samples, kind)
    return bins, builders.random_allowed(rng, n_features), values


cases = st.builds(
    random_case,
    builders.rngs,
    builders.n_samples,
    builders.n_features,
    st.sampled_from(builders.PAIRS),
)


@given(cases, builders.rngs, builders.options, st.integers(1, 6))
def test_compiled_trees_equal_reference(compiled, case, rng, options, depth):
    nodes = builders.one_node(builders.random_samples(rng, len(case[-1])))
    ours = calls.grow_tree(compiled, *case, nodes, options, depth)
    assert_same(ours, calls.grow_tree(reference, *case, nodes, options, depth))


@given(cases, builders.rngs, builders.options)
def test_a_tree_is_its_layers_one_after_the_other(either, case, rng, options):
    nodes = builders.one_node(builders.random_samples(rng, len(case[-1])))
    n_layers, grown, _ = calls.grow_tree(either, *case, nodes, options, 3)
    layers = [found.splits for found in calls.grow_by_layers(either, *case, nodes, options, 3)]
    asked = [(layer.features >= 0).any() for layer in layers]
    assert asked == [depth < n_layers for depth in range(3)]
    for depth, layer in enumerate(layers[:n_layers]):
        level = slice(2**depth - 1, 2 ** (depth + 1) - 1)
        assert_same((grown.features[level], grown.right[level]), (layer.features, layer.right))


@given(cases, builders.rngs, builders.options, st.booleans())
def test_compiled_layers_of_a_tree_equal_reference(compiled, case, rng, options, siblings):
    nodes = builders.one_node(builders.random_samples(rng, len(case[-1])))
    ours = calls.grow_by_layers(compiled, *case, nodes, options, 4, siblings=siblings)
    theirs = calls.grow_by_layers(reference, *case, nodes, options, 4, siblings=siblings)
    assert_same(ours, theirs)


@given(cases, builders.rngs, builders.options, st.integers(1, 9))
def test_compiled_layers_of_any_nodes_equal_reference(compiled, case, rng, options, n_nodes):
    samples = builders.random_samples(rng, len(case[-1]))
    nodes = builders.random_nodes(rng, samples, n_nodes)
    ours, _ = calls.search_layer(compiled, *case, nodes, options)
    theirs, _ = calls.search_layer(reference, *case, nodes, options)
    assert_same(ours, theirs)


@given(builders.rngs, st.sampled_from(builders.PAIRS), st.sampled_from([1, 16, 21]))
def test_compiled_sums_of_a_full_node_equal_reference(compiled, rng, kind, n_features):
    # More samples than bins: no rule would call such a node sparse.
    n_samples = 300
    bins, allowed, values = random_case(rng, n_samples, n_features, kind)
    assume(bins.offsets[-1] <= n_samples * n_features)
    nodes = builders.one_node(rng.permutation(n_samples).astype(np.int32), rng)
    options = builders.search_options("error", 0)
    ours = calls.search_layer(compiled, bins, allowed, values, nodes, options)
    theirs = calls.search_layer(reference, bins, allowed, values, nodes, options)
    assert_same(ours, theirs)


@given(cases, builders.rngs, builders.options)
def test_subsets_within_a_node_change_nothing(either, case, rng, options):
    samples = builders.random_samples(rng, len(case[-1]))
    whole, _ = calls.search_layer(either, *case, builders.one_node(samples), options)
    parts, _ = calls.search_layer(either, *case, builders.one_node(samples, rng), options)
    assert_same(whole, parts)
