"""What decisions cost on average, as a function of a sample's values.

Costs that were given for each training sample are not known of new ones. Where they depend on the
features, as the cost of a missed fraud on its amount, trees learn them: one regression for each cell of
the cost matrix that varies.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Values
from rebelboost.model.ensemble import Ensemble


class LearnedCell(NamedTuple):
    """A cost that depends on the sample: `baseline`, and what the terms add to it."""

    true: int
    decided: int
    """−1: the terms predict a factor of the whole row."""
    baseline: float
    ensemble: Ensemble

    def predict(self, X: Values, n_threads: int = 1) -> Floats:
        """(N,) expected costs, or factors; never negative."""
        return np.maximum(self.baseline + self.ensemble.scores(X, n_threads)[:, 0], 0.0)


class LearnedCosts(NamedTuple):
    """The cells of the cost matrix that depend on the sample."""

    cells: Sequence[LearnedCell]

    def applied(self, matrix: Floats, X: Values, n_threads: int = 1) -> Floats:
        """(N, K, K) the matrix, with those cells replaced by what is expected for each sample."""
        cube = np.tile(matrix, (len(X), 1, 1))
        for cell in self.cells:
            predicted = cell.predict(X, n_threads)
            if cell.decided < 0:
                cube[:, cell.true] *= predicted[:, np.newaxis]
            else:
                cube[:, cell.true, cell.decided] = predicted
        return cube
