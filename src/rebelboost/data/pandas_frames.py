"""A faster way to encode pandas' frames of plain numbers and known categories.

It gives the same values as `FeatureEncoder.transform_frame`, which looks at one column after the other: on
a single row, that takes many times as long as the prediction. Frames that need a warning, an error or a
conversion are left to it.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Values
from rebelboost.data.encoder import is_present

FEW_ROWS = 4
"""Frames of mixed types with at most this many rows are read cell by cell."""

Codes = Mapping[int, Mapping[Any, float]]
"""Feature → category → code."""


def values_of(X: Any, names: Sequence[Any] | None, codes: Codes) -> Values | None:
    """(N, d) the frame as finite numbers and NaN; None if it is not a pandas frame that can be read at once.

    `names` are the columns that it must have; None if any names are wrong.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or type(X) is not pandas.DataFrame or names is None or len(X) == 0:
        return None
    if X.columns.tolist() != names:
        return None
    kinds = X.dtypes.tolist()
    numeric = [isinstance(kind, np.dtype) and kind.kind in "fiu" for kind in kinds]
    if not codes and all(numeric):
        return _finite(_floats(X.to_numpy()))
    for f, is_number in enumerate(numeric):
        if is_number == (f in codes):
            return None
    if len(X) <= FEW_ROWS and all(_has_categories(pandas, kinds[f]) for f in codes):
        return _by_cell(X.to_numpy(dtype=object), codes)
    return _by_column(pandas, X, codes)


def _floats(array: NDArray[Any]) -> Values:
    """Values in C order, in single precision only if all are."""
    if array.dtype == np.float32:
        return np.ascontiguousarray(array, dtype=np.float32)
    return np.ascontiguousarray(array, dtype=np.float64)


def _finite(values: Values) -> Values | None:
    """The values, or None if one is infinite."""
    return None if np.isinf(values).any() else values


def _has_categories(pandas: Any, kind: Any) -> bool:
    """Whether cells of a column of this type are categories, if the feature is categorical."""
    if isinstance(kind, np.dtype):
        return bool(kind.kind in "Ob")
    return isinstance(kind, pandas.CategoricalDtype | pandas.StringDtype)


def _by_cell(cells: NDArray[np.object_], codes: Codes) -> Values | None:
    values = np.empty(cells.shape)
    for n, row in enumerate(cells.tolist()):
        for f, cell in enumerate(row):
            try:
                values[n, f] = codes[f].get(cell, np.nan) if f in codes else cell
            except TypeError:  # a cell that cannot be a category, such as a list
                return None
            if f in codes and math.isnan(values[n, f]) and is_present(cell):
                return None
    return _finite(values)


def _by_column(pandas: Any, X: Any, codes: Codes) -> Values | None:
    values = np.empty(X.shape)
    for f, (_, column) in enumerate(X.items()):
        found = _codes(pandas, column, codes[f]) if f in codes else column.to_numpy()
        if found is None:
            return None
        values[:, f] = found
    return _finite(values)


def _codes(pandas: Any, column: Any, code: Mapping[Any, float]) -> Floats | None:
    """Codes of a column of categories or text; NaN where it is missing, None if some are not known."""
    if isinstance(column.dtype, pandas.CategoricalDtype):
        places, found = column.cat.codes.to_numpy(), column.cat.categories
    elif isinstance(column.dtype, pandas.StringDtype):
        places, found = pandas.factorize(column)
    else:
        return None
    known = np.array([code.get(each, np.nan) for each in found.tolist()] + [np.nan])
    codes: Floats = known[places]  # a missing value has place −1, the last
    return codes if not np.isnan(codes[places >= 0]).any() else None
