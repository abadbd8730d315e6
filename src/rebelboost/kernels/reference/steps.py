"""Piecewise constant functions of single features."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

import numpy as np

from rebelboost.base.arrays import Scores, Values
from rebelboost.base.kernel_arrays import StepArrays

MOST_CODES = 256


def add_steps(X: Values, steps: StepArrays, scores: Scores, n_threads: int) -> None:
    """Add the outputs of all functions to the scores, in this order."""
    for i, feature in enumerate(steps.features.tolist()):
        x = X[:, feature].astype(np.float64)
        if steps.categorical[i]:
            known = (x >= 0) & (x < MOST_CODES)
            row = np.where(known, x, MOST_CODES).astype(np.int64)
        else:
            thresholds = steps.thresholds[steps.starts[i] : steps.starts[i + 1]]
            row = np.searchsorted(thresholds, x)
            row[np.isnan(x)] = len(thresholds) + 1
        scores += steps.outputs[steps.rows[i] + row]
