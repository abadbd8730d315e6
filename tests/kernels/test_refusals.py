"""Compiled kernels refuse what does not fit. They convert nothing: an output must not be a copy."""

import copy
import inspect
from typing import NamedTuple

import numpy as np
import pytest

from kernels import (
    builders,
    calls,
    coded_builders,
    pair_calls,
    round_calls,
    smooth_calls,
    tree_calls,
)
from kernels.axes import FREE, WRITTEN
from rebelboost.base.arrays import (
    COMPARISONS,
    Checks,
    ComparedPoints,
    Focus,
    LeafTreeOptions,
    RootTotals,
    SlopeArrays,
    WindowGrid,
)
from rebelboost.base.kernel_arrays import (
    AFFINE,
    LEVELS,
    Boosted,
    HeldPoints,
    PairOptions,
    PairPlan,
    PairSpace,
    TreePlan,
)
from rebelboost.kernels import reference

N, WIDTH, K, L, POINTS = 6, 17, 5, 3, 4
"""No two of them equal, nor equal to another length of these arguments."""


OTHER_TYPE = {
    "float64": "float16",  # float32 is one of the types that X may have
    "float32": "float16",
    "int64": "uint64",
    "uint64": "int64",
    "int32": "uint32",
    "uint32": "int32",
    "uint16": "int16",
    "uint8": "int8",
}


class Place(NamedTuple):
    """An array among the arguments of a kernel, perhaps a field of one."""

    kernel: str
    argument: str
    field: str | None

    def __str__(self):
        return f"{self.kernel} {self.argument}" + (f".{self.field}" if self.field else "")


class Recorder:
    """Stands in for a kernel module; keeps the arguments of the last call."""

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        def record(*arguments):
            self.name, self.arguments = name, arguments
            return getattr(self.module, name)(*arguments)

        return record


