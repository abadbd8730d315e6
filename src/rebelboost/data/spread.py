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
    """The spreads of the columns of encoded samples. Quartiles are values of the column."""
    n_features = X.shape[1]
    sizes, whole = np.full(n_features, CATEGORY), np.zeros(n_features, dtype=bool)
    numeric = np.flatnonzero(categorical == 0)
    values = np.sort(X[:, numeric].astype(np.float64), axis=0)  # missing ones last
    counts = np.count_nonzero(~np.isnan(values), axis=0)
    places = np.arange(len(numeric))
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = (values[(counts - 1).clip(0) * q // 4, places] for q in (1, 3))
        own = high - low
        for i in np.flatnonzero(own == 0).tolist():
            own[i] = values[: counts[i], i].std()  # sorted: the order of the rows changes no bit
        whole[numeric] = ((values == np.floor(values)) | np.isnan(values)).all(axis=0) & (
            counts > 0
        )
    sizes[numeric] = np.where((own > 0) & (own < np.inf), own, CATEGORY)
    return Spreads(tuple(sizes.tolist()), tuple(whole.tolist()))
