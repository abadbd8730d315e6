"""Input that is neither a plain array nor a data frame: sparse matrices, arrays of objects, lists, dicts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from rebelboost.base.arrays import Values
from rebelboost.data.encoder import is_present

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
    if isinstance(X, np.ndarray) and X.dtype == object:
        _check_cells(X)


@contextmanager
def refusing(X: Any) -> Iterator[None]:
    """Let refusals of a table name the row and the column that are at fault, if one is."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up all values
            yield
    except (TypeError, ValueError, OverflowError):
        if isinstance(X, list | tuple):
            X = _as_cells(X)
            _check_cells(X)
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fO":
            check_infinite(X.astype(np.float64))
        raise


def check_infinite(values: Values, names: Sequence[str] | None = None) -> None:
    """Raise an error that names the first infinite value."""
    rows, columns = np.nonzero(np.isinf(values))
    if len(rows):
        f = int(columns[0])
        name = f"{f} of X" if names is None else repr(names[f])
        raise ValueError(
            f"column {name} has an infinite value in row {rows[0]}: replace it by NaN, which means "
            "missing, or by a large number"
        )


def _as_cells(rows: Sequence[Any]) -> Any:
    """Lists of rows as an array of objects; the rows have equally many cells."""
    if not all(
        isinstance(row, list | tuple | np.ndarray) and np.ndim(row[:0]) == 1 for row in rows
    ):
        return rows
    widths = [len(row) for row in rows]
    for i, width in enumerate(widths):
        if width != widths[0]:
            raise ValueError(
                f"row {i} of X has {width} cells, but row 0 has {widths[0]}: give each row as many"
            )
    cells = np.empty((len(rows), widths[0] if widths else 0), dtype=object)
    for i, row in enumerate(rows):
        for f, cell in enumerate(row):
            cells[i, f] = cell
    return cells


def _check_cells(X: Any) -> None:
    if np.ndim(X) == 2:
        for f in range(X.shape[1]):
            _check_objects(X[:, f], f)


def _check_objects(column: Any, f: int) -> None:
    """Raise an error that names the first cell of a column that is not a number."""
    try:
        column.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        row, cell = next((i, cell) for i, cell in enumerate(column) if not _is_number(cell))
        kind = type(cell).__name__
        where = f"column {f} of X holds {cell!r} in row {row}"
        if isinstance(cell, int):
            raise ValueError(  # noqa: TRY004  (of the right type, but too large)
                f"column {f} of X holds an integer of {cell.bit_length():,} bits in row {row}, which is no "
                "floating-point number: divide the column by a power of ten"
            ) from None
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
    except (TypeError, ValueError, OverflowError):
        return False
    return np.ndim(cell) == 0


def checked_labels(given: NDArray[Any]) -> NDArray[Any]:
    """Check labels of text or other objects: none is missing, and none is bytes."""
    if given.dtype.kind == "S":
        raise ValueError("y contains bytes: convert them to text, such as y.astype(str)")
    if given.dtype.kind == "O":
        for row, label in enumerate(given.tolist()):
            if not is_present(label):
                raise ValueError(f"row {row} of y has no label: remove rows without a label")
    return np.array(given.tolist(), dtype=str) if given.dtype.kind == "T" else given


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