def valid_arguments(module):
    """Name of each kernel → its arguments by name, such that it takes them."""
    rng = np.random.default_rng(1)
    bins, allowed = builders.random_bins(rng, N, WIDTH), np.ones(WIDTH, dtype=np.uint8)
    samples = np.arange(N, dtype=np.int32)
    pairs = builders.random_pairs(rng, N, "ties")
    vectors = builders.random_vectors(rng, N, K, samples)
    two = builders.random_nodes(rng, samples, 2)
    options = builders.search_options("variance", 1)
    parent_sums, two_sums = (np.zeros((n, bins.offsets[-1]), dtype=np.int64) for n in (1, 2))
    class_sums = np.zeros((2, bins.offsets[-1], K), dtype=np.int64)
    weights, scores = builders.random_weights(rng, 2, N, K), np.zeros((N, K))
    regions = builders.random_regions(rng, N, L)
    X = builders.random_values(rng, N, WIDTH)
    trees = builders.random_trees(rng, [2, 3], WIDTH, K, categories=True)
    starts = np.array([0, 2, N], dtype=np.int32)
    points = builders.random_points(rng, POINTS, WIDTH, 1.0)
    blocks = builders.blocks_of(builders.random_points(rng, N, WIDTH, 1.0))
    distances = builders.random_distances(rng, POINTS, N)
    space = PairSpace(
        blocks,
        builders.random_points(rng, N, WIDTH, 1.0),
        builders.random_distances(rng, N, N),
    )
    pair_options = PairOptions(COMPARISONS["two_points"], AFFINE, 4, 2, 3)
    pairs_of_points = builders.random_pair_list(rng, 2, POINTS, POINTS)
    values = builders.random_pair_values(rng, K, N)
    comparisons = builders.random_comparisons(rng, 2, POINTS, K)
    images = builders.random_images(rng, 2, 9, 11)
    windows = calls.integrate(module, images, 9)
    scales = calls.window_scales(module, windows, 2)
    rectangles = builders.random_rectangles(rng, 4, 9, 5, 6)
    scanned = calls.integrate(module, images[:1], 9)
    detector = builders.random_detector(rng, [1, 2], 4)
    compared = ComparedPoints(builders.random_points(rng, N, WIDTH, 1.0), points, comparisons)
    checks = Checks(np.array([[1, 0], [2, 1], [2, 2]]), -np.ones(3), np.ones(3))

    tree_data = builders.tree_data(rng, calls.sort_bins(module, bins), bins)
    focus, judged = Focus(samples, allowed), builders.random_judged(rng, N, K, merged=True)
    leaf_options, decided = LeafTreeOptions(1, 0.1, 0.1), judged.labels[::-1].copy()

    keys, doubled = np.arange(3, dtype=np.uint64), rng.normal(size=(N, K))
    tree_plan = TreePlan(samples, np.ones((3, WIDTH), dtype=np.uint8), keys, 0.1, 0.1, 0.3, 0.0)
    pair_plan = PairPlan(samples, pair_options, keys, 1.0, 0.0)
    training, held = (
        # Copies: weights that both change would not match their totals.
        Boosted(
            weights.copy(), scores.copy(), np.abs(weights).sum(axis=(0, 1)), decided.copy(), judged
        )
        for _ in range(2)
    )

    slopes = SlopeArrays(weights[0].copy(), np.abs(weights[1]), np.ones(K))
    root_totals = RootTotals(*np.ones((2, vectors[0].shape[1]), dtype=np.int64), second_order=False)
    one_output, numbers = np.zeros((L, 1)), (np.ones(N), np.ones(N))

    features = smooth_calls.random_features(rng, N, 16)
    mass, solved = smooth_calls.random_mass(rng, K, N), np.zeros((K, 17))
    width_and_least, some = (1.5, 1e-6), np.arange(L, dtype=np.int32)

    recorder, found = Recorder(module), {}
    for call, *arguments in [
        (calls.bin_values, X, [np.arange(2.0)] * WIDTH),
        (calls.class_sums, bins, allowed, vectors[0], samples),
        (calls.search_root, bins, allowed, vectors, builders.one_node(samples)),
        (calls.exact_cut, samples, np.arange(2), vectors[0], root_totals),
        (calls.search_layer, bins, allowed, pairs, two, options, parent_sums),
        (calls.sort_bins, bins),
        (calls.node_sums, bins, pairs, two, np.zeros(2, dtype=np.int32)),
        (calls.choose_splits, bins, allowed, two_sums, pairs[:2], np.ones(2, np.int64), options),
        (calls.prune_layer, bins, allowed, pairs, two, options),
        (calls.prune_classes, bins, allowed, vectors[0], K, two, options),
        (calls.choose_by_classes, bins, allowed, class_sums, np.ones(2, np.int64), options),
        (calls.grow_tree, bins, allowed, pairs, builders.one_node(samples), options, 3),
        (tree_calls.draw_direction, np.ones(K), 1),
        (tree_calls.grow_term, bins, tree_data, focus, pairs, options, 3),
        (tree_calls.propose_tree, bins, tree_data, focus, weights, np.ones(K), leaf_options, 3),
        (tree_calls.propose_on_slopes, bins, tree_data, focus, slopes, leaf_options, 3),
        (tree_calls.take_number_step, scores[:, :1].copy(), regions, one_output, *numbers),
        (tree_calls.rate, decided, judged),
        (tree_calls.take_step, weights, scores, regions, np.zeros((L, K)), np.ones(K), judged),
        (round_calls.boost_trees, bins, tree_data, bins, tree_plan, training, held, 3),
        (round_calls.boost_pairs, space, HeldPoints(*space[1::-1]), pair_plan, training, held),
        (round_calls.total_up, weights),
        (round_calls.uniform_posteriors, doubled, 1e-3),
        (round_calls.log_loss_and_slope, doubled, 1.0, judged.labels, np.ones(N), 1e-3),
        (calls.heaviest_first, np.arange(N), samples, starts, np.array([0.5, 0.7, 0.9, 0.95])),
        (calls.split_samples, bins, builders.random_layers(rng, bins, 2), samples, starts),
        (calls.route, bins, builders.random_layers(rng, bins, 7)),
        (calls.descend, bins, builders.random_layers(rng, bins, 4), regions),
        (calls.fix_weights, weights, samples, 1.0),
        (calls.project, weights, builders.random_projection(rng, weights)),
        (calls.region_sums, weights, regions, np.ones(K), L),
        (calls.logistic_sums, builders.random_line(rng, weights, L), regions),
        (calls.advance, weights, scores, regions, builders.random_step(rng, weights, L)),
        (calls.predict, X, trees, 0, 2),
        (calls.apply, X, trees, 1),
        (
            calls.predict_coded,
            X,
            *coded_builders.random_coded(rng, [2, -1, 3], [2, 3], WIDTH, K),
            0,
            2,
        ),
        (
            calls.score_row,
            X[0].astype(np.float64),
            *coded_builders.random_coded(rng, [2, -1, 3], [2, 3], WIDTH, K),
            0,
            2,
        ),
        (calls.add_steps, X, coded_builders.random_steps(rng, [2, -1, 3], WIDTH, K)),
        (calls.squared_distances, blocks, points, N),
        (calls.compare, *distances[:2], COMPARISONS["two_points"], 1.5),
        (calls.compare_points, blocks, points[:2], COMPARISONS["two_points"], 1.5, N),
        (calls.pair_sums, distances, distances, pairs_of_points, COMPARISONS["nearer"], values),
        (calls.nearest_rivals, distances, np.arange(POINTS) - 1, np.arange(N) - 2, L),
        (calls.best_isolated, weights, np.ones(K), np.ones(K)),
        (pair_calls.leading_eigenvector, np.eye(K)),
        (pair_calls.binarize, weights, np.ones(K)),
        (pair_calls.solve_levels, weights, np.ones(K), regions, AFFINE),
        (pair_calls.exact_distances, rng.normal(size=(N, WIDTH)), rng.normal(size=(POINTS, WIDTH))),
        (pair_calls.best_response, rng.uniform(-1, 1, size=(L, N)), weights),
        (pair_calls.propose_pair, weights, np.ones(K), space, samples, pair_options, 1),
        (calls.add_comparisons, distances, comparisons, LEVELS, 0, 2),
        (calls.add_similarities, distances, 1.5, rng.normal(size=(POINTS, K)), np.ones(K)),
        (smooth_calls.choose_examples, distances[:, :POINTS].copy(), *width_and_least),
        (smooth_calls.place_features, distances, 1.5, some, np.eye(8)),
        (smooth_calls.feature_scores, features, some, solved),
        (smooth_calls.weighted_gram, features, np.ones(N)),
        (smooth_calls.feature_sums, features, np.ones((N, L))),
        (smooth_calls.ridge_factor, np.eye(16), 1.0),
        (smooth_calls.solve_lower, np.eye(16), np.ones((16, K))),
        (smooth_calls.solve_upper, np.eye(16), np.ones((16, K))),
        (
            smooth_calls.solve_logistic,
            features,
            mass,
            np.eye(16),
            smooth_calls.options_of(16),
            solved,
        ),
        (calls.integrate, images, 9),
        (calls.window_scales, windows, 2),
        (calls.window_values, windows, scales, rectangles),
        (calls.scan_windows, scanned, WindowGrid(5, 6), rectangles, *detector),
        (calls.leave_early, X, trees, [compared], LEVELS, checks),
        (calls.exponentials, np.arange(3.0)),
        (calls.logarithms, np.arange(3.0)),
        (calls.random_numbers, 1, 0, 3),
        (calls.random_normals, 1, 0, 3),
    ]:
        call(recorder, *arguments)
        names = inspect.signature(getattr(reference, recorder.name)).parameters
        found[recorder.name] = dict(zip(names, recorder.arguments, strict=True))
    return found


