"""Whether rows were in the training table of a model, by hashes of rows that the model file keeps."""

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.hashing import Keys
from rebelboost.tables.held_out import row_keys

MOST_HASHES = 4_000
"""Of a larger table, this many of the lowest hashes are kept: those of rows drawn by their values."""
STANDARD_ERRORS = 3.0
"""Equal rows count as seen only if they are so many more than chance explains."""
TARGET = "\ntarget"


class SeenRows(NamedTuple):
    """Rows that were trained on."""

    n: int
    """About how many rows."""
    exact: bool
    """Whether all rows could be compared."""


def row_hashes(frame: pl.DataFrame, y: NDArray[Any]) -> dict[str, Any]:
    """Hashes of training rows, for the metadata of a model."""
    keys = _keys(frame, y)
    found, counts = np.unique(keys, return_counts=True)
    kept = found[:MOST_HASHES]
    return {
        "hashes": base64.b64encode(kept.astype("<u8").tobytes()).decode(),
        "all": len(kept) == len(found),
        # A new row equals a training row as often as these equal one another.
        "twins": float(counts[counts > 1].sum() / len(keys)),
        "rows": len(keys),
    }


def seen_rows(
    told: Mapping[str, Any] | None, frame: pl.DataFrame, y: NDArray[Any]
) -> SeenRows | None:
    """Count the rows that were trained on; None if there are none beyond chance, or nothing is known."""
    try:
        kept, is_all = np.frombuffer(base64.b64decode(told["hashes"]), "<u8"), bool(told["all"])  # type: ignore[index]
        chance, n_trained = float(told["twins"]), int(told["rows"])  # type: ignore[index]
    except (TypeError, KeyError, ValueError, binascii.Error):
        return None
    keys = _keys(frame, y)
    compared = keys if is_all else keys[keys <= kept.max(initial=0)]
    equal, n = int(np.isin(compared, kept).sum()), len(compared)
    chance = max(chance, 1 / max(1, n_trained))
    if equal == 0 or equal <= n * chance + STANDARD_ERRORS * math.sqrt(n * chance * (1 - chance)):
        return None
    return SeenRows(round(len(keys) * equal / n), is_all)


def _keys(frame: pl.DataFrame, y: NDArray[Any]) -> Keys:
    target = pl.Series(TARGET, y)
    if not target.dtype.is_float():
        target = target.cast(pl.String)
    return row_keys(frame.with_columns(target))
