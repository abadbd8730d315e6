"""Validation of what users pass to an estimator: tables, labels, weights, costs and parameters."""

import math
import time
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, validate_data

from rebelboost.base.arrays import BySample, Ints, Labels, Values
from rebelboost.base.names import plain
from rebelboost.base.warning import warn_caller
from rebelboost.boosting.callbacks import Callback
from rebelboost.data.encoder import FeatureEncoder, as_frame, fit_encoder
from rebelboost.estimators.plain import read_at_once
from rebelboost.estimators.unusual import (
    FLOATS,
    check_infinite,
    check_kind,
    checked_labels,
    from_sparse,
    is_sparse,
    refusing,
)
from rebelboost.exceptions import RareClassWarning, SingleClassWarning
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.smooth import SmoothSimilarity
from rebelboost.tasks.base import named_learner
from rebelboost.tasks.classes import ClassTask

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
    return encoded_table(encoder, *checked_table(estimator, X, reset=False))


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
        # Whole numbers and text are checked by their codes, for the reason given in base/distinct.py.
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


def known_labels(y: ArrayLike, n_samples: int, known: NDArray[Any]) -> Labels:
    """Class codes of validation labels, using the training classes."""
    classes, labels = encode_labels(y, n_samples)
    unknown = np.setdiff1d(classes, known)
    if len(unknown) > 0:
        raise ValueError(
            f"the validation labels contain class {unknown.tolist()[0]!r}, "
            "which is not among the training labels"
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
        if not (hasattr(callback, "on_round") and hasattr(callback, "on_end")):
            raise TypeError(
                f"callback {callback!r} lacks on_round(record) or on_end(): give an object "
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
    if clf.reject_cost is not None and clf.reject_label is None:
        raise ValueError(
            f"reject_cost={clf.reject_cost:g} needs a reject_label for predict to return"
        )
    check_callbacks(clf.callbacks)
    if isinstance(named_learner(ClassTask, clf.learner), Similarity | SmoothSimilarity):
        _check_similarity(clf.loss, clf.feature_subsample)


def _check_similarity(loss: str, feature_subsample: float) -> None:
    """Raise an error for options that similarities do not support."""
    if loss != "exponential":
        raise ValueError(
            f"similarities support only the exponential loss, not loss={loss!r}: remove it, "
            "or use trees"
        )
    if feature_subsample < 1:
        raise ValueError(
            f"feature_subsample={feature_subsample:g} does not apply to similarities, whose "
            "distances use all features: remove it, or use trees"
        )
