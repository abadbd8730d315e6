"""Checks of the trees in a model file."""

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Floats, Ints, Outputs
from rebelboost.base.checks import require

_NONE = -1
"""Stands for no feature, or no row of `right`."""
AT_ONCE = 1024
"""Number of leaves checked at a time, to keep copies small."""


def check_nodes(
    features: NDArray[np.int32],
    thresholds: Floats,
    missing_right: Bytes,
    table_nodes: Ints,
    categorical: NDArray[np.bool_],
) -> None:
    """Check that every split can be walked, whatever the sample."""
    tests = features != _NONE
    require((thresholds > -np.inf).all(), "a threshold that is not a number")  # also rejects NaN
    of_categories = tests & categorical[features] if len(categorical) else np.zeros_like(tests)
    require(
        np.array_equal(np.flatnonzero(of_categories), table_nodes),
        "category tables that do not match the nodes with categorical features",
    )
    endless = np.isposinf(thresholds)
    require(endless[of_categories].all(), "a threshold at a categorical feature")
    idle = endless[~tests].all() and not missing_right[~tests].any()
    require(idle, "a node without a split that sends samples right")


def check_signs(signs: NDArray[np.int8], outputs: Outputs, n_leaves: Ints) -> None:
    """Check that leaves with signs share one output vector; `n_leaves` (T,) are those of each tree."""
    leaves = np.flatnonzero(signs)
    first = np.repeat(np.cumsum(n_leaves) - n_leaves, n_leaves)[leaves]
    for some in np.array_split(np.arange(len(leaves)), len(leaves) // AT_ONCE + 1):
        own, lead = leaves[some], first[some]
        turned = signs[own] * signs[lead]
        shared = turned[:, np.newaxis] * outputs[lead]
        alike = np.array_equal(outputs[own], shared)
        require(alike, "a tree whose leaves have signs but do not share one output")
