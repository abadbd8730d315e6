"""Growing trees with one output vector, whose sign each leaf chooses [REBEL, Sec. 4]."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    CRITERIA,
    NO_WORK,
    Bins,
    ByClass,
    Floats,
    Ints,
    Layer,
    Nodes,
    Outputs,
    Regions,
    SearchOptions,
    Work,
)
from rebelboost.data.training_set import TABLE, TrainingSet, root_node
from rebelboost.learners.base import Candidate, Focus
from rebelboost.learners.binarize import leading_direction
from rebelboost.learners.pruning import Schedule
from rebelboost.losses.exponential import Weights
from rebelboost.losses.smooth import AnyWeights, Slopes
from rebelboost.model.trees import Trees


class SignedTree(NamedTuple):
    """A tree whose leaves respond with ±1, and its output."""

    layers: tuple[Layer, ...]
    signs: NDArray[np.int8]
    nodes: Nodes
    regions: Regions
    plus: Outputs
    minus: Outputs
    outputs: Outputs
    loss: float
    """Sum of the weights after the tree."""
    work: Work

    @property
    def output(self) -> ByClass:
        """a: what a response of +1 adds to the scores."""
        return self.outputs[0] * self.signs[0]

    def candidate(self, data: TrainingSet) -> Candidate:
        """Convert to a candidate, which splits on values instead of bins."""
        tree = Trees.grown(join_layers(self.layers), data.binner, self.signs, self.outputs)
        return Candidate(tree, self.regions, self.plus, self.minus, self.work)


def tree_with_one_output(
    depth: int, data: TrainingSet, weights: AnyWeights, focus: Focus, schedule: Schedule
) -> Candidate:
    """Grow a tree layer by layer.

    The root is the stump with the lowest loss. Each further layer is chosen with the output held
    fixed; then the output is solved again.
    """
    tree = _root(data, weights, focus, schedule)
    for _ in range(depth - 1 if tree.layers else 0):
        deeper = _add_layer(tree, data, weights, focus, schedule)
        if not deeper.loss < tree.loss:
            tree = tree._replace(work=deeper.work)
            break
        tree = deeper
    return tree.candidate(data)


def _root(data: TrainingSet, weights: AnyWeights, focus: Focus, schedule: Schedule) -> SignedTree:
    if isinstance(weights, Slopes):
        layer, nodes, work = (
            stump_of_largest_gain(data, weights, focus),
            root_node(focus.samples),
            NO_WORK,
        )
    else:
        layer, nodes, work = _search_root(data, weights, focus, schedule)
    if layer.features[0] < 0:
        return solve((), np.ones(1, dtype=np.int8), nodes, data.route(()), weights, work)
    signs = np.array([-1, 1], dtype=np.int8)
    nodes, regions = data.split(layer, nodes), data.route((layer,))
    return solve((layer,), signs, nodes, regions, weights, work)


def _search_root(
    data: TrainingSet, weights: Weights, focus: Focus, schedule: Schedule
) -> tuple[Layer, Nodes, Work]:
    signed, keys, totals = weights.fixed_root(focus.samples)
    nodes, heavy = schedule.subsets(data, keys, root_node(focus.samples), 0)
    layer, work = data.search_root(signed, totals, nodes, focus.allowed)
    schedule.note(nodes, work, 0)
    return layer, nodes, work._replace(heavy=heavy)


def _add_layer(
    tree: SignedTree, data: TrainingSet, weights: AnyWeights, focus: Focus, schedule: Schedule
) -> SignedTree:
    """Split every leaf by its best stump, with the output held fixed.

    With a fixed, choosing f = +1 rather than −1 for sample n lowers the loss by −2⟨G_n, sinh a⟩: scalar
    sums, and the best stump of a leaf has the largest |Σ_left| + |Σ_right|.
    """
    values = weights.preferences(tree.output)
    place = len(tree.layers)
    nodes, _ = schedule.subsets(data, schedule.keys(values >> 32), tree.nodes, place)
    splits, work = data.search_layer(
        values, nodes, SearchOptions(CRITERIA["error"], 0), focus.allowed
    )
    schedule.note(nodes, work, place)
    work = tree.work.plus(work)
    if np.all(splits.features < 0):
        return tree._replace(work=work)
    layer = Layer(splits.features, splits.right)
    signs = np.where(splits.sides.ravel() >> 32 > 0, 1, -1).astype(np.int8)
    nodes, regions = data.split(layer, nodes), data.descend(layer, tree.regions)
    return solve((*tree.layers, layer), signs, nodes, regions, weights, work)


def solve(
    layers: tuple[Layer, ...],
    signs: NDArray[np.int8],
    nodes: Nodes,
    regions: Regions,
    weights: AnyWeights,
    work: Work,
) -> SignedTree:
    """Find the best output for the given signs of the leaves."""
    plus, minus = weights.sums(regions, len(signs))
    output = weights.signed_output(regions, signs, plus, minus)
    outputs: Outputs = signs[:, np.newaxis] * output
    loss = weights.loss_after(regions, plus, minus, outputs)
    return SignedTree(layers, signs, nodes, regions, plus, minus, outputs, loss, work)


def join_layers(layers: Sequence[Layer]) -> Layer:
    """Join the layers of a tree, in level order."""
    if not layers:
        return Layer(np.empty(0, dtype=np.int32), np.empty((0, 256), dtype=np.uint8))
    return Layer(
        np.concatenate([layer.features for layer in layers]),
        np.concatenate([layer.right for layer in layers]),
    )


# ---- the root, for losses other than the exponential


def stump_of_largest_gain(data: TrainingSet, slopes: Slopes, focus: Focus) -> Layer:
    """Search all thresholds and categories; ties go to the lowest (feature, bin).

    Thresholds are tried with missing values on the left, then on the right. Feature −1 means that no
    stump gains more than the constant response.
    """
    signed, mass = slopes.fixed()
    n_classes = mass.shape[1]
    curvature = mass[focus.samples].sum(axis=0).astype(np.float64)
    sums = data.class_sums(signed, focus.samples, focus.allowed)[:, :n_classes]
    total = signed[focus.samples, :n_classes].sum(axis=0, dtype=np.int64)
    left = left_sides(data.bins, sums, focus.allowed)
    best = best_by_gain(left, total, curvature)
    if best is None:
        return no_split()
    codes = data.column(int(left.features[best]))[focus.samples]
    counts = np.bincount(codes, minlength=TABLE)
    return marked(data.bins, left, best, counts)


def best_by_gain(left: "LeftSides", total: Ints, curvature: ByClass) -> int | None:
    """The stump with the largest second-order gain; None if no stump gains more than the constant response."""
    gains = _gains(total - 2 * left.sums, curvature)
    best = int(np.argmax(gains)) if len(gains) else 0
    if len(gains) == 0 or not gains[best] > _gains(total[np.newaxis], curvature)[0]:
        return None
    return best


def no_split() -> Layer:
    """A root that is not split."""
    return Layer(np.array([-1], dtype=np.int32), np.zeros((1, TABLE), dtype=np.uint8))


class LeftSides:
    """Sums over the left side of every stump, ordered by (feature, missing right or not, bin)."""

    def __init__(self, sums: Ints, places: NDArray[np.int64], features: Ints, flags: Ints) -> None:
        self.sums = sums
        self.bins = places
        self.features = features
        self.missing_right = flags


def left_sides(bins: Bins, sums: Ints, allowed: NDArray[np.uint8]) -> LeftSides:
    """Sums over the left side of every stump on the allowed features, from (B, K) sums over bins."""
    offsets = bins.offsets.astype(np.int64)
    n_bins = np.diff(offsets)
    feature = np.repeat(np.arange(len(n_bins)), n_bins)
    place = np.arange(len(feature)) - offsets[feature]
    missing = sums[offsets[1:] - 1][feature]
    before = np.cumsum(sums, axis=0) - sums
    through = before + sums - before[offsets[:-1]][feature]
    holds = sums.any(axis=1)  # a threshold after an empty bin repeats the one before it
    numeric = bins.categorical[feature] == 0
    may = allowed[feature] != 0
    last = n_bins[feature] - 1
    with_missing = may & numeric & holds & (place < last - 1)
    without = may & numeric & holds & (place < last) & missing.any(axis=1)
    alone = may & ~numeric & holds
    rows = [np.flatnonzero(kind) for kind in (with_missing | alone, without)]
    first = np.where(numeric[:, np.newaxis], through + missing, sums)
    sides = np.concatenate([first[rows[0]], through[rows[1]]])
    places = np.concatenate([place[rows[0]], place[rows[1]]])
    features = np.concatenate([feature[rows[0]], feature[rows[1]]])
    flags = np.repeat([0, 1], [len(rows[0]), len(rows[1])])
    order = np.lexsort((places, flags, features))
    return LeftSides(sides[order], places[order], features[order], flags[order])


def _gains(P: Ints, curvature: ByClass) -> Floats:
    """Σ_k P_k²/W_k of each row, summed class by class: the same bits for any number of rows."""
    gains = np.zeros(len(P))
    for k in np.flatnonzero(curvature > 0):
        gains += P[:, k].astype(np.float64) ** 2 / curvature[k]
    return gains


def marked(
    bins: Bins, left: LeftSides, best: int, counts: Ints, *, met: bool | None = None
) -> Layer:
    """The stump as a layer, given the number of samples in each bin of its feature.

    Missing values go where most samples go, unless some are `met`: by default, samples with missing values.
    """
    feature, place = int(left.features[best]), int(left.bins[best])
    n_bins = int(np.diff(bins.offsets)[feature])
    right = np.zeros((1, TABLE), dtype=np.uint8)
    if bins.categorical[feature]:
        right[0, :n_bins] = np.arange(n_bins) != place
    else:
        right[0, place + 1 : n_bins - 1] = 1
        met = bool(counts[n_bins - 1] > 0) if met is None else met
        mostly_right = 2 * counts[:n_bins][right[0, :n_bins] > 0].sum() > counts.sum()
        right[0, n_bins - 1] = left.missing_right[best] if met else mostly_right
    return Layer(np.array([feature], dtype=np.int32), right)


# ---- classic criteria, on binarized labels [QUICK, Sec. 2]

Criterion = Literal["risk", "error", "gini", "entropy", "gain_ratio", "variance"]
GROWING = get_args(Criterion)

# For labels ±1 the Gini index equals the variance. Gains below one fixed-point unit are rounding errors.
OPTIONS = {
    "error": SearchOptions(CRITERIA["error"], 1),
    "gini": SearchOptions(CRITERIA["variance"], 1, 1.0),
    "variance": SearchOptions(CRITERIA["variance"], 1, 1.0),
    "entropy": SearchOptions(CRITERIA["entropy"], 1, 1.0),
    "gain_ratio": SearchOptions(CRITERIA["gain_ratio"], 1, 1e-9),
}


def tree_by_criterion(
    criterion: str,
    depth: int,
    data: TrainingSet,
    weights: AnyWeights,
    focus: Focus,
    schedule: Schedule,
) -> Candidate:
    """Grow a tree on labels sign(v) with weights |v|; leaves respond with the sign of their sum."""
    direction = leading_direction(weights)
    projected, _ = weights.project(direction, np.ones(len(direction)))
    signed = projected >> 32
    values: Ints = signed * 2**32 + np.abs(signed)
    nodes, work = root_node(focus.samples), NO_WORK
    layers: list[Layer] = []
    signs = np.ones(1, dtype=np.int8)
    for place in range(depth):
        nodes, heavy = schedule.subsets(data, np.abs(signed), nodes, place)
        splits, more = data.search_layer(values, nodes, OPTIONS[criterion], focus.allowed)
        schedule.note(nodes, more, place)
        if place == 0:
            work = work._replace(heavy=heavy)
        work = work.plus(more)
        if np.all(splits.features < 0):
            break
        layers.append(Layer(splits.features, splits.right))
        signs = np.where(splits.sides.ravel() >> 32 > 0, 1, -1).astype(np.int8)
        nodes = data.split(layers[-1], nodes)
    regions = data.route(layers)
    return solve(tuple(layers), signs, nodes, regions, weights, work).candidate(data)
