"""Stumps and trees.

A tree has one output vector, which each leaf takes with its own sign [REBEL, Sec. 4], or an output
vector for each leaf, which the papers do not have.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rebelboost.base.arrays import CRITERIA, ByClass, SearchOptions
from rebelboost.data.training_set import TrainingSet, bin_samples
from rebelboost.learners.base import Candidate, Focus, Prepared
from rebelboost.learners.growing import GROWING, Criterion, tree_by_criterion, tree_with_one_output
from rebelboost.learners.options import (
    Binning,
    Categorical,
    check_bins,
    check_choice,
    check_number,
    check_search,
    schedule,
)
from rebelboost.learners.pruning import Schedule, Search, Steps
from rebelboost.losses.smooth import AnyWeights
from rebelboost.model.trees import MOST_DEPTH, Trees

LEAST_MASS = 1e-4


@dataclass(frozen=True)
class Tree:
    """Decision trees as weak learners.

    Parameters
    ----------
    depth
        Number of layers.
    outputs
        "leaf": every leaf has its own output vector. "tree": one output vector for the whole tree,
        taken by each leaf with its sign, as in the papers.
    bins
        Bins of a numeric feature, at most 255, not counting the one for missing values.
    binning
        "quantile", "even" or "exact"; see `rebelboost.data.binning.fit_binner`.
    smoothing
        For "leaf": draws the outputs of light leaves to 0. In units of a leaf's average mass.
    categorical
        "from_dtype": columns of a data frame with a categorical, text or Boolean type. Or a list
        of names, of indices, or a mask.
    least_mass
        For "leaf": no leaf has a smaller share of the mass that the tree is grown on.
    criterion
        For "tree": what splits are chosen by. "risk": the loss, as REBEL does. The classic ones,
        "error", "gini", "entropy", "gain_ratio" and "variance" (for labels the same as "gini"), see
        two classes only: those on either side of the leading direction of the weights.
    search
        For "tree": how the best splits are found; the trees are the same. "pruned" visits heavy
        samples first and drops features that can no longer be the best [QUICK]; "exhaustive"
        visits all; "auto" does what has paid of late.
    first_subset
        Share of the weight that a pruned search visits before it first drops features.
    subset_steps
        In how many equal steps it then visits the rest, as in the paper; or "auto": in steps that
        get smaller, with the lighter side of a node first.
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
                f"criterion={self.criterion!r} is for trees with one output: give outputs='tree' too"
            )
        check_bins(self)
        check_search(self)
        if not 0 <= self.smoothing < np.inf:
            raise ValueError(f"smoothing is {self.smoothing!r}: give a finite number, 0 or more")
        if not 0 <= self.least_mass <= 0.5:
            raise ValueError(f"least_mass is {self.least_mass!r}: give a share from 0 to 0.5")

    @property
    def rounds(self) -> int:
        """The number of rounds that n_rounds="auto" stands for."""
        return 400 if self.outputs == "leaf" else 1000

    @property
    def shrinkage(self) -> float:
        """The shrinkage that "auto" stands for."""
        return 0.3 if self.outputs == "leaf" else 1.0

    def prepare(self, samples: Any, n_threads: int = 1) -> "PreparedTree":
        """Bin the samples."""
        data = bin_samples(samples, self.bins, self.binning, n_threads)
        return PreparedTree(samples, self, data, schedule(self))


@dataclass
class PreparedTree(Prepared):
    """Grows trees on binned samples."""

    options: Tree
    data: TrainingSet
    schedule: Schedule

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Grow a tree for the weights."""
        options = self.options
        if options.outputs == "leaf":
            return _tree_with_leaf_outputs(options, self.data, weights, focus, rng)
        growing = options.depth, self.data, weights, focus, self.schedule
        if options.criterion == "risk":
            return tree_with_one_output(*growing)
        return tree_by_criterion(options.criterion, *growing)


# ---- an output vector for each leaf


def _tree_with_leaf_outputs(
    options: Tree, data: TrainingSet, weights: AnyWeights, focus: Focus, rng: np.random.Generator
) -> Candidate:
    """Grow on a random binarization of the classes, then solve every leaf's output for all classes.

    An exact search would compare Σ_k P_k²/S_k of all leaves, with K sums for each bin. Along one
    direction u it is ⟨P, u⟩²/⟨S, u²⟩: two sums for each bin, whatever K. A new random u in every
    round serves all classes in turn. In a prototype it came within noise of the leading eigenvector
    [LOCAL, Sec. 4] and of seven directions on five sets, in a fraction of the time; on 18 sets
    three directions were a little more accurate, and slower.
    """
    direction = random_direction(weights.totals, rng)
    values, mass = weights.project(direction, direction**2)
    # A gain below one unit of the fixed point is rounding: a pure leaf must stay whole.
    search = SearchOptions(CRITERIA["variance"], max(1, round(options.least_mass * mass)), 1.0)
    nodes = data.grow(values, focus.samples, options.depth, search, focus.allowed)
    regions = data.route(nodes)
    plus, minus = weights.sums(regions, len(nodes.features) + 1)
    outputs = weights.leaf_outputs(regions, plus, minus, options.smoothing)
    tree = Trees.grown(nodes, data.binner, None, outputs)
    return Candidate(tree, regions, plus, minus)


def random_direction(totals: ByClass, rng: np.random.Generator) -> ByClass:
    """Return a direction among the classes, the same for every class in units of √S_k.

    It is centred, so that for two classes it is always one against the other.
    """
    if len(totals) == 1:  # a regression
        return np.ones(1)
    direction = rng.standard_normal(len(totals))
    direction -= direction.mean()
    size = np.abs(direction).max()
    unit = np.sqrt(totals / totals.max()) if totals.max() > 0 else np.ones(len(totals))
    return np.divide(direction / size, unit, out=np.zeros(len(totals)), where=unit > 0)
