"""model.wrapped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Outputs, Regions, Values

SIGNS = np.array([1, -1], dtype=np.int8)
"""Of a response's two regions."""


SIGNS.flags.writeable = False


@dataclass(frozen=True)
class Wrapped:
    """A fitted classifier of labels ±1: where it predicts +1 is the first region, the rest the second."""

    estimator: Any
    features: NDArray[np.int32]
    """That it was fitted to."""
    n_features: int

    responses = SIGNS
    n_regions = 2

    @property
    def used_features(self) -> NDArray[np.int32]:
        """The features that are asked, rising: all that it was fitted to."""
        return self.features

    def chosen(self, X: Values) -> Values:
        """The columns that the estimator sees."""
        return X if len(self.features) == self.n_features else X[:, self.features]

    def respond(self, X: Values) -> Floats:
        """±1 for each sample."""
        return np.where(self.estimator.predict(self.chosen(X)) > 0, 1.0, -1.0)

    def regions(self, X: Values, n_threads: int = 1) -> Regions:
        """0 where the response is +1, else 1."""
        del n_threads  # the estimator has its own
        return (self.respond(X) < 0).astype(np.uint16)

    def by_region(self, outputs: Outputs) -> Outputs:
        """(2, K): what each region adds to the scores."""
        return outputs

    def describe(self, names: Sequence[str] | None = None) -> str:
        """One line."""
        del names
        return str(type(self.estimator).__name__)
