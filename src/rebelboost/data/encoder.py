"""Tables → numbers: data frames of any library, categories to codes."""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Values
from rebelboost.exceptions import UnknownCategoryWarning

MOST_LEVELS = 254
"""Categories of a feature that are told apart; rarer ones count as missing."""

_CATEGORICAL = (nw.Categorical, nw.Enum, nw.String, nw.Boolean, nw.Object)


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Wrap pandas, polars, pyarrow and other tables; None for anything else."""
    if isinstance(X, np.ndarray):
        return None  # at once: a single row is predicted in the time that looking it up takes
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


@dataclass(frozen=True)
class FeatureEncoder:
    """Which features are categorical, and the code of each of their levels."""

    n_features: int
    levels: dict[int, tuple[Any, ...]]
    """Feature → its levels, in the order of their codes."""

    @property
    def categorical(self) -> Bytes:
        """(d,) flags."""
        flags = np.zeros(self.n_features, dtype=np.uint8)
        flags[list(self.levels)] = 1
        return flags

    def transform_frame(self, frame: nw.DataFrame[Any]) -> Values:
        """(N, d) numbers; codes in place of categories, NaN for what was not there in training."""
        columns: list[Any] = list(frame.iter_columns())
        dtype = np.float64
        if columns and all(column.dtype == nw.Float32 for column in columns):
            dtype = np.float32  # type: ignore[assignment]
        X = np.empty((len(frame), len(columns)), dtype=dtype)
        for f, column in enumerate(columns):
            if f in self.levels:
                X[:, f] = self._codes(f, column.to_list(), repr(column.name))
            else:
                X[:, f] = _numbers(column)
        return X

    def transform_array(self, X: Values) -> Values:
        """Put codes in place of the categories of an array."""
        if not self.levels:
            return X
        X = X.copy()
        for f in self.levels:
            X[:, f] = self._codes(f, X[:, f].tolist(), str(f))
        return X

    def _codes(self, feature: int, values: Sequence[Any], name: str) -> NDArray[np.float64]:
        code = {level: float(i) for i, level in enumerate(self.levels[feature])}
        codes = np.fromiter((code.get(v, np.nan) for v in values), np.float64, len(values))
        unknown = {
            values[n] for n in map(int, np.flatnonzero(np.isnan(codes))) if is_present(values[n])
        }
        if unknown and len(code) < MOST_LEVELS:
            warnings.warn(
                f"categorical feature {name} has {len(unknown)} value(s) that training never "
                f"saw, such as {min(unknown, key=str)!r}: they count as missing",
                UnknownCategoryWarning,
                stacklevel=2,
            )
        return codes


def fit_encoder(X: Any, frame: nw.DataFrame[Any] | None, categorical: Any) -> FeatureEncoder:
    """Find the categorical features and their levels, in a frame or a checked array `X`."""
    names = frame.columns if frame is not None else None
    n_features = len(names) if names is not None else X.shape[1]
    if isinstance(categorical, str) and categorical == "from_dtype":
        chosen = _by_type(frame) if frame is not None else []
    else:
        chosen = chosen_features(categorical, n_features, names)
    columns = list(frame.iter_columns()) if frame is not None else []
    levels = {
        f: _levels(columns[f].drop_nulls().to_list() if frame is not None else X[:, f].tolist())
        for f in chosen
    }
    return FeatureEncoder(n_features, levels)


def chosen_features(
    chosen: Sequence[Any], n_features: int, names: Sequence[str] | None
) -> list[int]:
    """Turn a list of names, of indices or a mask into indices."""
    items = list(chosen)
    if len(items) == n_features and all(isinstance(item, bool | np.bool_) for item in items):
        return [int(f) for f in np.flatnonzero(items)]
    found = []
    for item in items:
        if isinstance(item, str):
            if names is None or item not in names:
                raise ValueError(f"categorical names {item!r}, but X has no such column")
            found.append(list(names).index(item))
        elif 0 <= int(item) < n_features:
            found.append(int(item))
        else:
            raise ValueError(f"categorical names feature {item}, but X has {n_features} features")
    return sorted(set(found))


def _by_type(frame: nw.DataFrame[Any]) -> list[int]:
    return [
        f for f, column in enumerate(frame.iter_columns()) if isinstance(column.dtype, _CATEGORICAL)
    ]


def is_present(value: Any) -> bool:
    """Neither None nor NaN, which is not equal to itself, nor pandas' NA, which is not even unequal."""
    same = value == value  # noqa: PLR0124
    return value is not None and isinstance(same, bool | np.bool_) and bool(same)


def _levels(values: Sequence[Any]) -> tuple[Any, ...]:
    counts = Counter(v for v in values if is_present(v))
    frequent = sorted(counts, key=lambda level: (-counts[level], str(level)))[:MOST_LEVELS]
    return tuple(sorted(frequent, key=str))


def _numbers(column: nw.Series[Any]) -> NDArray[np.float64]:
    if not column.dtype.is_numeric():
        raise ValueError(
            f"column {column.name!r} has type {column.dtype}: turn it into numbers (a date into days "
            "since some day, say), or into text or a categorical type if its values are categories"
        )
    return column.cast(nw.Float64).to_numpy()
