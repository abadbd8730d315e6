"""QuickBoost: find the same trees in less time [QUICK].

The search visits the heaviest samples first, and drops a feature as soon as the remaining samples
cannot make it the best. The kernels compute the bounds. This module chooses the subsets in which
samples are visited, and decides whether pruning is worth trying.
"""

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from rebelboost.base.arrays import Floats, Ints, Nodes, Work
from rebelboost.base.cached import cached_property
from rebelboost.data.training_set import TrainingSet

Search = Literal["auto", "pruned", "exhaustive"]
SEARCHES = get_args(Search)
Steps = int | Literal["auto"]

TAKEN = 0.25
"""Fraction of the remaining weight that each automatic step takes. A feature is dropped once the remaining
weight is less than its distance to the best, so steps get finer as features get closer.
"""
MOST_STEPS = 20
"""Maximum number of automatic steps."""

PAYS = 0.4
"""A pruned search pays off if it makes fewer than this fraction of all visits. Each of its visits costs up
to twice as much, because its samples are not contiguous in memory and must be sorted first. At 0.5,
stumps took one sixth more time than with exhaustive search.
"""
MOST_HEAVY = 0.5
"""If the first subset holds a larger fraction of a node's samples, the node is searched in one step, unless
the steps are the paper's: screening step by step would take longer.
"""
MOST_OF_CLASSES = 0.25
"""The same where each class is screened apart: on ten classes of MNIST, subsets with half of the samples drop
one feature in eight, and screening them takes as long as half a full search.
"""
LONGEST_WAIT = 8
"""Maximum number of rounds before pruning is tried again where it did not pay off. Savings grow as weights
concentrate on few samples, so waiting longer would cost more than trying.
"""


@dataclass
class Schedule:
    """Subsets in which a search visits a node's samples, and whether pruning has paid off so far."""

    search: Search
    first: float
    steps: Steps
    waits: dict[int, tuple[int, int]] = field(default_factory=dict, repr=False)
    """Layer of a tree → (rounds left until pruning is tried again, length of the last wait)."""

    @cached_property
    def shares(self) -> Floats:
        """Cumulative fractions of the weight at the end of each subset but the last.

        The first subset is followed by equal steps [QUICK, Sec. 4.1] or by shrinking ones.
        """
        if self.steps == "auto":
            return 1 - (1 - self.first) * (1 - TAKEN) ** np.arange(MOST_STEPS, dtype=float)
        return self.first + (1 - self.first) * np.arange(self.steps) / self.steps

    def keys(self, values: Ints) -> Ints:
        """Sort keys of the samples in a layer, given how strongly each prefers a response of +1.

        Automatic steps keep the sign, so that the lighter side comes first. In a nearly pure node, every
        feature gets the heavier side right, and only the lighter side tells features apart.
        """
        return values if self.steps == "auto" else np.abs(values)

    def subsets(
        self,
        data: TrainingSet,
        keys: Ints,
        nodes: Nodes,
        place: int,
        most_heavy: float = MOST_HEAVY,
    ) -> tuple[Nodes, float]:
        """Divide the samples of each node into subsets, heaviest first, or leave them undivided.

        `place` is the layer of the tree; whether pruning pays off is recorded separately for each layer. Also
        returns the fraction of the samples that are in first subsets; NaN if samples were not sorted.
        """
        if self.search == "exhaustive" or (self.search == "auto" and self._waits(place)):
            return nodes, math.nan
        cut = data.heaviest_first(keys, nodes, self.shares)
        begin, first, end = cut.cuts[:, 0], cut.cuts[:, 1], cut.cuts[:, -1]
        heavy = float((first - begin).sum() / max(1, int((end - begin).sum())))
        if self.steps == "auto":
            at_once = first - begin > most_heavy * (end - begin)
            if at_once.all():
                return nodes, heavy
            for node in np.flatnonzero(at_once):
                cut.cuts[node, 1:] = end[node]
                own = slice(begin[node], end[node])
                cut.samples[own] = nodes.samples[own]
        return cut, heavy

    def note(self, nodes: Nodes, work: Work, place: int) -> None:
        """Record whether pruning has paid off. This affects speed only, never a result."""
        if self.search != "auto" or nodes.cuts.shape[1] == 2:
            return
        if work.visited <= PAYS * work.possible:
            self.waits[place] = (0, 1)
        else:
            _, last = self.waits.get(place, (0, 1))
            wait = min(2 * last, LONGEST_WAIT)
            self.waits[place] = (wait, wait)

    def _waits(self, place: int) -> bool:
        left, last = self.waits.get(place, (0, 1))
        self.waits[place] = (max(0, left - 1), last)
        return left > 0
