"""Input that is neither a plain array nor a data frame: sparse matrices, arrays of objects, dicts."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from rebelboost.base.arrays import Values

MOST_BYTES = 8 << 30
"""Maximum size of the array that a sparse matrix becomes."""
FLOATS = [np.float64, np.float32]


def check_kind(X: Any) -> None:
    """Raise an error for input that scikit-learn's checks would refuse in other words, or not at all."""
    if isinstance(X, dict):
        names = ", ".join(map(str, list(X)[:3]))
        raise ValueError(  # noqa: TRY004  (a ValueError, as for all other input)
            f"X is a dict ({names}, …): make a data frame of it, such as pandas.DataFrame(X)"
        )
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2:
        for f in range(X.shape[1]):
            _check_objects(X[:, f], f)


def _check_objects(column: Any, f: int) -> None:
    """Raise an error that names the first cell of a column that is not a number."""
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        row, cell = next((i, cell) for i, cell in enumerate(column) if not _is_number(cell))
        kind = type(cell).__name__
        where = f"column {f} of X holds {cell!r} in row {row}"
        if isinstance(cell, str):
            raise ValueError(  # noqa: TRY004  (as scikit-learn does)
                f"{where}: pass a data frame, whose columns of text are categories, or encode text "
                "as numbers"
            ) from None
        raise TypeError(
            f"{where}, a {kind}: the argument must be an array of numbers, or a data frame with "
            "columns of string or number type"
        ) from None


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def from_sparse(estimator: Any, X: Any, *, reset: bool) -> Values:
    """Check a sparse matrix and convert it to an array; entries that are not stored are 0."""
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=FLOATS,
        accept_sparse=["csr", "csc"],
        ensure_all_finite="allow-nan",
        ensure_min_samples=1,
    )
    n_bytes = checked.shape[0] * checked.shape[1] * checked.dtype.itemsize
    if n_bytes > MOST_BYTES:
        raise ValueError(
            f"X is sparse, of shape {checked.shape}, and would take {n_bytes / 2**30:.0f} GiB as an array: "
            "reduce its columns first, for example by SelectKBest or TruncatedSVD, or use fewer rows"
        )
    values: Values = checked.toarray(order="C")
    return values


def is_sparse(X: Any) -> bool:
    """Whether `X` is a matrix or array of `scipy.sparse`."""
    return bool(sparse.issparse(X))
