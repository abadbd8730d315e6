"""Values that stay in their file: columns are read again whenever they are needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Values
from rebelboost.data.encoder import FeatureEncoder, as_frame

ReadColumns = Callable[[Sequence[int] | None], Any]
"""Reads some features of the rows of a part, or all, as a data frame."""


@dataclass(frozen=True)
class FileColumns:
    """(n, d) numbers, of which only those that are used at a time are in memory."""

    read: ReadColumns
    encoder: FeatureEncoder
    dtype: Any
    n_rows: int
    chosen: NDArray[np.int32] | None = None
    """Rows of the file that count; None: all."""

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.n_rows, self.encoder.n_features

    def __getitem__(self, chosen: NDArray[Any]) -> "FileColumns":
        """Some of the rows, by a mask or by their positions."""
        rows = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        if self.chosen is not None:
            rows = self.chosen[rows]
        return replace(self, n_rows=len(rows), chosen=rows.astype(np.int32))

    def joined(self, other: "FileColumns") -> "FileColumns":
        """These rows and others of the same file."""
        assert self.chosen is not None
        assert other.chosen is not None
        rows = np.concatenate([self.chosen, other.chosen])
        return replace(self, n_rows=len(rows), chosen=rows)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Values:
        """All values."""
        del copy  # they are always new
        return self._encoded(None).astype(dtype or self.dtype, copy=False)

    def columns(self, features: Sequence[int]) -> list[Values]:
        """Some columns."""
        return list(self._encoded(features).T)

    def _encoded(self, features: Sequence[int] | None) -> Values:
        encoder = self.encoder
        if features is not None:
            place = {f: i for i, f in enumerate(features)}
            levels = {place[f]: own for f, own in encoder.levels.items() if f in place}
            encoder = FeatureEncoder(len(features), levels)
        frame = as_frame(self.read(features))
        assert frame is not None
        values = encoder.transform_frame(frame).astype(self.dtype, copy=False)
        return values if self.chosen is None else values[self.chosen]


def columns_of_rows(X: Values | FileColumns, features: Sequence[int]) -> list[Values]:
    """Some columns of values that are in memory or in a file."""
    return X.columns(features) if isinstance(X, FileColumns) else [X[:, f] for f in features]


def in_memory(X: Values | FileColumns) -> Values:
    """All values."""
    return X.__array__() if isinstance(X, FileColumns) else X
