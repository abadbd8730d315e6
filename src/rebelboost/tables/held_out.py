"""Rows of a large table that a fit leaves out: drawn by their values, so that they can be found again."""

import hashlib
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


class LeftOutRule(NamedTuple):
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
    def from_dict(told: Mapping[str, Any]) -> "LeftOutRule":
        """Create from the dictionary in a model file; the inverse of `to_dict`."""
        return LeftOutRule(
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


def hold_out(n_rows: int, group: str = "") -> LeftOutRule:
    """How rows of a table of this size are left out."""
    return LeftOutRule(min(SHARE, MOST_ROWS / n_rows), group)


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
