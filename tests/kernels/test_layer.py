import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.base.arrays import Layer, Nodes
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


@given(cases, builders.rngs, builders.options, st.integers(1, 6), st.booleans())
def test_compiled_trees_equal_reference(compiled, case, rng, options, depth, sort):
    nodes = builders.one_node(builders.random_samples(rng, len(case[-1])))
    ours = calls.grow_tree(compiled, *case, nodes, options, depth, sort=sort)
    assert_same(ours, calls.grow_tree(reference, *case, nodes, options, depth))


@given(builders.rngs, st.sampled_from(builders.PAIRS), st.booleans())
def test_compiled_trees_of_large_and_small_nodes_equal_reference(compiled, rng, kind, repeated):
    # The first layers are searched by sums, the last ones in order, unless samples are repeated.
    n_samples = 400
    case = random_case(rng, n_samples, 5, kind)
    samples = rng.permutation(n_samples)
    if repeated:  # light ones: the sum of all pairs must not overflow
        light = np.flatnonzero(np.abs(case[-1]) < case[-1].max() // 2)
        samples = np.concatenate([samples, rng.choice(light, 100 if len(light) else 0)])
    nodes, options = (
        builders.one_node(samples.astype(np.int32)),
        builders.search_options("variance", 1),
    )
    ours = calls.grow_tree(compiled, *case, nodes, options, 7)
    assert_same(ours, calls.grow_tree(reference, *case, nodes, options, 7))


@given(cases)
def test_compiled_orders_equal_reference(compiled, case):
    assert_same(calls.sort_bins(compiled, case[0]), calls.sort_bins(reference, case[0]))


def part_of(bins, rows):
    return bins._replace(blocks=np.ascontiguousarray(bins.blocks[:, rows]))


@given(cases, builders.rngs, builders.options, st.integers(1, 4))
def test_a_tree_is_the_same_from_the_sums_of_parts_of_the_samples(
    either, case, rng, options, n_parts
):
    bins, allowed, values = case
    everything = builders.one_node(np.arange(len(values), dtype=np.int32))
    n_layers, grown, _ = calls.grow_tree(either, *case, everything, options, 3)
    rows = np.array_split(rng.permutation(len(values)), n_parts)
    parts = [(part_of(bins, own), values[own], np.arange(len(own), dtype=np.int32)) for own in rows]
    starts = [np.array([0, len(own)], dtype=np.int32) for own in rows]
    without_samples = part_of(bins, np.empty(0, dtype=int))
    every = np.arange(4, dtype=np.int32)
    for depth in range(n_layers):
        sums = np.zeros((2**depth, bins.offsets[-1]), dtype=np.int64)
        counts = np.zeros(2**depth, dtype=np.int64)
        for (own, pairs, samples), begin in zip(parts, starts, strict=True):
            nodes = Nodes(samples, np.stack([begin[:-1], begin[1:]], axis=1))
            sums += calls.node_sums(either, own, pairs, nodes, every[: 2**depth])
            counts += np.diff(begin)
        totals = sums[:, : bins.offsets[1]].sum(axis=1)
        splits = calls.choose_splits(
            either, without_samples, allowed, sums, totals, counts, options
        )
        level = slice(2**depth - 1, 2 ** (depth + 1) - 1)
        layer = Layer(splits.features, splits.right)
        assert_same((grown.features[level], grown.right[level]), layer)
        for i, (own, pairs, samples) in enumerate(parts):
            sorted_out, starts[i] = calls.split_samples(either, own, layer, samples, starts[i])
            parts[i] = own, pairs, sorted_out


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
    ours, our_sums = calls.search_layer(compiled, bins, allowed, values, nodes, options)
    theirs, their_sums = calls.search_layer(reference, bins, allowed, values, nodes, options)
    assert_same(ours, theirs)
    known = np.repeat(allowed, np.diff(bins.offsets)) != 0
    assert_same(our_sums[:, known], their_sums[:, known])


@given(cases, builders.rngs, builders.options)
def test_subsets_within_a_node_change_nothing(either, case, rng, options):
    samples = builders.random_samples(rng, len(case[-1]))
    whole, _ = calls.search_layer(either, *case, builders.one_node(samples), options)
    parts, _ = calls.search_layer(either, *case, builders.one_node(samples, rng), options)
    assert_same(whole, parts)
