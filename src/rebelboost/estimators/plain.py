"""Input that needs neither a conversion nor a check of its types: plain arrays, and most pandas frames."""

from typing import Any

import numpy as np

from rebelboost.base.arrays import Values
from rebelboost.data.encoder import FeatureEncoder
from rebelboost.data.pandas_frames import values_of
from rebelboost.estimators.unusual import FLOATS


def read_at_once(estimator: Any, X: Any, encoder: FeatureEncoder) -> Values | None:
    """The values of a plain array or pandas frame in which there is nothing to convert or to object to.

    The general checks take longer than the prediction of a row. They follow if this returns None.
    """
    names = getattr(estimator, "feature_names_in_", None)
    if type(X) is not np.ndarray:
        return values_of(X, None if names is None else names.tolist(), encoder.codes)
    plain = (
        names is None
        and not encoder.levels
        and X.dtype in FLOATS
        and X.ndim == 2
        and X.shape[1] == encoder.n_features
        and X.flags.c_contiguous
        and len(X) > 0
    )
    return X if plain and not np.isinf(X).any() else None