def places(arguments):
    for kernel, named in arguments.items():
        for name, value in named.items():
            if isinstance(value, np.ndarray):
                yield Place(kernel, name, None)
            for field in getattr(value, "_fields", ()):
                if isinstance(getattr(value, field), np.ndarray):
                    yield Place(kernel, name, field)


def array_at(arguments, place):
    value = arguments[place.kernel][place.argument]
    return getattr(value, place.field) if place.field else value


def call_with(module, place, array):
    """Call the kernel of `place` with valid arguments but for this one."""
    arguments = copy.deepcopy(VALID[place.kernel])
    old = arguments[place.argument]
    arguments[place.argument] = old._replace(**{place.field: array}) if place.field else array
    getattr(module, place.kernel)(**arguments)


VALID = valid_arguments(reference)
PLACES = list(places(VALID))
AXES = [(place, axis) for place in PLACES for axis in range(array_at(VALID, place).ndim)]
FIXED = [(place, axis) for place, axis in AXES if f"{place} {axis}" not in FREE]
MAY_BE_EMPTY = (Place("search_layer", "parent_sums", None), 0)

everywhere = pytest.mark.parametrize("place", PLACES, ids=str)


def test_all_kernels_take_the_arguments_that_are_spoilt_below(compiled):
    assert set(valid_arguments(compiled)) == set(reference.__all__)
    assert set(map(str, PLACES)) >= WRITTEN
    assert {f"{place} {axis}" for place, axis in AXES} >= FREE


