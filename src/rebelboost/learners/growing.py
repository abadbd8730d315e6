"""Growing trees with one output vector, whose sign each leaf chooses [REBEL, Sec. 4]."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    CRITERIA,
    NO_WORK,
    Bins,
    ByClass,
    ByFeature,
    Floats,
    Ints,
    Layer,
    Outputs,
    Regions,
    RootTotals,
    SearchOptions,
    Work,
)
from rebelboost.base.fixed_point import coarse_scale, in_order, root_losses
from rebelboost.data.training_set import TABLE, TrainingSet, root_node
from rebelboost.learners.base import AnyWeights, Candidate, Focus
from rebelboost.learners.binarize import (
    inverse_roots,
    leading_direction,
    leading_eigenvector,
    sides_of,
)
from rebelboost.learners.binned import BinnedBlocks
from rebelboost.learners.pruning import MOST_HEAVY, MOST_OF_CLASSES, Schedule
from rebelboost.model.trees import Trees
from rebelboost.rows.slopes import Slopes
from rebelboost.rows.trees import (
    CountBins,
    Draw,
    FixClasses,
    FixSlopes,
    FixWeights,
    LargestSquares,
    OfSides,
    OpenForClasses,
    Pairing,
    SumClasses,
    SumLayer,
    SumProducts,
    SumSquares,
)
from rebelboost.rows.weights import Where

ROOT = np.ones(1, dtype=np.int8)
SIGNS = np.array([-1, 1], dtype=np.int8)
"""Responses of the left and the right side."""


class SignedTree(NamedTuple):
    """A tree whose leaves respond with ±1, and its output."""

    layers: tuple[Layer, ...]
    signs: NDArray[np.int8]
    where: Where
    plus: Outputs
    minus: Outputs
    outputs: Outputs
    loss: float
    """Sum of the weights after the tree."""
    cover: Ints
    """(L,) counted weight of the samples in each leaf, if they are not in memory."""
    work: Work

    @property
    def output(self) -> ByClass:
        """a: what a response of +1 adds to the scores."""
        return self.outputs[0] * self.signs[0]


class TreeSearch(Protocol):
    """Finds the layers of one tree."""

    def root(self, weights: AnyWeights) -> tuple[Layer | None, Work]:
        """The stump with the lowest loss, or the largest gain; None if the constant response is as good."""

    def layer(
        self, weights: AnyWeights, pairing: Pairing, layers: Sequence[Layer], rule: "LayerRule"
    ) -> tuple[Layer | None, NDArray[np.int8], Work]:
        """The best split of each leaf, if any has one, the signs of their sides, and the work."""

    def layer_by_classes(
        self, weights: AnyWeights, layers: Sequence[Layer], options: SearchOptions
    ) -> tuple[Layer | None, Work]:
        """The best split of each leaf by the weights of all classes, if any has one, and the work."""

    def leading_direction(self, weights: AnyWeights) -> ByClass:
        """(K,) along which all classes are merged into two sides."""

    def sides_of_categories(self, weights: AnyWeights) -> Layer | None:
        """The best stump in which each category of a feature has its own side; None without categories."""

    def where(self, layers: Sequence[Layer]) -> Where:
        """The leaf of each sample."""

    def candidate(self, tree: SignedTree) -> Candidate:
        """Convert to a candidate, which splits on values instead of bins."""


class LayerRule(NamedTuple):
    """How the splits of a layer are chosen."""

    options: SearchOptions
    by_side: bool
    """Whether pairs are v and |v| of the signed parts: labels sign(v) with weights |v|."""


def tree_with_one_output(depth: int, search: TreeSearch, weights: AnyWeights) -> SignedTree:
    """Grow a tree layer by layer.

    The root is the stump with the lowest loss. Each further layer is chosen with the output held fixed; then
    the output is solved again. With a fixed, choosing f = +1 rather than −1 for sample n lowers the loss by
    −2⟨G_n, sinh a⟩: scalar sums, and the best stump of a leaf has the largest |Σ_left| + |Σ_right|.
    """
    layer, work = search.root(weights)
    if layer is None:
        return solve((), ROOT, search, weights, work)
    tree = solve((layer,), SIGNS, search, weights, work)
    for _ in range(depth - 1):
        layer, signs, more = search.layer(
            weights, weights.preference(tree.output), tree.layers, BY_ERROR
        )
        work = tree.work.plus(more)
        if layer is None:
            return tree._replace(work=work)
        deeper = solve((*tree.layers, layer), signs, search, weights, work)
        if not deeper.loss < tree.loss:
            return tree._replace(work=work)
        tree = deeper
    return tree


def solve(
    layers: tuple[Layer, ...],
    signs: NDArray[np.int8],
    search: TreeSearch,
    weights: AnyWeights,
    work: Work,
) -> SignedTree:
    """Find the best output for the given signs of the leaves."""
    where = search.where(layers)
    plus, minus = weights.sums(where, len(signs))
    output = weights.signed_output(where, signs, plus, minus)
    outputs: Outputs = signs[:, np.newaxis] * output
    loss = weights.loss_after(where, plus, minus, outputs)
    return SignedTree(layers, signs, where, plus, minus, outputs, loss, weights.cover, work)


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


# ---- classic criteria [QUICK, Sec. 2; THESIS, 7.2]

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
BY_ERROR = LayerRule(SearchOptions(CRITERIA["error"], 0), by_side=False)


BY_CLASSES = ("error", "gini", "entropy", "gain_ratio")
"""Criteria that tell more than two classes apart."""


def tree_by_criterion(
    criterion: str, depth: int, search: TreeSearch, weights: AnyWeights
) -> SignedTree:
    """Grow a tree by a classic criterion: on two classes, or on all of them."""
    if len(weights.totals) > 2 and criterion in BY_CLASSES:
        return tree_by_classes(criterion, depth, search, weights)
    return tree_on_sides(criterion, depth, search, weights)


def tree_by_classes(
    criterion: str, depth: int, search: TreeSearch, weights: AnyWeights
) -> SignedTree:
    """Grow a tree on the classes of the samples, each with the weight Σ_k W_k [THESIS, 7.2].

    Leaves respond with ±1, as the sums of their weights are binarized. The texts leave open how a leaf of
    many classes responds.
    """
    layers: list[Layer] = []
    work = NO_WORK
    for _ in range(depth):
        layer, more = search.layer_by_classes(weights, layers, OPTIONS[criterion])
        work = more if not layers else work.plus(more)
        if layer is None:
            break
        layers.append(layer)
    plus, minus = weights.sums(search.where(layers), 2 ** len(layers))
    sides = sides_of(plus - minus, weights.totals)
    signs = np.where(sides > 0, 1, -1).astype(np.int8)
    return solve(tuple(layers), signs, search, weights, work)


def fixed_classes(weights: AnyWeights) -> FixClasses:
    """Puts the weights of classes into fixed point."""
    sizes = weights.signed_size if isinstance(weights, Slopes) else weights.totals
    return FixClasses(len(sizes), coarse_scale(in_order(sizes)))


def tree_on_sides(
    criterion: str, depth: int, search: TreeSearch, weights: AnyWeights
) -> SignedTree:
    """Grow a tree on labels sign(v) with weights |v|; leaves respond with the sign of their sum."""
    direction = search.leading_direction(weights)
    pairing, _ = weights.projection(direction, np.ones(len(direction)))
    rule = LayerRule(OPTIONS[criterion], by_side=True)
    layers: list[Layer] = []
    signs, work = ROOT, NO_WORK
    for _ in range(depth):
        layer, below, more = search.layer(weights, pairing, layers, rule)
        work = more if not layers else work.plus(more)
        if layer is None:
            break
        layers.append(layer)
        signs = below
    return solve(tuple(layers), signs, search, weights, work)


# ---- samples in memory: heavy ones first, without features that can no longer be the best [QUICK]


class PrunedSearch:
    """Searches samples in memory, in subsets."""

    def __init__(self, data: TrainingSet, focus: Focus, schedule: Schedule) -> None:
        self.data, self.focus, self.schedule = data, focus, schedule
        self._nodes = root_node(focus.samples)
        """In the order of memory, which is the fastest to read."""
        self._routed: tuple[int, Regions] | None = None
        self._classes: tuple[NDArray[np.int32], Ints] | None = None
        """The weights of classes, and of samples; the same in all layers of a tree."""

    def root(self, weights: AnyWeights) -> tuple[Layer | None, Work]:
        """The stump with the lowest loss, or the largest gain."""
        data, focus, schedule = self.data, self.focus, self.schedule
        if isinstance(weights, Slopes):
            layer, work = stump_of_largest_gain(data, weights, focus), NO_WORK
        else:
            signed, keys, totals = weights.fixed_root(focus.samples)
            most = MOST_HEAVY if len(totals) <= 2 else MOST_OF_CLASSES
            nodes, heavy = schedule.subsets(data, keys, self._nodes, 0, most)
            layer, work = data.search_root(signed, totals, nodes, focus.allowed)
            schedule.note(nodes, work, 0)
            work = work._replace(heavy=heavy)
        if layer.features[0] < 0:
            return None, work
        self._nodes = data.split(layer, self._nodes)
        return layer, work

    def layer(
        self, weights: AnyWeights, pairing: Pairing, layers: Sequence[Layer], rule: LayerRule
    ) -> tuple[Layer | None, NDArray[np.int8], Work]:
        """The best split of each leaf."""
        data, schedule, place = self.data, self.schedule, len(layers)
        values = pairing.pairs(weights.scored, weights.n_threads)
        if rule.by_side:
            signed = values >> 32
            values = signed * 2**32 + np.abs(signed)
            keys = np.abs(signed)
        else:
            keys = schedule.keys(values >> 32)
        nodes, heavy = schedule.subsets(data, keys, self._nodes, place)
        splits, work = data.search_layer(values, nodes, rule.options, self.focus.allowed)
        schedule.note(nodes, work, place)
        if place == 0:
            work = work._replace(heavy=heavy)
        signs = np.where(splits.sides.ravel() >> 32 > 0, 1, -1).astype(np.int8)
        if np.all(splits.features < 0):
            return None, signs, work
        layer = Layer(splits.features, splits.right)
        self._nodes = data.split(layer, self._nodes)
        return layer, signs, work

    def layer_by_classes(
        self, weights: AnyWeights, layers: Sequence[Layer], options: SearchOptions
    ) -> tuple[Layer | None, Work]:
        """The best split of each leaf by the weights of all classes."""
        data, schedule, place = self.data, self.schedule, len(layers)
        if self._classes is None:
            self._classes = fixed_classes(weights).of(weights.scored)
        values, keys = self._classes
        nodes, heavy = schedule.subsets(data, keys, self._nodes, place, MOST_OF_CLASSES)
        n_classes = len(weights.totals)
        splits, work = data.search_classes(values, n_classes, nodes, options, self.focus.allowed)
        schedule.note(nodes, work, place)
        if place == 0:
            work = work._replace(heavy=heavy)
        if np.all(splits.features < 0):
            return None, work
        layer = Layer(splits.features, splits.right)
        self._nodes = data.split(layer, self._nodes)
        return layer, work

    def leading_direction(self, weights: AnyWeights) -> ByClass:
        """(K,) along which all classes are merged into two sides."""
        return leading_direction(weights)

    def sides_of_categories(self, weights: AnyWeights) -> Layer | None:
        """The best stump in which each category of a feature has its own side."""
        data, focus = self.data, self.focus
        categorical: ByFeature = focus.allowed * data.bins.categorical
        if not categorical.any():
            return None
        signed, mass = weights.fixed()
        chosen = focus.samples
        by_bin = data.class_sums(signed, chosen, categorical)[:, : mass.shape[1]]
        total = signed[chosen, : mass.shape[1]].sum(axis=0, dtype=np.int64)
        sums = RootTotals(mass[chosen].sum(axis=0), total, weights.second_order)

        def counts_of(feature: int) -> Ints:
            return np.bincount(data.column(feature)[chosen])

        return sides_of_categories(data.bins, categorical, by_bin, sums, counts_of)

    def where(self, layers: Sequence[Layer]) -> Regions:
        """The leaf of each sample: one layer more than last time, or from the root."""
        before = self._routed
        if before is not None and len(layers) == before[0] + 1 > 1:
            regions = self.data.descend(layers[-1], before[1])
        else:
            regions = self.data.route(layers)
        self._routed = len(layers), regions
        return regions

    def candidate(self, tree: SignedTree) -> Candidate:
        """Convert to a candidate, which splits on values instead of bins."""
        nodes = join_layers(tree.layers)
        term = Trees.grown(nodes, self.data.binner, tree.signs, tree.outputs)
        return Candidate(term, tree.where, tree.plus, tree.minus, tree.work)


# ---- rows in several blocks: all samples are visited


class BlockSearch:
    """Searches rows in blocks, by their sums over bins."""

    def __init__(self, data: BinnedBlocks, allowed: ByFeature, draw: Draw | None) -> None:
        self.data, self.allowed, self.draw = data, allowed, draw
        self._opened: Opened | None = None

    def _open(self, weights: AnyWeights) -> "Opened":
        """Sums of the weights of all classes over the bins."""
        if self._opened is not None:
            return self._opened
        mass_scale = coarse_scale(float(weights.totals.max(initial=0.0)))
        fixing: FixWeights | FixSlopes = FixWeights(mass_scale)
        if isinstance(weights, Slopes):
            signed_scale = coarse_scale(float(weights.signed_size.max(initial=0.0)))
            fixing = FixSlopes(signed_scale, mass_scale)
        rows, allowed, n_classes = self.data.rows, self.allowed, len(weights.totals)
        found = rows.ask(OpenForClasses(fixing, allowed, n_classes, self.draw))
        if self.draw is not None and found[3] == 0:
            self.draw = None
            found = rows.ask(OpenForClasses(fixing, allowed, n_classes))
        by_bin, total, mass, n_samples = found
        sums = RootTotals(mass, total, weights.second_order)
        self._opened = Opened(by_bin, sums, int(n_samples))
        return self._opened

    def root(self, weights: AnyWeights) -> tuple[Layer | None, Work]:
        """The stump with the lowest loss, or the largest gain."""
        opened, bins = self._open(weights), self.data.bins
        left, work, sums = left_sides(bins, opened.by_bin, self.allowed), NO_WORK, opened.sums
        if weights.second_order:
            best = best_by_gain(left, sums.total, sums.mass.astype(np.float64))
        else:
            visited = opened.n_samples * int(np.count_nonzero(self.allowed))
            best, work = _of_lowest_loss(left.sums, sums), Work(visited, visited)
        if best is None:
            return None, work
        feature, met = int(left.features[best]), None
        if not weights.second_order:  # by sums, as kernels.search_root has it
            met = bool(opened.by_bin[bins.offsets[feature + 1] - 1].any())
        return marked(bins, left, best, self._counts(feature), met=met), work

    def _counts(self, feature: int) -> Ints:
        (counts,) = self.data.rows.ask(CountBins(feature))
        found: Ints = counts
        return found

    def layer(
        self, weights: AnyWeights, pairing: Pairing, layers: Sequence[Layer], rule: LayerRule
    ) -> tuple[Layer | None, NDArray[np.int8], Work]:
        """The best split of each leaf."""
        del weights
        rows, allowed = self.data.rows, self.allowed
        made: Pairing = OfSides(pairing) if rule.by_side else pairing
        last = layers[-1] if layers else None
        found = rows.ask(SumLayer(made, allowed, last, self.draw))
        if last is None and self.draw is not None and found[2][0] == 0:
            self.draw = None
            found = rows.ask(SumLayer(made, allowed, last))
        sums, totals, counts = found
        splits = self.data.choose(sums, totals, counts, rule.options, allowed)
        visited = int(counts.sum()) * int(np.count_nonzero(allowed))
        signs = np.where(splits.sides.ravel() >> 32 > 0, 1, -1).astype(np.int8)
        layer = None if np.all(splits.features < 0) else Layer(splits.features, splits.right)
        return layer, signs, Work(visited, visited)

    def layer_by_classes(
        self, weights: AnyWeights, layers: Sequence[Layer], options: SearchOptions
    ) -> tuple[Layer | None, Work]:
        """The best split of each leaf by the weights of all classes."""
        rows, allowed, fixing = self.data.rows, self.allowed, fixed_classes(weights)
        last = layers[-1] if layers else None
        sums, counts = rows.ask(SumClasses(fixing, allowed, last, self.draw))
        if last is None and self.draw is not None and counts[0] == 0:
            self.draw = None
            sums, counts = rows.ask(SumClasses(fixing, allowed, last))
        splits = self.data.choose_by_classes(sums, counts, options, allowed)
        visited = int(counts.sum()) * int(np.count_nonzero(allowed))
        layer = None if np.all(splits.features < 0) else Layer(splits.features, splits.right)
        return layer, Work(visited, visited)

    def leading_direction(self, weights: AnyWeights) -> ByClass:
        """(K,) as `binarize.leading_direction` finds it for all samples."""
        unit, rows, n_rows = inverse_roots(weights.totals), self.data.rows, weights.n_samples
        (most,) = rows.ask(LargestSquares(unit))
        exponent = 61 - n_rows.bit_length() - np.frexp(most)[1]
        (sums,) = rows.ask(SumSquares(unit, exponent))
        squares = np.ldexp(sums.astype(np.float64), -exponent) / n_rows * n_rows
        exponent = 25 - (np.frexp(squares)[1] + 1) // 2
        (products,) = rows.ask(SumProducts(unit, exponent))
        gram = np.ldexp(products.astype(np.float64), -(exponent[:, np.newaxis] + exponent))
        return leading_eigenvector(gram) * unit

    def sides_of_categories(self, weights: AnyWeights) -> Layer | None:
        """The best stump in which each category of a feature has its own side."""
        bins = self.data.bins
        categorical: ByFeature = self.allowed * bins.categorical
        if not categorical.any():
            return None
        opened = self._open(weights)
        return sides_of_categories(bins, categorical, opened.by_bin, opened.sums, self._counts)

    def where(self, layers: Sequence[Layer]) -> Layer:
        """The tree, whose leaves blocks find themselves."""
        return join_layers(layers)

    def candidate(self, tree: SignedTree) -> Candidate:
        """Convert to a candidate, which splits on values instead of bins."""
        nodes = join_layers(tree.layers)
        term = Trees.grown(nodes, self.data.binner, tree.signs, tree.outputs)
        term = term.with_cover(self.data.cover(tree.cover))
        return Candidate(term, tree.where, tree.plus, tree.minus, tree.work)


class Opened(NamedTuple):
    """Sums over the root of a tree."""

    by_bin: Ints
    """(B, K)"""
    sums: RootTotals
    n_samples: int


def _of_lowest_loss(left: Ints, sums: RootTotals) -> int | None:
    """The stump with the lowest loss [THESIS, Eq. 4.10]; None if the constant response is as good."""
    losses = root_losses(sums, left)
    if len(losses) == 0:
        return None
    best = int(np.argmin(losses))
    constant = root_losses(sums, np.zeros((1, len(sums.total)), dtype=np.int64))[0]
    return best if losses[best] < constant else None


def search_of(
    data: TrainingSet | BinnedBlocks, focus: Focus, draw: Draw | None, schedule: Schedule
) -> TreeSearch:
    """The search of one tree, wherever the rows are."""
    if isinstance(data, TrainingSet):
        return PrunedSearch(data, focus, schedule)
    return BlockSearch(data, focus.allowed, draw)


# ---- categories with a side each [ADA 3.4.2]


def sides_of_categories(
    bins: Bins,
    categorical: ByFeature,
    by_bin: Ints,
    sums: RootTotals,
    counts_of: Callable[[int], Ints],
) -> Layer:
    """The best of these features, and the side of each of its categories, from (B, K) sums over bins.

    Categories without samples go where most samples go; `counts_of` counts the samples of each.
    """
    best, least = -1, np.inf
    for feature in map(int, np.flatnonzero(categorical)):
        own = by_bin[bins.offsets[feature] : bins.offsets[feature + 1]]
        left = own[_signs(own, sums.mass) <= 0].sum(axis=0)
        loss = float(root_losses(sums, left[np.newaxis])[0])
        if loss < least:
            best, least = feature, loss
    own = by_bin[bins.offsets[best] : bins.offsets[best + 1]]
    right, counts = _signs(own, sums.mass) > 0, counts_of(best)
    mostly_right = 2 * counts[right[: len(counts)]].sum() > counts.sum()
    table = np.zeros((1, TABLE), dtype=np.uint8)
    table[0, : len(own)] = np.where(own.any(axis=1), right, mostly_right)
    return Layer(np.array([best], dtype=np.int32), table)


def _signs(sums: Ints, mass: Ints) -> Floats:
    """(bins,) the side of each bin: U·q₁, U = sums/√S, q₁ the leading eigenvector of UᵀU."""
    U = sums / np.sqrt(np.maximum(mass, 1))
    gram = (U[:, :, np.newaxis] * U[:, np.newaxis]).sum(axis=0)
    sides: Floats = (U * leading_eigenvector(gram)).sum(axis=1)
    return sides
