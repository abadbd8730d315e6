"""Storage of what a model keeps from its training table."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Values
from rebelboost.base.by_row import ByRow
from rebelboost.base.checks import Shelf, require
from rebelboost.base.distinct import n_distinct_values
from rebelboost.base.names import plain
from rebelboost.data.encoder import FeatureEncoder
from rebelboost.files.texts import is_storable, scalar_arrays, take_scalars
from rebelboost.model.fitted import Provenance
from rebelboost.theory.facts import FACTS

FIRST_FACTS = 5
"""Number of facts in files of the first versions, which could hold no others."""


def provenance_arrays(kept: Provenance) -> dict[str, NDArray[Any]]:
    """Arrays of row names, classes of examples, features with missing values, and facts."""
    # Names that are neither text nor finite numbers, such as dates and NaN, are stored as text.
    named = [plain(label) for label in kept.row_labels.values()]
    values = kept.example_values
    said = [label if is_storable(label) else str(label) for label in named]
    return {
        "rows.numbers": np.array(list(kept.row_labels), dtype=np.int64),
        **scalar_arrays("rows", said, "rename the rows"),
        "training_facts": _fact_array(kept.facts),
        "examples.rows": np.array(list(kept.example_classes), dtype=np.int64),
        "examples.classes": np.array(list(kept.example_classes.values()), dtype=np.int32),
        "missing_features": np.array(kept.missing_features, dtype=np.int32),
        **({} if values is None else {"examples.values": np.asarray(values, dtype=np.float64)}),
    }


def _fact_array(facts: dict[str, float]) -> NDArray[np.float64]:
    # As many as are needed, but those of the first files, which had this number of them.
    needed = max((i + 1 for i, name in enumerate(FACTS) if name in facts), default=0)
    return np.array([facts.get(name, np.nan) for name in FACTS[: max(FIRST_FACTS, needed)]])


def take_provenance(shelf: Shelf, encoder: FeatureEncoder, n_classes: int) -> Provenance:
    """Read the provenance."""
    classes = _take_examples(shelf, n_classes)
    return Provenance(
        row_labels=_take_row_labels(shelf),
        example_classes=classes,
        example_values=_take_values(shelf, len(classes), encoder),
        missing_features=_take_missing(shelf, encoder.n_features),
        facts=_take_facts(shelf),
    )


def _take_row_labels(shelf: Shelf) -> ByRow[Any]:
    rows = shelf.take("rows.numbers", np.int64, None)
    require((rows >= 0).all() and n_distinct_values(rows) == len(rows), "names of invalid rows")
    return ByRow(rows, take_scalars(shelf, "rows", len(rows)))


def _take_facts(shelf: Shelf) -> dict[str, float]:
    if not shelf.has("training_facts"):
        return {}
    facts = shelf.take("training_facts", np.float64, None)
    require(FIRST_FACTS <= len(facts) <= len(FACTS), f"{len(facts)} training facts")
    require((~(facts < 0) & ~np.isinf(facts)).all(), "invalid training facts")
    known = zip(FACTS, facts.tolist(), strict=False)
    found = {name: fact for name, fact in known if not math.isnan(fact)}
    require(found.get("zero_level", 1.0) > 0, "training facts with a level of 0")
    return found


def _take_examples(shelf: Shelf, n_classes: int) -> ByRow[int]:
    rows = shelf.take("examples.rows", np.int64, None)
    classes = shelf.indices("examples.classes", n_classes, len(rows))
    distinct = (rows >= 0).all() and n_distinct_values(rows) == len(rows)
    require(distinct, "examples with invalid rows")
    return ByRow(rows, classes.tolist())


def _take_values(shelf: Shelf, n_examples: int, encoder: FeatureEncoder) -> Values | None:
    if not shelf.has("examples.values"):
        return None
    values = shelf.take("examples.values", np.float64, n_examples, encoder.n_features)
    require(not np.isinf(values).any(), "examples with infinite values")
    for f, levels in encoder.levels.items():
        codes = values[~np.isnan(values[:, f]), f]
        known = (codes >= 0) & (codes < len(levels)) & (codes == np.floor(codes))
        require(known.all(), "examples with an unknown category")
    return values


def _take_missing(shelf: Shelf, n_features: int) -> list[int]:
    missing = shelf.indices("missing_features", n_features, None)
    require((np.diff(missing) > 0).all(), "features with missing values that are not sorted")
    return missing.tolist()