@everywhere
def test_arrays_of_another_type_are_refused(compiled, place):
    array = array_at(VALID, place)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        call_with(compiled, place, np.ones_like(array, dtype=OTHER_TYPE[str(array.dtype)]))


@everywhere
def test_lists_are_refused(compiled, place):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        call_with(compiled, place, array_at(VALID, place).tolist())


@everywhere
def test_arrays_with_gaps_are_refused(compiled, place):
    array = array_at(VALID, place)
    with_gaps = np.repeat(array, 2, axis=-1)[..., ::2]
    assert with_gaps.shape == array.shape
    with pytest.raises(TypeError, match="incompatible function arguments"):
        call_with(compiled, place, with_gaps)


@everywhere
def test_arrays_of_other_dimensions_are_refused(compiled, place):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        call_with(compiled, place, array_at(VALID, place)[np.newaxis])


@pytest.mark.parametrize("place", [p for p in PLACES if str(p) in WRITTEN], ids=str)
def test_outputs_that_may_not_be_written_are_refused(compiled, place):
    array = array_at(VALID, place).copy()
    array.setflags(write=False)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        call_with(compiled, place, array)


@pytest.mark.parametrize(("place", "axis"), FIXED, ids=str)
def test_arrays_that_are_too_long_are_refused(compiled, place, axis):
    array = array_at(VALID, place)
    longer = np.concatenate([array, array.take([-1], axis=axis)], axis=axis)
    with pytest.raises(ValueError, match=r"must|match|differ|too few"):
        call_with(compiled, place, longer)


@pytest.mark.parametrize(("place", "axis"), [it for it in FIXED if it != MAY_BE_EMPTY], ids=str)
def test_arrays_that_are_too_short_are_refused(compiled, place, axis):
    array = array_at(VALID, place)
    shorter = np.ascontiguousarray(array.take(range(array.shape[axis] - 1), axis=axis))
    with pytest.raises(ValueError, match=r"must|match|differ|too few"):
        call_with(compiled, place, shorter)


@pytest.mark.parametrize("node", [-1, 2])
def test_sums_of_nodes_that_are_not_there_are_refused(compiled, node):
    with pytest.raises(ValueError, match="no such node"):
        call_with(compiled, Place("node_sums", "chosen", None), np.array([0, node], dtype=np.int32))


@pytest.mark.parametrize(
    "kernel",
    [
        "search_layer",
        "prune_layer",
        "grow_tree",
        "choose_splits",
        "prune_classes",
        "choose_by_classes",
    ],
)
def test_a_criterion_that_does_not_exist_is_refused(compiled, kernel):
    arguments = copy.deepcopy(VALID[kernel])
    arguments["options"] = arguments["options"]._replace(criterion=4)
    with pytest.raises(ValueError, match="criterion must be 0, 1, 2 or 3"):
        getattr(compiled, kernel)(**arguments)


