"""Learners on spread rows."""

from dataclasses import dataclass
from typing import Any

from rebelboost.base.arrays import Floats
from rebelboost.base.fixed_point import weight_scale
from rebelboost.distributed.agreement import Sizes, SpreadTable
from rebelboost.distributed.growing import SpreadTree
from rebelboost.distributed.objectives import SpreadPoints
from rebelboost.distributed.point_index import fit_spread_space, index_points
from rebelboost.distributed.quantiles import spread_binner
from rebelboost.distributed.rows import BinRows
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.signed_trees import SpreadSignedTree
from rebelboost.distributed.similarities import SpreadSimilarity
from rebelboost.learners.base import Prepared, WeakLearner
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree


@dataclass(frozen=True)
class SpreadLearner:
    """Prepares a learner on spread rows."""

    spread: SpreadRows
    learner: WeakLearner
    table: SpreadTable
    sizes: Sizes
    costs: Floats | None = None
    """(K, K) that are trained on; None: by sample, or in a regression."""

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
        """Let the parts bin their rows, or map them to points."""
        del samples
        if isinstance(self.learner, Similarity):
            return self._placed(self.learner, n_threads)
        return self._binned(n_threads)

    def _binned(self, n_threads: int) -> Prepared:
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

    def _placed(self, learner: Similarity, n_threads: int) -> Prepared:
        spread, table = self.spread, self.table
        space = fit_spread_space(spread, table, self.sizes, learner.scale)
        index = index_points(spread, space, table, self.costs, self.sizes)
        points = SpreadPoints(
            len(table.classes), len(index.keys), index.total_weight, index.largest_cost
        )
        return SpreadSimilarity(points, learner, index, spread, n_threads)
