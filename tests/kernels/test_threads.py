"""The number of threads changes no bit. Sizes are such that the work is really shared out."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kernels import builders, calls, coded_builders, pair_calls
from kernels.calls import assert_same
from rebelboost.base.arrays import COMPARISONS
from rebelboost.base.kernel_arrays import AFFINE, LEVELS, PairOptions, PairSpace

N = 10_000
WIDTHS = [3, 40]
"""Few features: rows are shared out. More: blocks of features are."""


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def assert_same_for_any_threads(call, module, *arguments, **options):
    alone = call(module, *arguments, n_threads=1, **options)
    for n_threads in (2, 3):
        assert_same(call(module, *arguments, n_threads=n_threads, **options), alone)


def test_threads_do_not_change_bins(compiled, rng):
    X = builders.random_values(rng, N, 17)
    edges = [np.arange(-2.0, 4.0, 0.5)] * 17
    assert_same_for_any_threads(calls.bin_values, compiled, X, edges)


@pytest.mark.parametrize("width", WIDTHS)
def test_threads_do_not_change_the_root(compiled, rng, width):
    bins = builders.random_bins(rng, N, width)
    nodes = builders.one_node(rng.permutation(N).astype(np.int32))
    vectors = builders.random_vectors(rng, N, 5, nodes.samples)
    allowed = np.ones(width, dtype=np.uint8)
    assert_same_for_any_threads(calls.search_root, compiled, bins, allowed, vectors, nodes)


def layered_case(rng, width):
    bins = builders.random_bins(rng, N, width)
    values = builders.random_pairs(rng, N, "large")
    nodes = builders.one_node(rng.permutation(N).astype(np.int32))
    options = builders.search_options("variance", 1)
    return bins, np.ones(width, dtype=np.uint8), values, nodes, options


@pytest.mark.parametrize("width", WIDTHS)
def test_threads_do_not_change_trees(compiled, rng, width):
    assert_same_for_any_threads(calls.grow_tree, compiled, *layered_case(rng, width), 5)


@pytest.mark.parametrize("width", WIDTHS)
def test_threads_do_not_change_trees_of_small_nodes(compiled, rng, width):
    assert_same_for_any_threads(calls.grow_tree, compiled, *layered_case(rng, width), 9)


def test_threads_do_not_change_orders(compiled, rng):
    assert_same_for_any_threads(calls.sort_bins, compiled, builders.random_bins(rng, N, 40))


@pytest.mark.parametrize("siblings", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
def test_threads_do_not_change_layers(compiled, rng, width, siblings):
    case = layered_case(rng, width)
    assert_same_for_any_threads(calls.grow_by_layers, compiled, *case, 5, siblings=siblings)


@pytest.mark.parametrize("width", WIDTHS)
def test_threads_do_not_change_the_sums_of_the_root(compiled, rng, width):
    assert_same_for_any_threads(calls.search_layer, compiled, *layered_case(rng, width))


def test_threads_do_not_change_routes(compiled, rng):
    bins = builders.random_bins(rng, N, 17)
    assert_same_for_any_threads(calls.route, compiled, bins, builders.random_layers(rng, bins, 31))


@pytest.mark.parametrize("planes", [1, 2])
def test_threads_do_not_change_weights(compiled, rng, planes):
    weights = builders.random_weights(rng, planes, N, 7)
    regions = builders.random_regions(rng, N, 32)
    projection, scales = builders.random_projection(rng, weights), builders.fine_scales(weights)
    step, scores = builders.random_step(rng, weights, 32), rng.standard_normal((N, 7))
    assert_same_for_any_threads(calls.project, compiled, weights, projection)
    every = np.arange(N, dtype=np.int32)
    assert_same_for_any_threads(calls.fix_weights, compiled, weights, every, 2.0**12)
    assert_same_for_any_threads(calls.region_sums, compiled, weights, regions, scales, 32)
    assert_same_for_any_threads(calls.advance, compiled, weights, scores, regions, step)
    totals, signed_totals = np.abs(weights).sum(axis=(0, 1)), weights.sum(axis=(0, 1))
    assert_same_for_any_threads(calls.best_isolated, compiled, weights, totals, signed_totals)


@pytest.mark.parametrize("planes", [1, 2])
def test_threads_do_not_change_a_round_of_similarities(compiled, rng, planes):
    weights, totals = builders.balanced_weights(rng, planes, N, 7)
    X = builders.random_points(rng, N, 9, 1.0)
    space = PairSpace(builders.blocks_of(X), X, np.empty((0, 0), dtype=np.float32))
    options = PairOptions(COMPARISONS["two_points"], AFFINE, 8, 8, 2048)
    samples = np.arange(N, dtype=np.int32)
    assert_same_for_any_threads(pair_calls.binarize, compiled, weights, totals)
    case = (weights, totals, space, samples, options, 5)
    assert_same_for_any_threads(pair_calls.propose_pair, compiled, *case, n_rounds=3)


@pytest.mark.parametrize("categories", [False, True])
def test_threads_do_not_change_predictions(compiled, rng, categories):
    trees = builders.random_trees(rng, [3, 0, 6], 5, 4, categories=categories)
    X = builders.random_values(rng, N, 5)
    assert_same_for_any_threads(calls.predict, compiled, X, trees, 0, 3)
    assert_same_for_any_threads(calls.apply, compiled, X, trees, 2)


def test_threads_do_not_change_predictions_of_coded_trees(compiled, rng):
    columns, trees = coded_builders.random_coded(rng, [0, 5, -1, 200], [3, 0, 6], 5, 4)
    X = builders.random_values(rng, N, 5)
    assert_same_for_any_threads(calls.predict_coded, compiled, X, columns, trees, 0, 3)


def test_threads_do_not_change_sums_of_steps(compiled, rng):
    steps = coded_builders.random_steps(rng, [0, 5, -1, 300], 5, 4)
    assert_same_for_any_threads(calls.add_steps, compiled, builders.random_values(rng, N, 5), steps)


@pytest.mark.parametrize("n_points", [1, 9])
def test_threads_do_not_change_distances(compiled, rng, n_points):
    X, points = (builders.random_points(rng, n, 40, 1.0) for n in (N, n_points))
    blocks = builders.blocks_of(X)
    assert_same_for_any_threads(calls.squared_distances, compiled, blocks, points, N)


@pytest.mark.parametrize("kind", COMPARISONS.values(), ids=list(COMPARISONS))
def test_threads_do_not_change_levels(compiled, rng, kind):
    anchor, rival = rng.chisquare(2, (2, 3 * N)).astype(np.float32)
    assert_same_for_any_threads(calls.compare, compiled, anchor, rival, kind, 1.5)


def test_threads_do_not_change_the_sums_of_pairs(compiled, rng):
    from_anchors, from_rivals = rng.chisquare(2, (2, 7, 1001)).astype(np.float32)
    pairs = builders.random_pair_list(rng, 50, 7, 7)
    values = builders.random_pair_values(rng, 5, 1001)
    case = (from_anchors, from_rivals, pairs, COMPARISONS["two_points"], values)
    assert_same_for_any_threads(calls.pair_sums, compiled, *case)


def test_threads_do_not_change_scores_by_comparisons(compiled, rng):
    distances = rng.chisquare(2, (9, N)).astype(np.float32)
    comparisons = builders.random_comparisons(rng, 20, 9, 5)
    assert_same_for_any_threads(
        calls.add_comparisons, compiled, distances, comparisons, LEVELS, 0, 20
    )


def test_threads_do_not_change_scores_by_similarities(compiled, rng):
    distances = rng.chisquare(2, (9, N)).astype(np.float32)
    case = (distances, 0.7, rng.normal(size=(9, 5)), rng.normal(size=5))
    assert_same_for_any_threads(calls.add_similarities, compiled, *case)


def test_threads_do_not_change_exact_distances(compiled, rng):
    case = (rng.normal(size=(N, 7)), rng.normal(size=(3, 7)))
    assert_same_for_any_threads(pair_calls.exact_distances, compiled, *case)


def test_threads_do_not_change_exact_outputs(compiled, rng):
    weights, _ = builders.balanced_weights(rng, 2, N, 5)
    case = (rng.uniform(-1, 1, size=(40, N)), weights)
    assert_same_for_any_threads(pair_calls.best_response, compiled, *case)


def test_several_python_threads_may_search_at_once(compiled, rng):
    case = layered_case(rng, 3)
    alone = calls.grow_tree(compiled, *case, 4)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(calls.grow_tree, compiled, *case, 4, n_threads=2) for _ in range(8)]
    for job in jobs:
        assert_same(job.result(), alone)
