"""Trees whose scores rise or fall with some features.

The splits are those of any tree. The outputs of the leaves are then moved to the nearest ones, in squares
weighted by the leaves' boosting weights, that rise as they must (`rebelboost.model.monotone`). As each tree
rises, so does the sum, and averages of such sums.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from rebelboost.learners.base import AnyWeights, Candidate, Focus, WeakLearner
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import PreparedTree, Tree
from rebelboost.model.monotone import DEEPEST, leads, projected, relation_of, with_leads
from rebelboost.model.trees import Trees
from rebelboost.rows.base import Rows


@dataclass(frozen=True, repr=False)
class MonotoneTree(Tree):
    """Trees with an output for each leaf, whose scores rise or fall with some features."""

    directions: tuple[tuple[int, int], ...] = ()
    """(feature, +1 or −1)."""

    crosses: ClassVar[bool] = False  # what a feature does must not depend on another's code

    def prepare(self, rows: Rows, n_threads: int = 1) -> "PreparedMonotone":
        """Bin the rows."""
        found = super().prepare(rows, n_threads)
        return PreparedMonotone(rows, self, found.data, found.schedule, found.by_means)


class PreparedMonotone(PreparedTree):
    """Grows trees one by one, and moves their outputs."""

    options: MonotoneTree

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Grow a tree for the current weights."""
        found = super().propose(weights, focus, rng)
        assert isinstance(found.term, Trees)
        related = relation_of(found.term, dict(self.options.directions))
        outputs = found.term.outputs
        values = leads(outputs)
        if related is not None:
            weight = (found.plus + found.minus).sum(axis=1)
            values = projected(values, weight, related)
        return found._replace(term=found.term.with_outputs(with_leads(outputs, values)))

    @property
    def goes_ahead(self) -> bool:
        """Never: each tree is changed before it is added."""
        return False


def monotone_learner(learner: WeakLearner, directions: Mapping[int, int]) -> MonotoneTree | None:
    """The learner with outputs that rise as they must; None if it cannot promise that."""
    if isinstance(learner, Stump):
        learner = Tree(
            depth=1, bins=learner.bins, binning=learner.binning, categorical=learner.categorical
        )
    if type(learner) is not Tree or learner.outputs != "leaf" or learner.depth > DEEPEST:
        return None
    options = {field.name: getattr(learner, field.name) for field in fields(learner)}
    return MonotoneTree(**options, directions=tuple(sorted(directions.items())))
