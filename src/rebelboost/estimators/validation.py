"""Validation of what users pass to an estimator: tables, labels, targets, weights, costs and parameters."""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, validate_data

from rebelboost.base.arrays import BySample, Ints, Labels, Values
from rebelboost.base.names import plain
from rebelboost.base.text import warn_caller
from rebelboost.boosting.callbacks import Callback
from rebelboost.data.encoder import FeatureEncoder, as_frame, fit_encoder, is_present
from rebelboost.data.pandas_frames import values_of
from rebelboost.estimators.raw_rows import are_records, as_read, encoded_records
from rebelboost.exceptions import RareClassWarning, SingleClassWarning
from rebelboost.learners.base import traits_of
from rebelboost.losses.classes import AnyClassLoss, loss_kind
from rebelboost.tasks.base import named_learner
from rebelboost.tasks.classes import ClassTask

# ---- tables that are neither plain arrays nor data frames


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


# ---- tables that need neither a conversion nor a check of their types


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


# ---- targets of a regression


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


# ---- all input


FOR_TRAINING = 0.95
"""Share of a time budget after which training ends: what follows, such as averaging fits, takes time too."""


def numbered(given: ArrayLike | None, name: str, n_samples: int) -> Ints | None:
    """(N,) ranks of values that can be sorted."""
    if given is None:
        return None
    values: NDArray[Any] = column_or_1d(given)
    if len(values) != n_samples:
        raise ValueError(f"X has {n_samples} samples, but {name} has {len(values)} values")
    try:
        distinct, ranks = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"{name} has values that cannot be sorted together: turn them all into text or numbers"
        ) from error
    missing = [value for value in distinct.tolist() if value is None or value != value]  # noqa: PLR0124
    if missing:
        raise ValueError(f"{name} has missing values: fill them in, or leave such samples out")
    if len(distinct) < 2:
        raise ValueError(
            f"{name} has one value only, {distinct.tolist()[0]!r}: two at least are needed to leave "
            "some samples out"
        )
    return ranks.astype(np.int64)


# ---- tables


def learn_features(estimator: Any, X: Any, categorical: Any) -> tuple[FeatureEncoder, Values]:
    """Check a training table, record its features on the estimator, and encode it as numbers."""
    array, frame = checked_table(estimator, X, reset=True)
    encoder = fit_encoder(array, frame, categorical)
    return encoder, encoded_table(encoder, array, frame)


def encode_features(estimator: Any, X: Any, encoder: FeatureEncoder) -> Values:
    """Check that a table has the features seen in training, and encode it as numbers."""
    at_once = read_at_once(estimator, X, encoder)
    if at_once is not None:
        return at_once
    if are_records(X) and hasattr(estimator, "feature_names_in_"):
        return encoded_records(estimator, X)
    return encoded_table(encoder, *checked_table(estimator, as_read(estimator, X), reset=False))


def checked_table(estimator: Any, X: Any, *, reset: bool) -> tuple[Any, nw.DataFrame[Any] | None]:
    """Return (array, None), or (None, data frame) for a data frame of any supported library."""
    frame = as_frame(X)
    if frame is not None:
        validate_data(estimator, frame.to_native(), reset=reset, skip_check_array=True)
        return None, frame
    if is_sparse(X):
        return from_sparse(estimator, X, reset=reset), None
    check_kind(X)
    with refusing(X):
        array = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=FLOATS,
            order="C",
            ensure_all_finite="allow-nan",
            ensure_min_samples=1,
        )
    return array, None


def encoded_table(encoder: FeatureEncoder, array: Any, frame: nw.DataFrame[Any] | None) -> Values:
    """Encode a checked table as numbers."""
    if frame is None:
        return encoder.transform_array(array)
    values = encoder.transform_frame(frame)
    check_infinite(values, list(map(str, frame.columns)))
    with refusing(values):
        checked: Values = check_array(values, ensure_all_finite="allow-nan", input_name="X")
    return checked