@pytest.mark.parametrize("n_columns", [0, 17])
def test_distances_of_more_or_fewer_samples_than_the_blocks_hold_are_refused(compiled, n_columns):
    out = np.empty((POINTS, n_columns), dtype=np.float32)
    with pytest.raises(ValueError, match="do not match"):
        call_with(compiled, Place("squared_distances", "out", None), out)


@pytest.mark.parametrize("point", [-1, POINTS, 2**31 - 1])
@pytest.mark.parametrize("field", ["anchors", "rivals"])
@pytest.mark.parametrize(
    ("kernel", "argument"), [("pair_sums", "pairs"), ("add_comparisons", "comparisons")]
)
def test_points_that_are_not_there_are_refused(compiled, kernel, argument, field, point):
    with pytest.raises(ValueError, match="that is not there"):
        call_with(compiled, Place(kernel, argument, field), np.array([0, point], dtype=np.int32))


@pytest.mark.parametrize("sample", [-1, N])
def test_samples_that_are_not_there_are_refused(compiled, sample):
    samples = np.array([0, sample], dtype=np.int32)
    with pytest.raises(ValueError, match="that is not there"):
        call_with(compiled, Place("propose_pair", "samples", None), samples)


@pytest.mark.parametrize("changed", [{"kind": 2}, {"rule": 3}, {"n_rivals": 0}, {"n_subset": 0}])
def test_options_of_pairs_that_do_not_exist_are_refused(compiled, changed):
    arguments = copy.deepcopy(VALID["propose_pair"])
    arguments["options"] = arguments["options"]._replace(**changed)
    with pytest.raises(ValueError, match="must"):
        compiled.propose_pair(**arguments)


@pytest.mark.parametrize(("first", "last"), [(1, 0), (0, 3), (3, 3)])
def test_comparisons_that_are_not_there_are_refused(compiled, first, last):
    arguments = VALID["add_comparisons"] | {"first": first, "last": last}
    with pytest.raises(ValueError, match="do not match"):
        compiled.add_comparisons(**copy.deepcopy(arguments))


@pytest.mark.parametrize("kind", [-1, len(COMPARISONS)])
@pytest.mark.parametrize("kernel", ["compare", "pair_sums"])
def test_a_comparison_of_no_known_kind_is_refused(compiled, kernel, kind):
    with pytest.raises(ValueError, match="kind"):
        getattr(compiled, kernel)(**copy.deepcopy(VALID[kernel] | {"kind": kind}))


def test_a_term_of_no_known_kind_is_refused(compiled):
    kinds = np.array([0, len(COMPARISONS)], dtype=np.int32)
    with pytest.raises(ValueError, match="kind"):
        call_with(compiled, Place("add_comparisons", "comparisons", "kinds"), kinds)


@pytest.mark.parametrize(
    ("field", "wrong"), [("planes", 0), ("planes", 9), ("corners", -1), ("corners", 12)]
)
@pytest.mark.parametrize("kernel", ["window_values", "scan_windows"])
def test_rectangles_outside_the_window_are_refused(compiled, kernel, field, wrong):
    array = getattr(VALID[kernel]["rectangles"], field).copy()
    array[1] = wrong
    with pytest.raises(ValueError, match="do not match"):
        call_with(compiled, Place(kernel, "rectangles", field), array)


@pytest.mark.parametrize("grid", [WindowGrid(5, 6, 0), WindowGrid(10, 6), WindowGrid(5, 12)])
def test_windows_that_do_not_fit_into_the_image_are_refused(compiled, grid):
    with pytest.raises(ValueError, match="must fit"):
        compiled.scan_windows(**copy.deepcopy(VALID["scan_windows"] | {"grid": grid}))


@pytest.mark.parametrize(
    ("field", "wrong"), [("depths", 2), ("depths", -1), ("node_offsets", 1), ("features", 4)]
)
def test_trees_that_would_read_outside_their_arrays_are_refused(compiled, field, wrong):
    array = getattr(VALID["scan_windows"]["trees"], field).copy()
    array[0] = wrong
    with pytest.raises(ValueError, match="match"):
        call_with(compiled, Place("scan_windows", "trees", field), array)
