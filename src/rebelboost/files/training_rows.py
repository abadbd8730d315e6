"""Storage of what a model keeps of its training rows: their names, classes, values and points.

The members of an average compare with the same rows in spaces of their own. Values are stored once, for
explanations, and large files leave out the points of a space that follow from them, to the last bit.

Comparisons need the points of the rows that they compare with, from which the values of the rows can be
computed. So a file without any rows needs a model without comparisons, such as one of trees.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Indices, Points, Values
from rebelboost.base.by_row import ByRow
from rebelboost.base.checks import Room, TensorReader, require
from rebelboost.base.hashing import n_distinct_values
from rebelboost.base.names import plain
from rebelboost.base.text import counted
from rebelboost.data.encoder import FeatureEncoder
from rebelboost.data.spaces import Embedding
from rebelboost.data.spread import Spreads
from rebelboost.files.texts import is_storable, scalar_arrays, take_scalars
from rebelboost.files.training_counts import take_training_counts, training_count_arrays
from rebelboost.model.fitted import FACTS, Provenance
from rebelboost.model.terms import Placed

if TYPE_CHECKING:
    from rebelboost.files.model_file import StoredModel

ROWS = ("values", "ids", "none")
"""Readable values of the rows that cases are compared with; their names or numbers only; no rows at all."""
LEAST_FACTS = 5
"""Number of facts that every file has, known or not; the others are written if they are known."""
AT_ONCE = 1 << 16
"""Number of coordinates computed at a time: copies in double precision stay small."""


# ---- names, classes, values and facts


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
        **({} if kept.spreads is None else _spread_arrays(kept.spreads)),
        **training_count_arrays(kept.seen),
    }


def _spread_arrays(spreads: Spreads) -> dict[str, NDArray[Any]]:
    return {
        "spreads.sizes": np.array(spreads.sizes, dtype=np.float64),
        "spreads.whole": np.array(spreads.whole, dtype=np.uint8),
    }


def _fact_array(facts: dict[str, float]) -> NDArray[np.float64]:
    needed = max((i + 1 for i, name in enumerate(FACTS) if name in facts), default=0)
    return np.array([facts.get(name, np.nan) for name in FACTS[: max(LEAST_FACTS, needed)]])


def take_provenance(reader: TensorReader, encoder: FeatureEncoder, n_classes: int) -> Provenance:
    """Read the provenance."""
    classes = _take_examples(reader, n_classes)
    return Provenance(
        row_labels=_take_row_labels(reader),
        example_classes=classes,
        example_values=_take_values(reader, len(classes), encoder),
        missing_features=_take_missing(reader, encoder.n_features),
        facts=_take_facts(reader),
        spreads=_take_spreads(reader, encoder.n_features),
        seen=take_training_counts(reader, encoder, n_classes),
    )


def _take_row_labels(reader: TensorReader) -> ByRow[Any]:
    rows = reader.take("rows.numbers", np.int64, None)
    require((rows >= 0).all() and n_distinct_values(rows) == len(rows), "names of invalid rows")
    return ByRow(rows, take_scalars(reader, "rows", len(rows)))


def _take_facts(reader: TensorReader) -> dict[str, float]:
    facts = reader.take("training_facts", np.float64, None)
    require(LEAST_FACTS <= len(facts) <= len(FACTS), f"{len(facts)} training facts")
    require((~(facts < 0) & ~np.isinf(facts)).all(), "invalid training facts")
    known = zip(FACTS, facts.tolist(), strict=False)
    found = {name: fact for name, fact in known if not math.isnan(fact)}
    require(found.get("zero_level", 1.0) > 0, "training facts with a level of 0")
    return found


def _take_examples(reader: TensorReader, n_classes: int) -> ByRow[int]:
    rows = reader.take("examples.rows", np.int64, None)
    classes = reader.indices("examples.classes", n_classes, len(rows))
    distinct = (rows >= 0).all() and n_distinct_values(rows) == len(rows)
    require(distinct, "examples with invalid rows")
    return ByRow(rows, classes.tolist())


def _take_values(reader: TensorReader, n_examples: int, encoder: FeatureEncoder) -> Values | None:
    if not reader.has("examples.values"):
        return None
    values = reader.take("examples.values", np.float64, n_examples, encoder.n_features)
    require(not np.isinf(values).any(), "examples with infinite values")
    for f, levels in encoder.levels.items():
        codes = values[~np.isnan(values[:, f]), f]
        known = (codes >= 0) & (codes < len(levels)) & (codes == np.floor(codes))
        require(known.all(), "examples with an unknown category")
    return values


def _take_missing(reader: TensorReader, n_features: int) -> list[int]:
    missing = reader.indices("missing_features", n_features, None)
    require((np.diff(missing) > 0).all(), "features with missing values that are not sorted")
    return missing.tolist()


def _take_spreads(reader: TensorReader, n_features: int) -> Spreads | None:
    if not reader.has("spreads.sizes"):
        return None
    sizes = reader.numbers("spreads.sizes", n_features)
    require((sizes > 0).all(), "columns without a spread")
    whole = reader.flags("spreads.whole", n_features) == 1
    return Spreads(tuple(sizes.tolist()), tuple(whole.tolist()))


# ---- points


class StoredRows:
    """The stored training rows, from which points are computed, and the memory that these may take."""

    def __init__(self, kept: Provenance, room: Room) -> None:
        self._values = kept.example_values
        self._rows = _by_row(kept)
        self._room = room

    def has(self, rows: Sequence[int]) -> bool:
        """Whether all these rows are stored."""
        return bool((self._rows.places(rows) >= 0).all())

    def points(self, space: Embedding, rows: Indices, name: str) -> Points:
        """(E, D) the points of rows in a space."""
        places = self._rows.places(rows)
        known = self._values is not None and (places >= 0).all()
        require(known, f"{name} without points, and without the rows that they follow from")
        self._room.take(4 * len(rows) * len(space.offset), f"points of {name}, which are")
        return points_of(space, self._values, places.tolist())


def _by_row(kept: Provenance) -> ByRow[int]:
    return ByRow(list(kept.example_classes), range(len(kept.example_classes)))


def points_of(space: Embedding, values: Any, places: Sequence[int]) -> Points:
    """(E, D) the points of some rows of encoded values."""
    points = np.empty((len(places), len(space.offset)), dtype=np.float32)
    step = max(1, AT_ONCE // max(1, points.shape[1]))
    with np.errstate(invalid="ignore", over="ignore"):  # as a file may say; points are checked then
        for first in range(0, len(places), step):
            here = slice(first, first + step)
            points[here] = space.place(np.asarray(values[places[here]], dtype=np.float64))
    return points


def without_points(
    arrays: Mapping[str, NDArray[Any]],
    spaces: Sequence[Placed],
    kept: Provenance,
) -> dict[str, NDArray[Any]]:
    """The arrays without the points that follow from the values of the rows, bit for bit."""
    if kept.example_values is None:
        return dict(arrays)
    known = _by_row(kept)
    left = dict(arrays)
    for i, each in enumerate(spaces):
        places = known.places(each.rows)
        if isinstance(each.space, Embedding) and (places >= 0).all():
            found = points_of(each.space, kept.example_values, places.tolist())
            if found.tobytes() == np.ascontiguousarray(each.points).tobytes():
                del left[f"spaces.{i}.points"]
    return left


# ---- less of them


def limited(stored: "StoredModel", rows: str, *, names: bool) -> "StoredModel":
    """The same model with less of its training rows.

    Without rows, the scores of the held-out rows are dropped too: `left_out` then returns None.
    """
    if rows not in ROWS:
        raise ValueError(f"rows is {rows!r}: choose one of {', '.join(ROWS)}")
    model, found = stored.model, stored.cross_fit
    kept = model.provenance
    if not names or rows == "none":
        kept = replace(kept, row_labels={})
    if rows != "values":
        kept = replace(kept, example_values=None)
    if rows == "none":
        _check_without_rows(len(model.ensemble.example_rows))
        kept = replace(kept, example_classes={})
        if found is not None:
            none = np.empty((0, found.left_out.shape[1]))
            found = replace(found, left_out=none, rows=np.empty(0, dtype=np.int64), staged=None)
    return stored._replace(model=replace(model, provenance=kept), cross_fit=found)


def _check_without_rows(n_rows: int) -> None:
    if n_rows:
        raise ValueError(
            f"this model compares cases with {counted(n_rows, 'training row')}, which it needs to "
            'predict: train with learner="auto_trees", "tree" or "stump" to save it with rows="none"'
        )
