"""How the description of a table is kept in the metadata of a model file, whose size is limited."""

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rebelboost.exceptions import TableError
from rebelboost.tables.schema import Understanding

MOST_PLAIN, MOST_PACKED = 100_000, 400_000
"""Maximum number of characters of a description as it is, and of a packed one."""
MOST_TEXT = 50_000
"""Maximum number of characters of the categories in a long description. The model has those that it
distinguishes, too."""
MOST_UNPACKED = 20_000_000
"""Maximum number of bytes that a packed description may have."""
PACKED, DATES = "packed", ("date", "time")
UNDESCRIBED = "the model file does not store how its table was read: train the model again"


def keep_table(understanding: Understanding) -> dict[str, Any]:
    """The description for the metadata of a model; packed, if it is long."""
    told = understanding.to_dict()
    if _length(told) <= MOST_PLAIN:
        return told
    # Explanations look for dates here.
    dates = [column for column in told["columns"] if column["kind"] in DATES]
    for texts in ("pooled", "categories"):
        if sum(len(text) for column in told["columns"] for text in column[texts]) > MOST_TEXT:
            told["columns"] = [{**column, texts: []} for column in told["columns"]]
    packed = base64.b64encode(zlib.compress(_json(told).encode(), 9)).decode()
    if len(packed) > MOST_PACKED:
        raise TableError(
            f"a model file has no room for the description of {len(understanding.columns):,} columns: leave "
            "some out, or shorten their names"
        )
    return {"source": told["source"], "target": told["target"], "columns": dates, PACKED: packed}


def kept_table(model: Any) -> Understanding | None:
    """The description of the table that a model was trained on; None if it was trained in Python."""
    told = (getattr(model, "metadata_", None) or {}).get("table")
    if told is None:
        return None
    try:
        found = Understanding.from_dict(unpacked_table(told))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise TableError(UNDESCRIBED) from error
    levels = model.model_.encoder.levels
    columns = tuple(
        replace(column, categories=tuple(map(str, levels.get(f, ()))))
        if column.kind == "category" and not column.categories
        else column
        for f, column in enumerate(found.columns)
    )
    return replace(found, columns=columns)


def unpacked_table(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """The description itself, from what the metadata hold."""
    if PACKED not in told:
        return told
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(base64.b64decode(told[PACKED], validate=True), MOST_UNPACKED)
        unpacked: dict[str, Any] = json.loads(text)
    except (zlib.error, RecursionError) as error:
        raise ValueError(str(error)) from error
    return unpacked


def _length(told: Mapping[str, Any]) -> int:
    return len(_json(told))


def _json(told: Mapping[str, Any]) -> str:
    return json.dumps(told, separators=(",", ":"))
