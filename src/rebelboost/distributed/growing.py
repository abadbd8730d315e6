"""Growing trees with an output vector for each leaf on samples that are spread: one question a layer."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    CRITERIA,
    Bins,
    ByFeature,
    Ints,
    Layer,
    Regions,
    SearchOptions,
    Splits,
)
from rebelboost.base.cached import cached_property
from rebelboost.boosting.sampling import Sampling
from rebelboost.data.binning import BLOCK, Binner
from rebelboost.data.training_set import TABLE
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.slopes import SpreadSlopes
from rebelboost.distributed.tree_steps import Descend, Draw, Open, columns_of_features
from rebelboost.distributed.weights import NOWHERE, SpreadWeights
from rebelboost.learners.base import Candidate, Focus, Prepared
from rebelboost.learners.growing import join_layers
from rebelboost.learners.tree import Tree, random_direction
from rebelboost.losses.smooth import AnyWeights
from rebelboost.model.terms import Terms
from rebelboost.model.trees import Trees

MASS = 0xFFFFFFFF
"""The bits of a pair that hold its mass."""


@dataclass(frozen=True)
class SpreadSampling(Sampling):
    """Draws the features of a round here, and the samples by their values where they are."""

    def focus(self, prepared: Prepared, weights: AnyWeights, rng: np.random.Generator) -> Focus:
        """Choose the samples and features of this round."""
        del weights
        assert isinstance(prepared, SpreadLearned)
        prepared.draw = None
        if self.subsample < 1:
            number = int(rng.integers(2**64, dtype=np.uint64))
            prepared.draw = Draw(number, self.subsample)
        return Focus(np.empty(0, dtype=np.int32), self.features(prepared.n_features, rng))


@dataclass
class SpreadLearned(Prepared):
    """Samples that are elsewhere."""

    draw: Draw | None = field(default=None, init=False, kw_only=True)
    """The samples that a round searches; None: all."""


@dataclass
class SpreadPrepared(SpreadLearned):
    """Samples that are binned where they are."""

    binner: Binner
    spread: SpreadRows
    unit: float
    """Unit of the counted weights of samples."""
    n_threads: int

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return len(self.binner.categorical)

    def covered(self, term: Terms, regions: Regions) -> Terms:
        """The term itself, which has the weights already."""
        del regions
        return term

    @cached_property
    def no_samples(self) -> Bins:
        """The bins, without samples."""
        offsets = np.cumsum([0, *self.binner.n_bins], dtype=np.int32)
        blocks = np.empty((-(-self.n_features // BLOCK), 0, BLOCK), dtype=np.uint8)
        return Bins(blocks, offsets, self.binner.categorical)

    def choose(
        self, sums: Ints, totals: Ints, counts: Ints, search: SearchOptions, allowed: ByFeature
    ) -> Splits:
        """The best split of each node, from sums over the bins of the allowed features."""
        bins, n_nodes = self.no_samples, len(totals)
        splits = Splits(
            np.empty(n_nodes, dtype=np.int32),
            np.empty((n_nodes, TABLE), dtype=np.uint8),
            np.empty((n_nodes, 2), dtype=np.int64),
            np.empty(n_nodes),
        )
        if not allowed.all():
            whole = np.zeros((n_nodes, int(bins.offsets[-1])), dtype=np.int64)
            whole[:, columns_of_features(bins.offsets, allowed)] = sums
            sums = whole
        kernels.active.choose_splits(
            bins,
            allowed,
            np.ascontiguousarray(sums),
            np.ascontiguousarray(totals),
            np.ascontiguousarray(counts),
            search,
            splits,
            self.n_threads,
        )
        return splits


@dataclass
class SpreadTree(SpreadPrepared):
    """Grows trees with an output vector for each leaf."""

    options: Tree

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Grow a tree on a random binarization of the classes; see `rebelboost.learners.tree`."""
        assert isinstance(weights, SpreadWeights | SpreadSlopes)
        direction = random_direction(weights.totals, rng)
        _, mass = weights.project(direction, direction**2)
        least = max(1, round(self.options.least_mass * mass))
        nodes = self._grow(weights, SearchOptions(CRITERIA["variance"], least, 1.0), focus.allowed)
        weights.route(nodes)
        plus, minus = weights.sums(NOWHERE, len(nodes.features) + 1)
        outputs = weights.leaf_outputs(NOWHERE, plus, minus, self.options.smoothing)
        tree = Trees.grown(nodes, self.binner, None, outputs)
        tree = tree.with_cover(weights.cover.astype(np.float64) * self.unit)
        return Candidate(tree, NOWHERE, plus, minus)

    def _grow(
        self, weights: SpreadWeights | SpreadSlopes, search: SearchOptions, allowed: ByFeature
    ) -> Layer:
        """Grow the layers, as `kernels.grow_tree` does on samples that are here."""
        assert weights.pairing is not None
        answer: Any = self.spread.ask(Open(weights.pairing, allowed, self.draw))
        if self.draw is not None and answer[2][0] == 0:
            answer = self.spread.ask(Open(weights.pairing, allowed))
        sums, totals, counts = answer
        layers: list[Layer] = []
        for depth in range(self.options.depth):
            splits = self.choose(sums, totals, counts, search, allowed)
            if np.all(splits.features < 0):
                break
            layers.append(Layer(splits.features, splits.right))
            if depth + 1 == self.options.depth:
                break
            totals = splits.sides.ravel()
            children = _lighter(splits, search.least_mass)
            fewer, counts = self.spread.ask(Descend(layers[-1], children, allowed))
            sums = _of_children(sums, fewer, children, len(totals))
        return join_layers(layers)


def _lighter(splits: Splits, least_mass: int) -> NDArray[np.int32]:
    """The child with less mass of each split node, unless neither has the mass to be split again."""
    mass = splits.sides & MASS
    in_play = (splits.features >= 0) & (mass.max(axis=1) >= 2 * least_mass)
    parents = np.flatnonzero(in_play)
    return (2 * parents + (mass[parents, 1] < mass[parents, 0])).astype(np.int32)


def _of_children(parents: Ints, fewer: Ints, children: NDArray[np.int32], n_nodes: int) -> Ints:
    """(n_nodes, B) sums of all children, given those of one of each two; 0 for nodes out of play.

    A node that was not split has one child, on the left, with its own sums. It cannot be split further.
    """
    sums = np.zeros((n_nodes, parents.shape[1]), dtype=np.int64)
    sums[children] = fewer
    sums[children ^ 1] = parents[children // 2] - fewer
    return sums
