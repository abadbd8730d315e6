"""What reasons remember of the training samples ↔ the arrays of a file."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Shelf, require
from rebelboost.theory.guarantee import FACTS


def reason_arrays(estimator: Any) -> dict[str, NDArray[Any]]:
    """Classes of the rows that are examples, and which features have missing values."""
    classes: dict[int, int] = getattr(estimator, "example_classes_", {})  # a regression has none
    facts: dict[str, float] = getattr(estimator, "training_facts_", {})
    return {
        "training_facts": np.array([facts.get(name, np.nan) for name in FACTS]),
        "examples.rows": np.array(list(classes), dtype=np.int64),
        "examples.classes": np.array(list(classes.values()), dtype=np.int32),
        "missing_features": np.array(estimator.missing_features_, dtype=np.int32),
    }


def take_reasons(shelf: Shelf, estimator: Any, n_classes: int) -> None:
    """Give them back to an estimator."""
    estimator.training_facts_ = {}
    if shelf.has("training_facts"):
        facts = shelf.take("training_facts", np.float64, len(FACTS))
        require((~(facts < 0) & ~np.isinf(facts)).all(), "facts of the training that cannot be")
        known = zip(FACTS, facts.tolist(), strict=True)
        estimator.training_facts_ = {name: fact for name, fact in known if not math.isnan(fact)}
    rows = shelf.take("examples.rows", np.int64, None)
    classes = shelf.indices("examples.classes", n_classes, len(rows))
    distinct = (rows >= 0).all() and len(np.unique(rows)) == len(rows)
    require(distinct, "examples whose rows are none")
    named = set(estimator.ensemble_.example_rows)
    require(named <= set(rows.tolist()), "examples whose class is not known")
    estimator.example_classes_ = dict(zip(rows.tolist(), classes.tolist(), strict=True))
    missing = shelf.indices("missing_features", estimator.n_features_in_, None)
    require((np.diff(missing) > 0).all(), "features with missing values in no order")
    estimator.missing_features_ = missing.tolist()
