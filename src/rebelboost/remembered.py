"""What reasons remember of the training samples ↔ the arrays of a file, where it has them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.reading import Shelf, require


def reason_arrays(estimator: Any) -> dict[str, NDArray[Any]]:
    """Classes of the rows that are examples, and which features have missing values."""
    classes: dict[int, int] = getattr(estimator, "example_classes_", {})
    arrays: dict[str, NDArray[Any]] = {
        "examples.rows": np.array(list(classes), dtype=np.int64),
        "examples.classes": np.array(list(classes.values()), dtype=np.int32),
    }
    missing = getattr(estimator, "missing_features_", None)
    if missing is not None:
        arrays["missing_features"] = np.array(missing, dtype=np.int32)
    return arrays


def take_reasons(shelf: Shelf, estimator: Any, n_classes: int) -> None:
    """Give them back to an estimator."""
    estimator.example_classes_ = {}
    if shelf.has("examples.rows"):
        rows = shelf.take("examples.rows", np.int64, None)
        classes = shelf.indices("examples.classes", n_classes, len(rows))
        known = (rows >= 0).all() and len(np.unique(rows)) == len(rows)
        require(known, "examples whose rows are none")
        estimator.example_classes_ = dict(zip(rows.tolist(), classes.tolist(), strict=True))
    if shelf.has("missing_features"):
        missing = shelf.indices("missing_features", estimator.n_features_in_, None)
        require((np.diff(missing) > 0).all(), "features with missing values in no order")
        estimator.missing_features_ = missing.tolist()