def index_labels(X: Any, rows: Iterable[int]) -> dict[int, Any]:
    """Row number → label in the table's index, as text or a number; empty if it has no index."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or as_frame(X) is None:
        return {}
    labels = {row: plain(index[row]) for row in rows}
    return {
        row: label if isinstance(label, str | int | float) else str(label)
        for row, label in labels.items()
    }


# ---- labels, targets, weights


def encode_labels(y: ArrayLike, n_samples: int) -> tuple[NDArray[Any], Labels]:
    """Return the sorted classes, and the class code of each label."""
    given: NDArray[Any] = column_or_1d(_without_mask(y), warn=True)
    if len(given) != n_samples:
        raise ValueError(f"X has {n_samples} samples, but y has {len(given)} labels")
    given = checked_labels(given)
    try:
        assert_all_finite(given, input_name="y")
        classes, labels = np.unique(given, return_inverse=True)
        # Whole numbers and text are checked by their codes, for the reason given in base/hashing.py.
        coded = given.dtype.kind in "iubU"
        check_classification_targets(labels.astype(np.float64) if coded else given)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in given}))
        raise ValueError(
            f"y mixes labels of types that cannot be sorted together ({kinds}): remove samples "
            "without a label, and convert the others to text"
        ) from error
    return classes, labels.astype(np.int32)


def _without_mask(y: Any) -> Any:
    """Convert pandas' nullable integers and Booleans to NumPy's, if nothing is missing.

    scikit-learn would convert them to floats.
    """
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if plain is None or plain.kind not in "iub" or y.isna().any():
        return y
    return y.to_numpy(dtype=plain)


def known_labels(
    y: ArrayLike, n_samples: int, known: NDArray[Any], what: str = "the validation labels contain"
) -> Labels:
    """Class codes of labels, using the training classes."""
    classes, labels = encode_labels(y, n_samples)
    unknown = np.setdiff1d(classes, known)
    if len(unknown) > 0:
        raise ValueError(
            f"{what} class {unknown.tolist()[0]!r}, which is not among the training labels"
        )
    return np.searchsorted(known, classes).astype(np.int32)[labels]


def checked_weight(sample_weight: ArrayLike | None, values: Values) -> BySample | None:
    """Check the sample weights, and scale them so that sums neither overflow nor underflow."""
    if sample_weight is None:
        return None
    weight: BySample = _check_sample_weight(
        sample_weight, values, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError("every sample_weight is 0: at least one must be positive")
    return np.ldexp(weight, -np.frexp(weight.max())[1])


def check_same_classes(known: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise an error if a warm start changes the classes."""
    if not np.array_equal(known, classes):
        raise ValueError(
            f"warm_start continues a model with classes {known.tolist()}, but y has "
            f"{classes.tolist()}: set warm_start=False to start over"
        )


def warn_of_few(classes: NDArray[Any], counts: Ints) -> None:
    """Warn if there is only one class, or if a class has only one sample; `counts` are (K,)."""
    if len(classes) == 1:
        warn_caller(
            f"y has only one class, {classes.tolist()[0]!r}: it will always be predicted",
            SingleClassWarning,
        )
    elif counts.min() == 1:
        lone = plain(classes[np.argmin(counts)])
        warn_caller(
            f"class {lone!r} has only one sample: predictions of it are unreliable",
            RareClassWarning,
        )


def missing_features(X: Values) -> list[int]:
    """Indices of the features with missing values."""
    return [int(f) for f in np.flatnonzero(np.isnan(X).any(axis=0))]


# ---- parameters


def threads_of(n_jobs: int | None) -> int:
    """Number of threads for scikit-learn's `n_jobs`, at most the number of cores."""
    return max(1, min(effective_n_jobs(n_jobs), _n_cores()))


@cache
def _n_cores() -> int:
    return int(cpu_count())  # cached, because joblib reads files on every call


def deadline_of(estimator: Any) -> float:
    """Time on the clock of `time.monotonic` at which training ends, if the user's budget begins now."""
    budget = estimator.time_budget
    return math.inf if budget is None else time.monotonic() + FOR_TRAINING * budget


def seed_of(random_state: Any) -> int:
    """Draw a seed from `random_state`; None means a fixed seed."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_callbacks(callbacks: Sequence[Callback] | None) -> None:
    """Raise an error if a callback lacks a required method."""
    for callback in callbacks or ():
        if not (hasattr(callback, "on_rounds") and hasattr(callback, "on_end")):
            raise TypeError(
                f"callback {callback!r} lacks on_rounds(batch) or on_end(): give an object "
                "with both, such as a subclass of rebelboost.boosting.rounds.History"
            )


def check_cross_fit(estimator: Any, *, validated: bool) -> None:
    """Raise an error if something else than the cross-fit is to choose the number of rounds too."""
    alone = {
        "early_stopping": estimator.early_stopping,
        "warm_start": estimator.warm_start,
        "validation": validated,
    }
    for name, given in alone.items():
        if estimator.cross_fit not in ("auto", None) and given:
            raise ValueError(
                f"cross_fit={estimator.cross_fit} chooses the number of rounds itself and cannot be "
                f"combined with {name}: remove one of them"
            )


def check_agreement(clf: Any, *, validated: bool) -> None:
    """Raise an error if parameters of a classifier contradict one another."""
    check_cross_fit(clf, validated=validated)
    if clf.reject_cost is not None and clf.reject_label is None and clf.reject_budget is None:
        raise ValueError(
            f"reject_cost={clf.reject_cost:g} needs a reject_label for predict to return"
        )
    check_callbacks(clf.callbacks)
    if traits_of(named_learner(ClassTask, clf.learner)).compares_rows:
        _check_similarity(clf.loss, clf.feature_subsample)


def _check_similarity(loss: AnyClassLoss, feature_subsample: float) -> None:
    """Raise an error for options that similarities do not support."""
    if not loss_kind(loss).is_multiplied:
        raise ValueError(
            f"similarities support only the exponential loss, not loss={loss!r}: remove it, "
            "or use trees"
        )
    if feature_subsample < 1:
        raise ValueError(
            f"feature_subsample={feature_subsample:g} does not apply to similarities, whose "
            "distances use all features: remove it, or use trees"
        )
