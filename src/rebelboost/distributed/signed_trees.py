"""Trees with one output vector, and stumps, on samples that are spread. All samples are visited."""

from dataclasses import dataclass

import numpy as np

from rebelboost.base.arrays import (
    CRITERIA,
    NO_WORK,
    ByClass,
    ByFeature,
    Focus,
    Ints,
    Layer,
    Nodes,
    SearchOptions,
    Work,
)
from rebelboost.base.fixed_point import coarse_scale
from rebelboost.distributed.class_steps import (
    CountBins,
    FixSlopes,
    FixWeights,
    LargestSquares,
    OfSides,
    OpenForClasses,
    SumLayer,
    SumProducts,
    SumSquares,
)
from rebelboost.distributed.growing import SpreadPrepared
from rebelboost.distributed.slopes import SpreadSlopes
from rebelboost.distributed.tree_steps import Pairing
from rebelboost.distributed.weights import NOWHERE, SpreadWeights
from rebelboost.learners.base import Candidate
from rebelboost.learners.binarize import inverse_roots, leading_eigenvector
from rebelboost.learners.growing import (
    OPTIONS,
    SignedTree,
    best_by_gain,
    join_layers,
    left_sides,
    marked,
    no_split,
    solve,
)
from rebelboost.learners.stump import SIGNS, RootSums, Stump, sides_of_categories
from rebelboost.learners.tree import Tree
from rebelboost.losses.smooth import AnyWeights
from rebelboost.model.trees import Trees

NO_NODES = Nodes(np.empty(0, dtype=np.int32), np.zeros((1, 2), dtype=np.int32))
"""Stands for samples that only the parts know."""
ROOT = np.ones(1, dtype=np.int8)

AnySpread = SpreadWeights | SpreadSlopes


@dataclass
class Opened:
    """Sums over the root of a tree."""

    by_bin: Ints
    """(B, K)"""
    sums: RootSums
    n_samples: int


