"""Several rounds in one call: compiled = reference, and the same as the kernels of one round in turn."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls, pair_calls, round_calls, tree_calls
from kernels.calls import assert_same
from rebelboost.base.arrays import COMPARISONS, Focus, Layer, LeafTreeOptions
from rebelboost.base.kernel_arrays import (
    AFFINE,
    Boosted,
    HeldPoints,
    PairOptions,
    PairPlan,
    PairSpace,
    TreePlan,
)
from rebelboost.kernels import reference

shapes = st.tuples(builders.n_samples, builders.n_features, st.integers(2, 6), builders.n_planes)
N_ROUNDS = 4


def boosted(rng, n_planes, n_rows, n_labels):
    """Samples of random weights, all of whose scores are 0."""
    weights = builders.random_weights(rng, n_planes, n_rows, n_labels)
    return Boosted(
        weights,
        np.zeros((n_rows, n_labels)),
        np.abs(weights).sum(axis=(0, 1)),
        np.zeros(n_rows, dtype=np.int32),
        builders.random_judged(rng, n_rows, n_labels, merged=bool(rng.integers(2))),
    )


def random_keys(rng):
    return rng.integers(0, 2**64, N_ROUNDS, dtype=np.uint64)


def random_tree_rounds(rng, shape):
    """Arguments of `boost_trees`, all but the depth."""
    n_rows, width, n_labels, n_planes = shape
    bins = builders.random_bins(rng, n_rows, width)
    n_held = int(rng.integers(0, 20))
    held_bins = bins._replace(blocks=bins.blocks[:, rng.integers(0, n_rows, n_held)].copy())
    data = builders.tree_data(rng, calls.sort_bins(reference, bins), bins)
    n_drawn = int(rng.choice([1, N_ROUNDS]))
    allowed = np.stack([builders.random_allowed(rng, width) for _ in range(n_drawn)])
    training, held = (boosted(rng, n_planes, n, n_labels) for n in (n_rows, n_held))
    least = float(rng.choice([0.0, 0.5]) * training.totals.sum())
    plan = TreePlan(
        np.arange(n_rows, dtype=np.int32), allowed, random_keys(rng), 1e-4, 0.1, 0.3, least
    )
    return bins, data, held_bins, plan, training, held


@given(st.builds(random_tree_rounds, builders.rngs, shapes), st.integers(1, 4))
def test_compiled_rounds_of_trees_equal_reference(compiled, case, depth):
    ours, theirs = (round_calls.boost_trees(m, *case, depth) for m in (compiled, reference))
    assert_same(ours, theirs)


@given(st.builds(random_tree_rounds, builders.rngs, shapes), st.integers(1, 3))
def test_rounds_of_trees_are_steps_one_after_the_other(either, case, depth):
    bins, data, held_bins, plan, training, held = case
    (n_done, edges, shifts, totals, rates), trees, *after = round_calls.boost_trees(
        either, *case, depth
    )
    training, held = copy.deepcopy((training, held))
    node = 0
    for t in range(n_done):
        focus = Focus(plan.samples, plan.allowed[t % len(plan.allowed)])
        options = LeafTreeOptions(int(plan.keys[t]), plan.least_mass, plan.smoothing)
        (n_layers, edge), tree, leaves = tree_calls.propose_tree(
            either, bins, data, focus, training.weights, training.totals, options, depth
        )
        n_nodes = 2**n_layers - 1
        assert (trees.depths[t], edges[t]) == (n_layers, edge)
        assert_same(trees.features[node : node + n_nodes], tree.features[:n_nodes])
        node += n_nodes
        outputs = plan.shrinkage * leaves.outputs[: n_nodes + 1]
        regions = [tree.regions, np.zeros(len(held.scores), dtype=np.uint16)]
        if n_nodes and len(held.scores):
            nodes = Layer(tree.features[:n_nodes], tree.right[:n_nodes])
            regions[1] = calls.route(either, held_bins, nodes)
        for kind, to in enumerate((training, held)):
            if len(to.scores) == 0:
                continue
            shift, loose, rated = either.take_step(
                to.weights, to.scores, regions[kind], outputs, to.totals, to.decided, to.judged, 1
            )
            if loose:
                either.total_up(to.weights, to.totals, 1)
            assert_same((shifts[t, kind], totals[t, kind]), (np.int32(shift), to.totals))
            assert_same(rates[t, kind], np.array(rated))
    assert_same(after, [training[:4], held[:4]])


def test_rounds_of_trees_end_when_there_is_no_room_for_categories(either):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 9, (60, 2)).astype(np.uint8)
    bins = builders.bins_of(columns, [10, 10], [1, 1])
    data = builders.tree_data(rng, calls.sort_bins(reference, bins), bins)
    none = bins._replace(blocks=bins.blocks[:, :0].copy())
    training, nobody = boosted(rng, 1, 60, 3), boosted(rng, 1, 0, 3)
    plan = TreePlan(
        np.arange(60, dtype=np.int32), np.ones((1, 2), np.uint8), random_keys(rng), 0, 0.1, 0.3, 0
    )
    case = bins, data, none, plan, training, nobody, 2
    assert round_calls.boost_trees(either, *case, n_tables=12)[0][0] == N_ROUNDS
    assert round_calls.boost_trees(either, *case, n_tables=5)[0][0] == 1


def random_pair_rounds(rng, shape):
    """Arguments of `boost_pairs`."""
    n_rows, _, n_labels, n_planes = shape
    width, n_held = int(rng.integers(1, 5)), int(rng.integers(0, 20))
    X, others = (builders.random_points(rng, n, width, 1.0) for n in (n_rows, n_held))
    blocks = builders.blocks_of(X)
    known = np.empty((0, 0), dtype=np.float32)
    if rng.random() < 0.5:
        known = calls.squared_distances(reference, blocks, X, n_rows)
    training, held = (boosted(rng, n_planes, n, n_labels) for n in (n_rows, n_held))
    plan = PairPlan(
        np.arange(n_rows, dtype=np.int32),
        PairOptions(COMPARISONS["two_points"], AFFINE, int(rng.choice([1, 3])), 8, 2048),
        random_keys(rng),
        float(rng.choice([1.0, 0.3])),
        float(rng.choice([0.0, 0.5]) * training.totals.sum()),
    )
    held_points = HeldPoints(X, builders.blocks_of(others))
    return PairSpace(blocks, X, known), held_points, plan, training, held


@given(st.builds(random_pair_rounds, builders.rngs, shapes))
def test_compiled_rounds_of_pairs_equal_reference(compiled, case):
    ours, theirs = (round_calls.boost_pairs(m, *case) for m in (compiled, reference))
    assert_same(ours, theirs)


@given(st.builds(random_pair_rounds, builders.rngs, shapes))
def test_the_first_round_of_pairs_is_a_proposal(either, case):
    space, _, plan, training, _ = case
    (n_done, edges, *_, kinds, anchors, rivals, apart, outputs), *_ = round_calls.boost_pairs(
        either, *case
    )
    ((_, _, _, a_and_b, proposed, *_),) = pair_calls.propose_pair(
        either,
        training.weights,
        training.totals,
        space,
        plan.samples,
        plan.options,
        int(plan.keys[0]),
    )
    if n_done:
        assert (kinds[0], anchors[0], rivals[0], apart[0], edges[0]) == proposed
        assert_same(outputs[0], plan.shrinkage * a_and_b)


@given(builders.rngs, builders.n_planes, builders.n_samples, builders.n_classes)
def test_compiled_totals_equal_reference_and_are_sums(compiled, rng, n_planes, n_rows, n_labels):
    weights = builders.random_weights(rng, n_planes, n_rows, n_labels)
    ours = round_calls.total_up(compiled, weights)
    assert_same(ours, round_calls.total_up(reference, weights))
    # Each of the N weights of a class is rounded to 2⁻⁴⁹ of their sum.
    np.testing.assert_allclose(ours, np.abs(weights).sum(axis=(0, 1)), rtol=n_rows * 2.0**-48)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_do_not_change_rounds(compiled, n_threads):
    rng = np.random.default_rng(6)
    trees = random_tree_rounds(rng, (10_000, 5, 4, 1))
    pairs = random_pair_rounds(rng, (3_000, 5, 4, 1))
    for call, case in (
        (round_calls.boost_trees, (*trees, 5)),
        (round_calls.boost_pairs, pairs),
    ):
        assert_same(call(compiled, *case, n_threads=n_threads), call(compiled, *case))
