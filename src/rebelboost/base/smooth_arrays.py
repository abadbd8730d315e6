"""Arguments of the kernels of smooth similarities."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.float32]
"""(N, R) features of the points. R is a multiple of 8; columns of 0 pad it."""


class DescentOptions(NamedTuple):
    """How a regression is solved."""

    ridge: float
    """Penalty on the squares of the coefficients."""
    precision: float
    """Stop where a step promises to lower the loss by less than half of this."""
    most_steps: int
    """Maximum number of slopes that are computed."""
    n_features: int
    """Number of features that are used, a multiple of 8: the first ones."""
