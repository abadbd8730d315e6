import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.base.arrays import Layer
from rebelboost.kernels import reference


@given(builders.rngs, builders.n_samples, builders.n_features, st.integers(1, 9))
def test_compiled_splits_of_samples_equal_reference(compiled, rng, n_samples, n_features, n_nodes):
    bins = builders.random_bins(rng, n_samples, n_features)
    nodes = builders.random_nodes(rng, builders.random_samples(rng, n_samples), n_nodes)
    layer = builders.random_layers(rng, bins, n_nodes)
    case = (bins, layer, nodes.samples, np.append(nodes.cuts[:, 0], nodes.cuts[-1, 1]))
    assert_same(calls.split_samples(compiled, *case), calls.split_samples(reference, *case))


@given(builders.rngs, builders.n_samples, builders.n_features, st.integers(0, 4))
def test_a_route_is_one_layer_after_the_other(either, rng, n_samples, n_features, depth):
    bins = builders.random_bins(rng, n_samples, n_features)
    nodes = builders.random_layers(rng, bins, 2 ** (depth + 1) - 1)
    regions = np.zeros(n_samples, dtype=np.uint16)
    for layer in range(depth + 1):
        level = slice(2**layer - 1, 2 ** (layer + 1) - 1)
        regions = calls.descend(either, bins, Layer(*(own[level] for own in nodes)), regions)
    assert_same(regions, calls.route(either, bins, nodes))


@given(builders.rngs, builders.n_samples, builders.n_features, st.integers(1, 7))
def test_compiled_routes_equal_reference(compiled, rng, n_samples, n_features, depth):
    bins = builders.random_bins(rng, n_samples, n_features)
    nodes = builders.random_layers(rng, bins, 2**depth - 1)
    assert_same(calls.route(compiled, bins, nodes), calls.route(reference, bins, nodes))


@given(builders.rngs, builders.n_samples)
def test_splits_keep_the_order_of_both_sides(either, rng, n_samples):
    bins = builders.random_bins(rng, n_samples, 1)
    layer = builders.random_layers(rng, bins, 1)
    samples = rng.permutation(n_samples).astype(np.int32)
    split, starts = calls.split_samples(
        either, bins, layer, samples, np.array([0, n_samples], dtype=np.int32)
    )
    right = layer.right[0, bins.blocks[0, :, 0]] != 0
    if layer.features[0] < 0:
        right[:] = False
    lefts, rights = [n for n in samples if not right[n]], [n for n in samples if right[n]]
    assert split.tolist() == lefts + rights
    assert starts.tolist() == [0, len(lefts), n_samples]


@given(builders.rngs, builders.n_samples, builders.n_features, st.integers(1, 5))
def test_routes_lead_where_splits_put_the_samples(either, rng, n_samples, n_features, depth):
    bins = builders.random_bins(rng, n_samples, n_features)
    nodes = builders.random_layers(rng, bins, 2**depth - 1)
    samples = np.arange(n_samples, dtype=np.int32)
    starts = np.array([0, n_samples], dtype=np.int32)
    for i in range(depth):
        level = slice(2**i - 1, 2 ** (i + 1) - 1)
        layer = type(nodes)(nodes.features[level], nodes.right[level])
        samples, starts = calls.split_samples(either, bins, layer, samples, starts)
    regions = np.empty(n_samples, dtype=np.uint16)
    regions[samples] = np.repeat(np.arange(2**depth), np.diff(starts))
    assert_same(calls.route(either, bins, nodes), regions)
