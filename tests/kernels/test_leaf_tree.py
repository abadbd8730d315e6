"""A whole step with leaf trees, compiled and in NumPy, and the kernels that it is made of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls, tree_calls
from kernels.calls import assert_same
from rebelboost.base.arrays import (
    CRITERIA,
    Focus,
    Layer,
    LeafTreeOptions,
    Projection,
    SearchOptions,
)
from rebelboost.base.fixed_point import coarse_scale, fine_scales
from rebelboost.data.binning import Binner
from rebelboost.kernels import reference
from rebelboost.losses.exponential import leaf_outputs
from rebelboost.model.trees import Trees

keys = st.integers(0, 2**64 - 1)
shapes = st.tuples(builders.n_samples, builders.n_features, builders.n_classes, builders.n_planes)


def random_step(rng, shape):
    """Arguments of `propose_tree`, all but the depth."""
    n_samples, n_features, n_classes, n_planes = shape
    bins = builders.random_bins(rng, n_samples, n_features)
    data = builders.tree_data(rng, calls.sort_bins(reference, bins), bins)
    weights = builders.random_weights(rng, n_planes, n_samples, n_classes)
    totals = np.abs(weights).sum(axis=(0, 1))
    smoothing, least = rng.choice([0.0, 0.1, 5.0]), rng.choice([0.0, 1e-4, 0.2])
    options = LeafTreeOptions(int(rng.integers(2**63)), float(least), float(smoothing))
    return bins, data, builders.random_focus(rng, bins), weights, totals, options


steps = st.builds(random_step, builders.rngs, shapes)


@given(steps, st.integers(1, 6))
def test_compiled_steps_equal_reference(compiled, step, depth):
    ours = tree_calls.propose_tree(compiled, *step, depth)
    assert_same(ours, tree_calls.propose_tree(reference, *step, depth))


@given(steps, st.integers(1, 4))
def test_a_step_is_its_kernels_one_after_the_other(either, step, depth):
    bins, data, focus, weights, totals, options = step
    (n_layers, edge), tree, leaves = tree_calls.propose_tree(either, *step, depth)
    (reach, mass), direction, squares = tree_calls.draw_direction(either, totals, options.key)
    projection = Projection(direction, squares, coarse_scale(reach), coarse_scale(mass))
    values = calls.project(either, weights, projection)
    least = max(1, round(options.least_mass * (mass * projection.mass_scale)))
    search = SearchOptions(CRITERIA["variance"], least, 1.0)
    assert_same(
        tree_calls.grow_term(either, bins, data, focus, values, search, depth), (n_layers, tree)
    )
    n_leaves, scales = 2**n_layers, fine_scales(totals)
    sums = calls.region_sums(either, weights, tree.regions, scales, n_leaves) - calls.RUBBISH
    plus, minus = ((sums[:, 1] + sign * sums[:, 0]) / (2 * scales) for sign in (1, -1))
    assert_same((leaves.plus[:n_leaves], leaves.minus[:n_leaves]), (plus, minus))
    assert_same(leaves.outputs[:n_leaves], leaf_outputs(plus, minus, options.smoothing))
    assert np.isnan(edge) or 0 <= edge <= 1


@given(steps, st.integers(1, 4))
def test_a_grown_term_is_the_tree_of_its_nodes(either, step, depth):
    bins, data, *_ = step
    (n_layers, _), tree, _ = tree_calls.propose_tree(either, *step, depth)
    n_nodes = 2**n_layers - 1
    nodes = Layer(tree.features[:n_nodes], tree.right[:n_nodes])
    edges = tuple(
        data.edges[begin:end]
        for begin, end in zip(data.edge_offsets[:-1], data.edge_offsets[1:], strict=True)
    )
    plain = Trees.grown(nodes, Binner(edges, bins.categorical), None, np.zeros((n_nodes + 1, 2)))
    assert_same(tree.thresholds[:n_nodes], plain.thresholds)
    assert_same(tree.missing_right[:n_nodes], plain.missing_right)
    assert_same(tree.category[:n_nodes], plain.category)
    assert_same(nodes.right[plain.category >= 0], plain.right)
    regions = calls.route(either, bins, nodes) if n_nodes else np.zeros_like(tree.regions)
    assert_same(tree.regions, regions)


@given(builders.rngs, keys, builders.n_classes)
def test_directions_are_centred_and_at_most_1_in_units_of_the_heaviest_class(rng, key, n_classes):
    totals = rng.choice([0.0, 1.0, 1e-9, 3.0], n_classes)
    _, direction, _ = tree_calls.draw_direction(reference, totals, key)
    if totals.max() > 0:
        scaled = direction * np.sqrt(totals / totals.max())
        assert np.abs(scaled).max() <= 1 + 1e-15
        if totals.min() > 0:
            # Each of K numbers of at most 1 is rounded a few times.
            assert abs(scaled.sum()) <= 1e-14 * n_classes


@given(builders.rngs, keys, st.integers(1, 30))
def test_compiled_directions_equal_reference(compiled, rng, key, n_classes):
    totals = rng.choice([0.0, 1.0, 1e-9, rng.random()], n_classes)
    ours = tree_calls.draw_direction(compiled, totals, key)
    assert_same(ours, tree_calls.draw_direction(reference, totals, key))


@pytest.mark.parametrize("width", [3, 40])
def test_threads_do_not_change_a_step(compiled, width):
    rng = np.random.default_rng(3)
    step = random_step(rng, (10_000, width, 5, 1))
    step = *step[:2], Focus(np.arange(10_000, dtype=np.int32), np.ones(width, np.uint8)), *step[3:]
    alone = tree_calls.propose_tree(compiled, *step, 7)
    for n_threads in (2, 3):
        assert_same(tree_calls.propose_tree(compiled, *step, 7, n_threads=n_threads), alone)


# ---- the effect of a term


def random_effect(rng, shape, n_regions, *, judged):
    n_samples, _, n_classes, n_planes = shape
    weights = builders.random_weights(rng, n_planes, n_samples, n_classes)
    outputs = rng.integers(-3, 4, (n_regions, n_classes)) / 2
    labels = builders.random_judged(rng, n_samples, n_classes)
    if not judged:
        labels = labels._replace(labels=labels.labels[:0])
    return (
        weights,
        rng.standard_normal((n_samples, n_classes)),
        builders.random_regions(rng, n_samples, n_regions),
        outputs,
        np.abs(weights).sum(axis=(0, 1)),
        labels,
    )


effects = st.builds(
    random_effect, builders.rngs, shapes, st.sampled_from([1, 2, 64]), judged=st.booleans()
)


@given(effects)
def test_compiled_effects_equal_reference(compiled, effect):
    assert_same(tree_calls.take_step(compiled, *effect), tree_calls.take_step(reference, *effect))


@given(builders.rngs, shapes)
def test_compiled_rates_equal_reference(compiled, rng, shape):
    judged = builders.random_judged(rng, shape[0], shape[2])
    decided = rng.integers(0, shape[2], shape[0]).astype(np.int32)
    assert_same(
        tree_calls.rate(compiled, decided, judged), tree_calls.rate(reference, decided, judged)
    )


def test_threads_do_not_change_effects(compiled):
    effect = random_effect(np.random.default_rng(4), (10_000, 1, 5, 2), 32, judged=True)
    alone = tree_calls.take_step(compiled, *effect)
    for n_threads in (2, 3):
        assert_same(tree_calls.take_step(compiled, *effect, n_threads=n_threads), alone)
