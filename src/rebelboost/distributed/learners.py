"""Learners on spread rows."""

from dataclasses import dataclass
from typing import Any

from rebelboost.base.fixed_point import weight_scale
from rebelboost.distributed.agreement import Sizes, SpreadTable
from rebelboost.distributed.growing import SpreadTree
from rebelboost.distributed.quantiles import spread_binner
from rebelboost.distributed.rows import BinRows
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.signed_trees import SpreadSignedTree
from rebelboost.learners.base import Prepared, WeakLearner
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree


@dataclass(frozen=True)
class SpreadLearner:
    """Prepares a learner on spread rows."""

    spread: SpreadRows
    learner: WeakLearner
    table: SpreadTable
    sizes: Sizes

    @property
    def rounds(self) -> int:
        """Number of rounds used for n_rounds="auto"."""
        return self.learner.rounds

    @property
    def shrinkage(self) -> float:
        """Shrinkage used for shrinkage="auto"."""
        return self.learner.shrinkage

    @property
    def categorical(self) -> Any:
        """Categorical features."""
        return self.learner.categorical

    def prepare(self, samples: Any, n_threads: int = 1) -> Prepared:
        """Let the parts bin their rows."""
        del samples
        sizes, learner = self.sizes, self.learner
        assert isinstance(learner, Tree | Stump)
        scale = weight_scale(sizes.largest_weight, sizes.n_rows) if sizes.weighted else None
        columns = self.table.encoder.categorical
        binner = spread_binner(
            self.spread, columns, learner.bins, learner.binning, scale, sizes.n_rows
        )
        self.spread.ask(BinRows(binner))
        place = None, binner, self.spread, sizes.units.weight, n_threads
        if isinstance(learner, Tree) and learner.outputs == "leaf":
            return SpreadTree(*place, learner)
        return SpreadSignedTree(*place, learner)
