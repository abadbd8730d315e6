"""QuickBoost: find the same trees in less time [QUICK].

A search visits the heaviest samples first, and drops a feature once the samples still to come could
not make it the best. The kernels compute the bounds; this module decides in which subsets they visit the
samples, and whether pruning is worth trying.
"""

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from rebelboost.base.arrays import Floats, Ints, Nodes, Work
from rebelboost.data.training_set import TrainingSet

Search = Literal["auto", "pruned", "exhaustive"]
SEARCHES = get_args(Search)
Steps = int | Literal["auto"]

TAKEN = 0.25
"""Share of the weight left that each automatic step takes: a feature is dropped once the weight left
is less than what it lacks, so that steps get finer as features get close."""
MOST_STEPS = 20

PAYS = 0.4
"""A pruned search is worth its while if it makes fewer than this share of all visits: one of its
visits costs up to twice as much, since its samples are not side by side in memory, and they have to
be ordered first. At 0.5, stumps took a sixth more time than with exhaustive search."""
MOST_HEAVY = 0.5
"""A node whose first subset is a larger share of its samples is searched at once."""
LONGEST_WAIT = 8
"""Rounds until pruning is tried again where it did not pay. What it saves grows as weights gather on
few samples, so that to wait longer costs more than to try."""


@dataclass
class Schedule:
    """In which subsets a search visits a node's samples; remembers whether that has paid."""

    search: Search
    first: float
    steps: Steps
    waits: dict[int, tuple[int, int]] = field(default_factory=dict, repr=False)
    """By layer of a tree: how many rounds until, and since, a pruned search is tried again."""

    @property
    def shares(self) -> Floats:
        """Of the weight: what the first subset holds, then equal steps [QUICK, Sec. 4.1] or falling ones."""
        if self.steps == "auto":
            return 1 - (1 - self.first) * (1 - TAKEN) ** np.arange(MOST_STEPS, dtype=float)
        return self.first + (1 - self.first) * np.arange(self.steps) / self.steps

    def keys(self, values: Ints) -> Ints:
        """By which the samples of a layer are ordered, given what each prefers.

        Automatically with their sign, so that the lighter side comes sooner: in a node that is
        nearly pure every feature gets the heavier side right, and only the lighter one tells.
        """
        return values if self.steps == "auto" else np.abs(values)

    def subsets(
        self, data: TrainingSet, keys: Ints, nodes: Nodes, place: int
    ) -> tuple[Nodes, float]:
        """Cut the samples of each node, the heaviest first; or leave them, to be searched at once.

        `place` tells apart searches of which one is no guide to the other: a tree's layers. Also
        returns the share of the samples that are in first subsets; NaN where they were not ordered.
        """
        if self.search == "exhaustive" or (self.search == "auto" and self._waits(place)):
            return _whole(nodes), math.nan
        cut = data.heaviest_first(keys, nodes, self.shares)
        begin, first, end = cut.cuts[:, 0], cut.cuts[:, 1], cut.cuts[:, -1]
        heavy = float((first - begin).sum() / max(1, int((end - begin).sum())))
        if self.search == "auto":
            at_once = first - begin > MOST_HEAVY * (end - begin)
            cut.cuts[at_once, 1:] = cut.cuts[at_once, -1:]
        return cut, heavy

    def note(self, nodes: Nodes, work: Work, place: int) -> None:
        """Remember whether pruning has paid. No result depends on it."""
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


def _whole(nodes: Nodes) -> Nodes:
    return Nodes(nodes.samples, np.stack([nodes.cuts[:, 0], nodes.cuts[:, -1]], axis=1))
