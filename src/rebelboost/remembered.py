"""What reasons remember of the training samples ↔ the arrays of a file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.reading import Shelf, require


def reason_arrays(estimator: Any) -> dict[str, NDArray[Any]]:
    """Classes of the rows that are examples, and which features have missing values."""
    classes: dict[int, int] = getattr(estimator, "example_classes_", {})  # a regression has none
    return {
        "examples.rows": np.array(list(classes), dtype=np.int64),
        "examples.classes": np.array(list(classes.values()), dtype=np.int32),
        "missing_features": np.array(estimator.missing_features_, dtype=np.int32),
    }


def take_reasons(shelf: Shelf, estimator: Any, n_classes: int) -> None:
    """Give them back to an estimator."""
    rows = shelf.take("examples.rows", np.int64, None)
    classes = shelf.indices("examples.classes", n_classes, len(rows))
    known = (rows >= 0).all() and len(np.unique(rows)) == len(rows)
    require(known, "examples whose rows are none")
    named = {row for examples in estimator.ensemble_.flat.spaces for row in examples.rows.tolist()}
    require(named <= set(rows.tolist()), "examples whose class is not known")
    estimator.example_classes_ = dict(zip(rows.tolist(), classes.tolist(), strict=True))
    missing = shelf.indices("missing_features", estimator.n_features_in_, None)
    require((np.diff(missing) > 0).all(), "features with missing values in no order")
    estimator.missing_features_ = missing.tolist()
