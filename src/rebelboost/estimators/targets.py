"""The numbers that a regressor learns to predict."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import assert_all_finite

from rebelboost.base.arrays import BySample

LARGEST_TARGET, LEAST_SPREAD = 1e150, 1e-100


def encode_target(y: ArrayLike, n_samples: int) -> BySample:
    """Check the target of a regression, and convert it to floats."""
    given: NDArray[Any] = column_or_1d(y, warn=True)
    if len(given) != n_samples:
        raise ValueError(f"X has {n_samples} samples, but y has {len(given)} targets")
    try:
        target: BySample = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y contains {given.tolist()[0]!r}, but regression predicts numbers: "
            "use RebelClassifier to predict classes"
        ) from error
    assert_all_finite(target, input_name="y")
    if np.abs(target).max(initial=0.0) > LARGEST_TARGET:
        raise ValueError(
            f"y reaches {np.abs(target).max():g}, whose square overflows: divide y by a power of ten"
        )
    return target


def check_spread(target: BySample) -> None:
    """Raise an error if the squares of all differences are 0 in floating point."""
    width = float(np.ptp(target))
    if 0 < width < LEAST_SPREAD:
        raise ValueError(
            f"y varies by {width:g}, whose square underflows: multiply y by a power of ten"
        )
