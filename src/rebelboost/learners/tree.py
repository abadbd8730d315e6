"""Decision trees.

A tree has either one output vector, whose sign each leaf chooses [REBEL, Sec. 4], or an output vector
for each leaf, which is not in the papers.
"""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    CRITERIA,
    ByClass,
    Focus,
    GrownTree,
    Layer,
    LeafSums,
    LeafTreeOptions,
    Outputs,
    SearchOptions,
)
from rebelboost.base.draws import key_from
from rebelboost.base.kernel_arrays import TreeMemory, TreePlan, TreeTable
from rebelboost.data.level_means import with_level_means
from rebelboost.data.training_set import TrainingSet, bin_samples
from rebelboost.learners.base import Ahead, AnyWeights, Candidate, Traits
from rebelboost.learners.binned import BinnedBlocks, PreparedBins, bin_rows
from rebelboost.learners.growing import (
    GROWING,
    Criterion,
    join_layers,
    search_of,
    tree_by_criterion,
    tree_with_one_output,
)
from rebelboost.learners.options import (
    Binning,
    Categorical,
    Parameters,
    check_bins,
    check_choice,
    check_number,
    check_search,
    schedule,
)
from rebelboost.learners.pruning import Search, Steps
from rebelboost.model.terms import Terms
from rebelboost.model.trees import MOST_DEPTH, Trees
from rebelboost.rows.base import Rows
from rebelboost.rows.slopes import OfQuantity, Slopes
from rebelboost.rows.trees import Draw
from rebelboost.rows.weights import OfWeights, Weights, Where

LEAST_MASS = 1e-4
"""Default of `Tree.least_mass`."""
TABLES_AT_ONCE = 4096
"""Tables of categorical splits for which there is room in a call that grows several trees."""


@dataclass(frozen=True, repr=False)
class Tree(Parameters):
    """Decision trees as weak learners.

    Parameters
    ----------
    depth : int, default=6
        Number of layers.
    outputs : {"leaf", "tree"}, default="leaf"
        "leaf" gives every leaf its own output vector. "tree" has one output vector for the whole tree,
        and each leaf chooses its sign, as in the papers.
    bins : int, default=255
        Maximum number of bins of a numeric feature, from 2 to 255. Missing values have an extra bin.
    binning : {"quantile", "even", "exact"}, default="quantile"
        "quantile" gives bins about equal weight, "even" gives them equal width. "exact" puts a
        threshold between any two values, for features with at most 255 values. Features with at
        most `bins` values are always exact.
    smoothing : float, default=0.1
        With outputs="leaf": shrinks the outputs of light leaves towards 0, in units of the average
        weight of a leaf.
    categorical : "from_dtype" or list, default="from_dtype"
        Categorical features. "from_dtype" selects the columns of a data frame with a categorical, text
        or Boolean type. Otherwise a list of names, a list of indices, or a mask.
    least_mass : float, default=1e-4
        With outputs="leaf": minimum weight of a leaf, as a fraction of the weight that the tree is
        grown on.
    criterion : {"risk", "error", "gini", "entropy", "gain_ratio", "variance"}, default="risk"
        With outputs="tree": criterion for choosing splits. "risk" is the loss, as in REBEL. The classic
        criteria tell all classes apart [THESIS, 7.2], but "variance", which merges them into two sides;
        on two classes it is the same as "gini".
    search : {"auto", "pruned", "exhaustive"}, default="auto"
        With outputs="tree": how the best splits are found. The trees are the same. "pruned" visits
        heavy samples first and drops features that can no longer be the best [QUICK]. "exhaustive"
        visits all samples. "auto" prunes where it has recently saved time.
    first_subset : float, default=0.9
        Fraction of the weight that a pruned search visits before it first drops features.
    subset_steps : int or "auto", default="auto"
        Number of equal steps in which a pruned search visits the rest, as in the paper. "auto" takes
        shrinking steps, with the lighter side of a node first.
    """

    depth: int = 6
    outputs: Literal["leaf", "tree"] = "leaf"
    bins: int = 255
    binning: Binning = "quantile"
    smoothing: float = 0.1
    categorical: Categorical = "from_dtype"
    least_mass: float = LEAST_MASS
    criterion: Criterion = "risk"
    search: Search = "auto"
    first_subset: float = 0.9
    subset_steps: Steps = "auto"

    def __post_init__(self) -> None:
        check_number("depth", self.depth, 1, MOST_DEPTH)
        check_choice("outputs", self.outputs, ("leaf", "tree"))
        check_choice("criterion", self.criterion, GROWING)
        if self.outputs == "leaf" and self.criterion != "risk":
            raise ValueError(
                f"criterion={self.criterion!r} needs a tree with one output: add outputs='tree'"
            )
        check_bins(self)
        check_search(self)
        if not 0 <= self.smoothing < np.inf:
            raise ValueError(f"smoothing is {self.smoothing!r}: give a finite number, 0 or more")
        if not 0 <= self.least_mass <= 0.5:
            raise ValueError(f"least_mass is {self.least_mass!r}: give a share from 0 to 0.5")

    @property
    def rounds(self) -> int:
        """Number of rounds used for n_rounds="auto"."""
        return 400 if self.outputs == "leaf" else 1000

    @property
    def shrinkage(self) -> float:
        """Shrinkage used for shrinkage="auto"."""
        return 0.3 if self.outputs == "leaf" else 1.0

    traits: ClassVar[Traits] = Traits(searches_blocks=True, predicts_numbers=True)
    crosses: ClassVar[bool] = True
    """Whether trees may split on means of pairs of levels."""

    def prepare(self, rows: Rows, n_threads: int = 1) -> "PreparedTree":
        """Bin the rows."""
        given = None if rows.alone is None else rows.alone.given
        by_means = None
        if given and self.outputs == "leaf":
            by_means = with_level_means(given, crossed=self.crosses)
        if by_means is None:
            return PreparedTree(rows, self, bin_rows(rows, self, n_threads), schedule(self))
        data = bin_samples(by_means.samples, self.bins, self.binning, n_threads)
        return PreparedTree(rows, self, data, schedule(self), by_means)


