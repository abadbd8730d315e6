"""Trees with one output vector, which each leaf takes with its own sign [REBEL, Sec. 4]."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    CRITERIA,
    NO_WORK,
    ByClass,
    Ints,
    Layer,
    Nodes,
    Outputs,
    Regions,
    SearchOptions,
    Work,
)
from rebelboost.data.training_set import TrainingSet, root_node
from rebelboost.learners.base import Candidate, Focus
from rebelboost.learners.gain import stump_of_largest_gain
from rebelboost.learners.pruning import Schedule
from rebelboost.losses.exponential import Weights
from rebelboost.losses.smooth import AnyWeights, Slopes
from rebelboost.model.trees import GrownTree


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
    """Σ of the weights after it."""
    work: Work

    @property
    def output(self) -> ByClass:
        """a: what a response of +1 adds to the scores."""
        return self.outputs[0] * self.signs[0]

    def candidate(self, data: TrainingSet) -> Candidate:
        """By values instead of bins."""
        hypothesis = GrownTree.from_bins(join(self.layers), data.binner, self.signs)
        return Candidate(hypothesis, self.regions, self.plus, self.minus, self.outputs, self.work)


def tree_with_one_output(
    depth: int, data: TrainingSet, weights: AnyWeights, focus: Focus, schedule: Schedule
) -> Candidate:
    """The best stump by its loss; then layers, each with the output held fixed, then solved again."""
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
        return solve((), np.ones(1, dtype=np.int8), nodes, data, weights, work)
    signs = np.array([-1, 1], dtype=np.int8)
    return solve((layer,), signs, data.split(layer, nodes), data, weights, work)


def _search_root(
    data: TrainingSet, weights: Weights, focus: Focus, schedule: Schedule
) -> tuple[Layer, Nodes, Work]:
    signed, mass = weights.fixed()
    # By einsum, since NumPy's sums over short rows take longer than a search.
    n_classes = mass.shape[1]
    counts = np.bincount(focus.samples, minlength=len(mass))
    totals: Ints = np.einsum("n,nk->k", counts, mass)
    keys: Ints = np.einsum("nk->n", np.abs(signed[:, :n_classes], dtype=np.int64))
    nodes, heavy = schedule.subsets(data, keys, root_node(focus.samples), 0)
    layer, work = data.search_root(signed, totals, nodes, focus.allowed)
    schedule.note(data, nodes, work, 0)
    return layer, nodes, work._replace(heavy=heavy)


def _add_layer(
    tree: SignedTree, data: TrainingSet, weights: AnyWeights, focus: Focus, schedule: Schedule
) -> SignedTree:
    """Give every leaf the stump that does best for the output as it is.

    With a fixed, choosing f = +1 rather than −1 for sample n lowers the loss by −2⟨G_n, sinh a⟩: scalar
    sums, and the best stump of a leaf has the largest |Σ_left| + |Σ_right|.
    """
    values = weights.preferences(tree.output)
    place = len(tree.layers)
    nodes, _ = schedule.subsets(data, schedule.keys(values >> 32), tree.nodes, place)
    splits, work = data.search_layer(
        values, nodes, SearchOptions(CRITERIA["error"], 0), focus.allowed
    )
    schedule.note(data, nodes, work, place)
    work = tree.work.plus(work)
    if np.all(splits.features < 0):
        return tree._replace(work=work)
    layer = Layer(splits.features, splits.right)
    signs = np.where(splits.sides.ravel() >> 32 > 0, 1, -1).astype(np.int8)
    return solve((*tree.layers, layer), signs, data.split(layer, nodes), data, weights, work)


def solve(
    layers: tuple[Layer, ...],
    signs: NDArray[np.int8],
    nodes: Nodes,
    data: TrainingSet,
    weights: AnyWeights,
    work: Work,
) -> SignedTree:
    """Find the output that suits the leaves' signs best."""
    regions = data.route(join(layers))
    plus, minus = weights.sums(regions, len(signs))
    output = weights.signed_output(regions, signs, plus, minus)
    outputs: Outputs = signs[:, np.newaxis] * output
    loss = weights.loss_after(regions, plus, minus, outputs)
    return SignedTree(layers, signs, nodes, regions, plus, minus, outputs, loss, work)


def join(layers: Sequence[Layer]) -> Layer:
    """All layers of a tree, in level order."""
    if not layers:
        return Layer(np.empty(0, dtype=np.int32), np.empty((0, 256), dtype=np.uint8))
    return Layer(
        np.concatenate([layer.features for layer in layers]),
        np.concatenate([layer.right for layer in layers]),
    )
