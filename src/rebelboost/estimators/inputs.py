"""What comes in through scikit-learn's door: tables, labels and weights, checked and encoded."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, validate_data

from rebelboost.base.arrays import BySample, Labels, Values
from rebelboost.base.names import plain
from rebelboost.data.encoder import FeatureEncoder, as_frame, fit_encoder
from rebelboost.exceptions import RareClassWarning, SingleClassWarning

LARGEST_TARGET = 1e150


class TableInput:
    """Part of an estimator: remembers the features' names and levels, and encodes tables."""

    _encoder: FeatureEncoder

    def _encode(self, X: Any, categorical: Any = None) -> Values:
        """Check `X` and turn it into numbers; given which are `categorical`, learn the features first."""
        frame = as_frame(X)
        fit = categorical is not None
        if frame is None:
            X = validate_data(
                self,
                X,
                reset=fit,
                dtype=[np.float64, np.float32],
                order="C",
                ensure_all_finite="allow-nan",
                ensure_min_samples=1,
            )
        else:
            validate_data(self, frame.to_native(), reset=fit, skip_check_array=True)
        if fit:
            self._encoder = fit_encoder(X, frame, categorical)
        if frame is None:
            return self._encoder.transform_array(X)
        values = self._encoder.transform_frame(frame)
        checked: Values = check_array(values, ensure_all_finite="allow-nan", input_name="X")
        return checked


def index_labels(X: Any, rows: Iterable[int]) -> dict[int, Any]:
    """Row → what the index of a table calls it, as text or a number; nothing where it has no index."""
    index = getattr(X, "index", None) if as_frame(X) is not None else None
    if index is None or callable(index):
        return {}
    labels = {row: plain(index[row]) for row in rows}
    return {
        row: label if isinstance(label, str | int | float) else str(label)
        for row, label in labels.items()
    }


def encode_labels(y: ArrayLike, n_samples: int) -> tuple[NDArray[Any], Labels]:
    """Return the classes, sorted, and the code of each label."""
    given: NDArray[Any] = column_or_1d(_without_mask(y), warn=True)
    if len(given) != n_samples:
        raise ValueError(f"X has {n_samples} samples, but y has {len(given)} labels")
    try:
        assert_all_finite(given, input_name="y")
        check_classification_targets(given)
        classes, labels = np.unique(given, return_inverse=True)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in given}))
        raise ValueError(
            f"y has labels of kinds that cannot be sorted together ({kinds}): leave out samples "
            "without a label, and turn the others into text"
        ) from error
    return classes, labels.astype(np.int32)


def _without_mask(y: Any) -> Any:
    """Whole numbers and truth values of pandas' nullable types, which scikit-learn turns into floats."""
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if plain is None or plain.kind not in "iub" or y.isna().any():
        return y
    return y.to_numpy(dtype=plain)


def known_labels(y: ArrayLike, n_samples: int, known: NDArray[Any]) -> Labels:
    """Codes of validation labels, by the classes of the training."""
    classes, labels = encode_labels(y, n_samples)
    unknown = np.setdiff1d(classes, known)
    if len(unknown) > 0:
        raise ValueError(
            f"the validation labels have class {unknown.tolist()[0]!r}, "
            "which the training labels lack"
        )
    return np.searchsorted(known, classes).astype(np.int32)[labels]


def encode_target(y: ArrayLike, n_samples: int) -> BySample:
    """Check the numbers that a regression is to predict."""
    given: NDArray[Any] = column_or_1d(y, warn=True)
    if len(given) != n_samples:
        raise ValueError(f"X has {n_samples} samples, but y has {len(given)} targets")
    try:
        target: BySample = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y holds {given.tolist()[0]!r}, but a regression predicts numbers: "
            "for classes there is RebelClassifier"
        ) from error
    assert_all_finite(target, input_name="y")
    if np.abs(target).max(initial=0.0) > LARGEST_TARGET:
        raise ValueError(
            f"y reaches {np.abs(target).max():g}, whose square overflows: divide y by some power of ten"
        )
    return target


def checked_weight(sample_weight: ArrayLike | None, values: Values) -> BySample | None:
    """Sample weights, in units in which sums neither over- nor underflow."""
    if sample_weight is None:
        return None
    weight: BySample = _check_sample_weight(
        sample_weight, values, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError("every sample_weight is 0: at least one sample must count")
    return np.ldexp(weight, -np.frexp(weight.max())[1])


def check_same_classes(known: NDArray[Any], classes: NDArray[Any]) -> None:
    """Refuse other classes than those that a warm start goes on with."""
    if not np.array_equal(known, classes):
        raise ValueError(
            f"warm_start goes on with classes {known.tolist()}, but y has {classes.tolist()}: set "
            "warm_start=False to start anew"
        )


def warn_of_few(classes: NDArray[Any], labels: Labels, stacklevel: int) -> None:
    """Warn of a class that is alone, and of one that has a single sample."""
    if len(classes) == 1:
        warnings.warn(
            f"there is one class only, {classes.tolist()[0]!r}: it will always be predicted",
            SingleClassWarning,
            stacklevel=stacklevel,
        )
    elif np.bincount(labels).min() == 1:
        lone = classes[np.argmin(np.bincount(labels))]
        warnings.warn(
            f"class {lone.tolist()!r} has one sample only: what is learned of it will not hold",
            RareClassWarning,
            stacklevel=stacklevel,
        )
