"""Which rows of a table a model was trained on, and which were held out.

Rows are drawn by hashes of their values, so that they can be found again.
"""

import base64
import binascii
import hashlib
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.hashing import Keys, drawn_by, hash_rows

SHARE, MOST_ROWS = 0.2, 200_000
"""Share of the rows that are left out, and about how many at most."""
SEED = 0x5EED
OUT, TEST = 0x9D5C_B1F2_37A4_6E81, 0x3C6E_F372_FE94_F82B
"""Numbers of two independent draws."""


class HoldOutRule(NamedTuple):
    """How rows are left out: by their values, or by those of a column that groups them."""

    share: float
    group: str = ""
    spared: tuple[str, ...] = ()
    """Classes that training cannot do without."""

    def draw(self, features: pl.DataFrame, target: pl.Series, group: pl.Series | None) -> "Drawn":
        """Draw some rows that have a class; rows with equal values, or of one group, go together."""
        keys = row_keys(features if group is None else group.to_frame())
        can = target.is_not_null()
        if self.spared:
            can &= ~target.is_in(self.spared).fill_null(value=False)
        out = drawn_by(keys, self.share, OUT) & can.to_numpy()
        return Drawn(keys, out, out & drawn_by(keys, 0.5, TEST))

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary, for the model file."""
        return {"share": self.share, "group": self.group, "spared": list(self.spared)}

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> "HoldOutRule":
        """Create from the dictionary in a model file; the inverse of `to_dict`."""
        return HoldOutRule(
            float(told["share"]), str(told["group"]), tuple(map(str, told["spared"]))
        )


class Drawn(NamedTuple):
    """Rows that are left out."""

    keys: Keys
    """(N,) equal for rows that go together."""
    out: NDArray[np.bool_]
    """(N,) whether a row is left out."""
    test: NDArray[np.bool_]
    """(N,) whether it also tests the model; the others choose the number of rounds."""


def hold_out_rule(n_rows: int, group: str = "") -> HoldOutRule:
    """How rows of a table of this size are left out."""
    return HoldOutRule(min(SHARE, MOST_ROWS / n_rows), group)


def drawn_rows(frame: pl.DataFrame, share: float) -> NDArray[np.bool_]:
    """(N,) about this share of the rows, drawn by their values."""
    return drawn_by(row_keys(frame), share, OUT)


def row_keys(frame: pl.DataFrame) -> Keys:
    """(N,) hashes of the values of rows, the same in every version and on every machine."""
    return hash_rows(np.column_stack([_numbers(column) for column in frame.iter_columns()]), SEED)


def _numbers(column: pl.Series) -> NDArray[np.float64]:
    if column.dtype != pl.String:
        return column.cast(pl.Float64).to_numpy()
    texts = column.drop_nulls().unique()
    codes = pl.Series([_digest(text) for text in texts], dtype=pl.Float64)
    return column.replace_strict(texts, codes, default=None, return_dtype=pl.Float64).to_numpy()


def _digest(text: str) -> float:
    """A hash of 52 bits, which a float holds exactly."""
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return float(int.from_bytes(digest, "little") >> 12)


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