@dataclass
class SpreadSignedTree(SpreadPrepared):
    """Grows trees on samples that are binned where they are [REBEL, Sec. 4]."""

    options: Tree | Stump

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Grow a tree for the current weights; see `rebelboost.learners.growing`."""
        del rng
        assert isinstance(weights, SpreadWeights | SpreadSlopes)
        options = self.options
        if isinstance(options, Tree) and options.criterion != "risk":
            tree = self._by_criterion(options.criterion, weights, focus.allowed)
        else:
            tree = self._by_loss(weights, focus.allowed)
        nodes = join_layers(tree.layers)
        term = Trees.grown(nodes, self.binner, tree.signs, tree.outputs)
        term = term.with_cover(weights.cover.astype(np.float64) * self.unit)
        return Candidate(term, NOWHERE, tree.plus, tree.minus, tree.work)

    def _by_loss(self, weights: AnySpread, allowed: ByFeature) -> SignedTree:
        opened = self._open(weights, allowed)
        tree = self._root(opened, weights, allowed)
        if isinstance(self.options, Stump):
            if self.options.categories == "split":
                tree = self._with_sides_of_categories(tree, opened, weights, allowed)
            return tree
        for _ in range(self.options.depth - 1 if tree.layers else 0):
            deeper = self._add_layer(tree, weights, allowed)
            if not deeper.loss < tree.loss:
                if len(deeper.layers) > len(tree.layers):
                    _route_again(tree, weights)
                return tree._replace(work=deeper.work)
            tree = deeper
        return tree

    def _open(self, weights: AnySpread, allowed: ByFeature) -> Opened:
        fixing: FixWeights | FixSlopes
        if isinstance(weights, SpreadSlopes):
            fixing = FixSlopes(
                coarse_scale(float(weights.signed_size.max(initial=0.0))),
                coarse_scale(float(weights.totals.max(initial=0.0))),
            )
        else:
            fixing = FixWeights(coarse_scale(float(weights.totals.max(initial=0.0))))
        n_classes = len(weights.totals)
        found = self.spread.ask(OpenForClasses(fixing, allowed, n_classes, self.draw))
        if self.draw is not None and found[3] == 0:
            self.draw = None
            found = self.spread.ask(OpenForClasses(fixing, allowed, n_classes))
        by_bin, total, mass, n_samples = found
        return Opened(by_bin, RootSums(mass, total, weights.second_order), int(n_samples))

    def _root(self, opened: Opened, weights: AnySpread, allowed: ByFeature) -> SignedTree:
        """The stump with the lowest loss, or the largest gain."""
        bins, sums = self.no_samples, opened.sums
        left, work = left_sides(bins, opened.by_bin, allowed), NO_WORK
        if weights.second_order:
            best = best_by_gain(left, sums.total, sums.mass.astype(np.float64))
        else:
            visited = opened.n_samples * int(np.count_nonzero(allowed))
            best, work = _of_lowest_loss(left.sums, sums), Work(visited, visited)
        layer = no_split()
        if best is not None:
            feature = int(left.features[best])
            (counts,) = self.spread.ask(CountBins(feature))
            met = None
            if not weights.second_order:  # by sums, as kernels.search_root has it
                met = bool(opened.by_bin[bins.offsets[feature + 1] - 1].any())
            layer = marked(bins, left, best, counts, met=met)
        if layer.features[0] < 0:
            return _solved((), ROOT, weights, work)
        return _solved((layer,), SIGNS, weights, work)

    def _with_sides_of_categories(
        self, plain: SignedTree, opened: Opened, weights: AnySpread, allowed: ByFeature
    ) -> SignedTree:
        """The stump in which each category has its side, if its loss is lower."""
        bins = self.no_samples
        categorical: ByFeature = allowed * bins.categorical
        if not categorical.any():
            return plain

        def counts_of(feature: int) -> Ints:
            (counts,) = self.spread.ask(CountBins(feature))
            found: Ints = counts
            return found

        layer = sides_of_categories(bins, categorical, opened.by_bin, opened.sums, counts_of)
        found = _solved((layer,), SIGNS, weights, NO_WORK)
        if found.loss < plain.loss:
            return found
        _route_again(plain, weights)
        return plain

    def _add_layer(self, tree: SignedTree, weights: AnySpread, allowed: ByFeature) -> SignedTree:
        """Split every leaf by its best stump, with the output held fixed."""
        weights.preferences(tree.output)
        assert weights.pairing is not None
        layer, signs, work = self._layer(
            weights.pairing, tree.layers[-1], SearchOptions(CRITERIA["error"], 0), allowed
        )
        work = tree.work.plus(work)
        if layer is None:
            return tree._replace(work=work)
        return _solved((*tree.layers, layer), signs, weights, work)

    def _by_criterion(self, criterion: str, weights: AnySpread, allowed: ByFeature) -> SignedTree:
        """Grow a tree on labels sign(v) with weights |v|; see `rebelboost.learners.growing`."""
        assert isinstance(self.options, Tree)
        direction = self._leading_direction(weights)
        weights.project(direction, np.ones(len(direction)))
        assert weights.pairing is not None
        pairing = OfSides(weights.pairing)
        layers: list[Layer] = []
        signs, work = ROOT, NO_WORK
        for _ in range(self.options.depth):
            last = layers[-1] if layers else None
            layer, below, more = self._layer(pairing, last, OPTIONS[criterion], allowed)
            work = work.plus(more)
            if layer is None:
                break
            layers.append(layer)
            signs = below
        return _solved(tuple(layers), signs, weights, work)

    def _layer(
        self, pairing: Pairing, last: Layer | None, options: SearchOptions, allowed: ByFeature
    ) -> tuple[Layer | None, "np.ndarray[tuple[int], np.dtype[np.int8]]", Work]:
        """The best split of each node, if any has one, the signs of their sides, and the work."""
        found = self.spread.ask(SumLayer(pairing, allowed, last, self.draw))
        if last is None and self.draw is not None and found[2][0] == 0:
            self.draw = None
            found = self.spread.ask(SumLayer(pairing, allowed, last))
        sums, totals, counts = found
        splits = self.choose(sums, totals, counts, options, allowed)
        visited = int(counts.sum()) * int(np.count_nonzero(allowed))
        signs = np.where(splits.sides.ravel() >> 32 > 0, 1, -1).astype(np.int8)
        layer = None if np.all(splits.features < 0) else Layer(splits.features, splits.right)
        return layer, signs, Work(visited, visited)

    def _leading_direction(self, weights: AnySpread) -> ByClass:
        """(K,) as `rebelboost.learners.binarize.leading_direction` finds it for all samples."""
        unit = inverse_roots(weights.totals)
        n_rows = weights.n_rows
        (largest,) = self.spread.ask(LargestSquares(unit))
        exponent = 61 - n_rows.bit_length() - np.frexp(largest)[1]
        (sums,) = self.spread.ask(SumSquares(unit, exponent))
        squares = np.ldexp(sums.astype(np.float64), -exponent) / n_rows * n_rows
        exponent = 25 - (np.frexp(squares)[1] + 1) // 2
        (products,) = self.spread.ask(SumProducts(unit, exponent))
        gram = np.ldexp(products.astype(np.float64), -(exponent[:, np.newaxis] + exponent))
        return leading_eigenvector(gram) * unit


def _of_lowest_loss(left: Ints, sums: RootSums) -> int | None:
    """The stump with the lowest loss [THESIS, Eq. 4.10]; None if the constant response is as good."""
    losses = sums.losses(left)
    if len(losses) == 0:
        return None
    best = int(np.argmin(losses))
    constant = sums.losses(np.zeros((1, len(sums.total)), dtype=np.int64))[0]
    return best if losses[best] < constant else None


def _solved(
    layers: tuple[Layer, ...],
    signs: "np.ndarray[tuple[int], np.dtype[np.int8]]",
    weights: AnySpread,
    work: Work,
) -> SignedTree:
    weights.route(join_layers(layers))
    return solve(layers, signs, NO_NODES, NOWHERE, weights, work)


def _route_again(tree: SignedTree, weights: AnySpread) -> None:
    """Let the parts return to a tree, after another one was tried."""
    weights.route(join_layers(tree.layers))
    weights.sums(NOWHERE, len(tree.signs))