class PreparedTree(PreparedBins):
    """Grows trees on binned rows."""

    options: Tree

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Grow a tree for the current weights."""
        options, data = self.options, self.data
        if options.outputs == "leaf":
            key = key_from(rng)
            if isinstance(data, BinnedBlocks):
                return _on_blocks(options, data, weights, focus, key, self.draw)
            if isinstance(weights, Weights) or weights.is_parabola:
                found = _at_once(options, data, weights, focus, key)
            else:
                found = _step_by_step(options, data, weights, focus, key)
            assert isinstance(found.term, Trees)
            return found._replace(term=self._named(found.term))
        search = search_of(data, focus, self.draw, self.schedule)
        if options.criterion == "risk":
            return search.candidate(tree_with_one_output(options.depth, search, weights))
        return search.candidate(
            tree_by_criterion(options.criterion, options.depth, search, weights)
        )

    @property
    def goes_ahead(self) -> bool:
        """Only trees whose leaves have their own outputs, of samples in memory."""
        return self.options.outputs == "leaf" and isinstance(self.data, TrainingSet)

    def go_ahead(self, ahead: Ahead) -> list[Terms]:
        """Grow a tree in each of several rounds (kernels.boost_trees)."""
        assert isinstance(self.data, TrainingSet)
        trees = _several(self.options, self.data, ahead)
        return [self._named(trees)] if len(trees) else []

    def _named(self, trees: Trees) -> Trees:
        """Trees that split on features and means of levels, from trees that split on columns."""
        return trees if self.by_means is None else trees.on_columns(self.by_means.columns)

    def covered(self, term: Terms, where: Where) -> Terms:
        """The term itself, if the kernel that grew it has recorded the weight in each leaf."""
        if self.options.outputs == "leaf":
            return term
        return super().covered(term, where)


# ---- an output vector for each leaf


def _at_once(
    options: Tree,
    data: TrainingSet,
    weights: AnyWeights,
    focus: Focus,
    key: int,
) -> Candidate:
    """Grow a tree on a random binarization of the classes, then solve each leaf's output for all classes.

    An exact search would compare Σ_k P_k²/S_k of all leaves, with K sums for each bin. Along one
    direction u this is ⟨P, u⟩²/⟨S, u²⟩: two sums for each bin, for any K. A new random u in every round
    serves all classes in turn. On five data sets, a prototype was within noise of the leading
    eigenvector [LOCAL, Sec. 4] and of seven directions, in a fraction of the time. On 18 data sets,
    three directions were slightly more accurate, but slower.
    """
    depth, shape = options.depth, (2**options.depth, len(weights.totals))
    tree = data.tree_memory(depth)
    leaves = LeafSums(np.empty(shape), np.empty(shape), np.empty(shape))
    settings = LeafTreeOptions(key, options.least_mass, options.smoothing)
    scratch = data.tree_scratch(depth)
    if isinstance(weights, Slopes):
        n_layers, edge = kernels.active.propose_on_slopes(
            data.bins,
            data.tree_data,
            focus,
            weights.arrays,
            settings,
            tree,
            leaves,
            scratch,
            data.n_threads,
        )
    else:
        n_layers, edge = kernels.active.propose_tree(
            data.bins,
            data.tree_data,
            focus,
            weights.planes,
            weights.totals,
            settings,
            tree,
            leaves,
            scratch,
            data.n_threads,
        )
    if n_layers < depth:
        leaves = LeafSums(*(sums[: 2**n_layers] for sums in leaves))
    nodes, term = _term(tree, n_layers, leaves.outputs)
    return Candidate(term, tree.regions, leaves.plus, leaves.minus, rho=edge, nodes=nodes)


def _several(options: Tree, data: TrainingSet, ahead: Ahead) -> Trees:
    """The trees of several rounds."""
    depth, n_rounds, n_classes = options.depth, len(ahead.keys), len(ahead.training.totals)
    shape, n_nodes = (2**depth, n_classes), 2**depth - 1
    leaves = LeafSums(np.empty(shape), np.empty(shape), np.empty(shape))
    n_tables = n_nodes if not data.bins.categorical.any() else max(n_nodes, TABLES_AT_ONCE)
    table = TreeTable.empty(n_rounds, depth, n_classes, n_tables)
    plan = TreePlan(
        ahead.samples,
        ahead.allowed,
        ahead.keys,
        options.least_mass,
        options.smoothing,
        ahead.shrinkage,
        ahead.least_total,
    )
    bins = ahead.bins
    n_done = kernels.active.boost_trees(
        data.bins,
        data.tree_data,
        data.no_others if bins is None else bins,
        plan,
        ahead.training,
        ahead.held,
        TreeMemory(data.tree_memory(depth), leaves, data.tree_scratch(depth)),
        table,
        ahead.log,
        data.n_threads,
    )
    depths = table.depths[:n_done]
    n_leaves = int((1 << depths.astype(np.int64)).sum())
    n_used = n_leaves - n_done
    category = table.category[:n_used]
    return Trees(
        depths,
        table.features[:n_used],
        table.thresholds[:n_used],
        table.missing_right[:n_used],
        category,
        table.right[: category.max(initial=-1) + 1],
        np.zeros(n_leaves, dtype=np.int8),
        table.outputs[:n_leaves],
        table.cover[:n_leaves],
    )


def _step_by_step(
    options: Tree, data: TrainingSet, weights: AnyWeights, focus: Focus, key: int
) -> Candidate:
    """The same with weights of any loss."""
    pairing, search = _search(options, weights, key)
    values = pairing.pairs(weights.scored, weights.n_threads)
    tree, n_layers = data.grow(values, focus, options.depth, search)
    plus, minus = weights.sums(tree.regions, 2**n_layers)
    outputs = weights.leaf_outputs(tree.regions, plus, minus, options.smoothing)
    nodes, term = _term(tree, n_layers, outputs)
    return Candidate(term, tree.regions, plus, minus, nodes=nodes)


def _on_blocks(
    options: Tree,
    data: BinnedBlocks,
    weights: AnyWeights,
    focus: Focus,
    key: int,
    draw: Draw | None,
) -> Candidate:
    """The same on rows in several blocks: one question a layer."""
    pairing, search = _search(options, weights, key)
    nodes = join_layers(data.grow(pairing, draw, options.depth, search, focus.allowed))
    plus, minus = weights.sums(nodes, len(nodes.features) + 1)
    outputs = weights.leaf_outputs(nodes, plus, minus, options.smoothing)
    tree = Trees.grown(nodes, data.binner, None, outputs)
    return Candidate(tree.with_cover(data.cover(weights.cover)), nodes, plus, minus)


def _search(
    options: Tree, weights: AnyWeights, key: int
) -> tuple[OfWeights | OfQuantity, SearchOptions]:
    """Pairs along a random direction, and how splits are chosen by them."""
    direction = direction_of(weights.totals, key)
    pairing, mass = weights.projection(direction, direction**2)
    # A gain below one fixed-point unit is a rounding error: a pure leaf must not be split.
    least = max(1, round(options.least_mass * mass))
    return pairing, SearchOptions(CRITERIA["variance"], least, 1.0)


def _term(tree: GrownTree, n_layers: int, outputs: Outputs) -> tuple[Layer, Trees]:
    """Splits on bins, and on values, of the layers that have a split."""
    n = 2**n_layers - 1
    nodes = Layer(tree.features[:n], tree.right[:n])
    category = tree.category[:n]
    depths, signs = _of_depth(n_layers)
    term = Trees(
        depths,
        nodes.features,
        tree.thresholds[:n],
        tree.missing_right[:n],
        category,
        nodes.right[category >= 0],
        signs,
        outputs,
        tree.cover[: n + 1],
    )
    return nodes, term


@cache
def _of_depth(n_layers: int) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """`depths` and `signs` of a tree with leaf outputs."""
    return np.array([n_layers], dtype=np.int32), np.zeros(2**n_layers, dtype=np.int8)


def direction_of(totals: ByClass, key: int) -> ByClass:
    """The random direction of a key."""
    direction = np.empty(len(totals))
    kernels.active.draw_direction(totals, key, direction, np.empty(len(totals)))
    return direction
