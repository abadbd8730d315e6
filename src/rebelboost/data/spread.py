"""How much the values of a column differ: the unit in which changes of a value are measured."""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Bytes, Values

CATEGORY = 1.0
"""What a change to another category counts for."""


class Spreads(NamedTuple):
    """Of each column of the training rows."""

    sizes: tuple[float, ...]
    """(d,) interquartile range; if that is 0, the standard deviation; 1 for categories and for constants."""
    whole: tuple[bool, ...]
    """(d,) True for numbers that are all whole."""

    def of(self, feature: int) -> float:
        """The spread of a column."""
        return self.sizes[feature]

    def is_whole(self, feature: int) -> bool:
        """Whether a column has whole numbers only."""
        return self.whole[feature]


def spreads_of(X: Values, categorical: Bytes) -> Spreads:
    """The spreads of the columns of encoded samples."""
    n_features = X.shape[1]
    sizes, whole = np.ones(n_features), np.zeros(n_features, dtype=bool)
    for f in np.flatnonzero(categorical == 0).tolist():
        values = X[:, f].astype(np.float64)
        values = np.sort(values[~np.isnan(values)])  # sorted: the order of the rows changes no bit
        if len(values) == 0:
            continue
        low, high = np.quantile(values, [0.25, 0.75])
        size = float(high - low) or float(values.std())
        sizes[f] = size if 0 < size < np.inf else CATEGORY
        whole[f] = bool((values == np.floor(values)).all())
    return Spreads(tuple(sizes.tolist()), tuple(whole.tolist()))
