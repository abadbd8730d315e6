"""Encoding of tables as numbers: data frames of any supported library, categories as codes."""

import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Values
from rebelboost.base.cached import cached_property
from rebelboost.base.text import warn_caller
from rebelboost.exceptions import NumbersAsTextWarning, UnknownCategoryWarning

MOST_LEVELS = 254
"""Maximum number of categories of a feature that splits into subsets and distances know: the most frequent."""

MOST_CODES = 65_535
"""Maximum number of categories that have a code. Of more than `MOST_LEVELS`, those that occur once have
none."""

FEWEST_TEXTS = 20
"""More different texts than this, all of them numbers, are probably meant as such."""

A_DAY = 86_400e6
"""Microseconds of a day: dates count as days since 1970-01-01, and durations as days."""

_CATEGORICAL = (nw.Categorical, nw.Enum, nw.String, nw.Boolean, nw.Object)


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Wrap a pandas, polars, pyarrow or other data frame; None for anything else."""
    if isinstance(X, np.ndarray):
        return None  # fast path: the check below takes as long as predicting a single row
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


@dataclass(frozen=True)
class FeatureEncoder:
    """The categorical features, and the code of each of their categories."""

    n_features: int
    """Number of features, d."""
    levels: dict[int, tuple[Any, ...]]
    """Feature → its categories, in the order of their codes."""

    @property
    def categorical(self) -> Bytes:
        """(d,) 1 for categorical features."""
        flags = np.zeros(self.n_features, dtype=np.uint8)
        flags[list(self.levels)] = 1
        return flags

    @cached_property
    def codes(self) -> dict[int, dict[Any, float]]:
        """Categorical feature → category → code."""
        return {
            f: {level: float(i) for i, level in enumerate(levels)}
            for f, levels in self.levels.items()
        }

    def transform_frame(self, frame: nw.DataFrame[Any]) -> Values:
        """(N, d) numbers: codes for categories, NaN for categories not seen in training."""
        columns: list[Any] = list(frame.iter_columns())
        dtype = np.float64
        if columns and all(column.dtype == nw.Float32 for column in columns):
            dtype = np.float32  # type: ignore[assignment]
        X = np.empty((len(frame), len(columns)), dtype=dtype)
        for f, column in enumerate(columns):
            if f in self.levels:
                X[:, f] = self.codes_of(f, column.to_list(), repr(column.name))
            else:
                X[:, f] = _numbers(column)
        return X

    def transform_array(self, X: Values) -> Values:
        """Replace the categories in an array by their codes."""
        if not self.levels:
            return X
        X = X.copy()
        for f in self.levels:
            X[:, f] = self.codes_of(f, X[:, f].tolist(), str(f))
        return X

    def codes_of(self, feature: int, values: Sequence[Any], name: str) -> NDArray[np.float64]:
        """(N,) codes of categories, NaN for those not seen in training; `name` is for the warning of them."""
        code = self.codes[feature]
        codes = np.fromiter(map(code.get, values, repeat(np.nan)), np.float64, len(values))
        unknown = {
            values[n] for n in map(int, np.flatnonzero(np.isnan(codes))) if is_present(values[n])
        }
        if unknown and len(code) < MOST_LEVELS:
            warnings.warn(
                f"categorical feature {name} has {len(unknown)} value(s) not seen in training, "
                f"such as {min(unknown, key=str)!r}: they are treated as missing",
                UnknownCategoryWarning,
                stacklevel=2,
            )
        return codes


def fit_encoder(X: Any, frame: nw.DataFrame[Any] | None, categorical: Any) -> FeatureEncoder:
    """Find the categorical features and their categories, in a data frame or a checked array `X`."""
    n_features, counts = count_levels(X, frame, categorical)
    if frame is not None and isinstance(categorical, str):
        for f, found in counts.items():
            _warn_of_numbers(frame, frame.columns[f], list(found))
    return encoder_of(n_features, counts)


def encoder_of(n_features: int, counts: Mapping[int, Counter[Any]]) -> FeatureEncoder:
    """The encoder of a table, given how often each category of its categorical features occurs."""
    return FeatureEncoder(n_features, {f: _levels(found) for f, found in counts.items()})


def count_levels(
    X: Any, frame: nw.DataFrame[Any] | None, categorical: Any
) -> tuple[int, dict[int, Counter[Any]]]:
    """Number of features, and categorical feature → how often each of its categories occurs."""
    names = frame.columns if frame is not None else None
    n_features = len(names) if names is not None else X.shape[1]
    if isinstance(categorical, str) and categorical == "from_dtype":
        chosen = _by_type(frame) if frame is not None else []
    else:
        chosen = chosen_features(categorical, n_features, names)
    columns = list(frame.iter_columns()) if frame is not None else []
    for f in chosen if frame is not None else ():
        _check_cells(columns[f])
    counts = {}
    for f in chosen:
        values = columns[f].drop_nulls().to_list() if frame is not None else X[:, f].tolist()
        found = Counter(values)  # first all, which takes no Python code for each cell
        counts[f] = Counter({level: n for level, n in found.items() if is_present(level)})
    return n_features, counts


def chosen_features(
    chosen: Sequence[Any], n_features: int, names: Sequence[str] | None
) -> list[int]:
    """Convert a list of names, a list of indices or a mask to indices."""
    items = list(chosen)
    if len(items) == n_features and all(isinstance(item, bool | np.bool_) for item in items):
        return [int(f) for f in np.flatnonzero(items)]
    found = []
    for item in items:
        if isinstance(item, str):
            if names is None or item not in names:
                raise ValueError(f"categorical contains {item!r}, but X has no such column")
            found.append(list(names).index(item))
        elif 0 <= int(item) < n_features:
            found.append(int(item))
        else:
            raise ValueError(f"categorical contains {item}, but X has {n_features} features")
    return sorted(set(found))


def _by_type(frame: nw.DataFrame[Any]) -> list[int]:
    return [
        f
        for f, column in enumerate(frame.iter_columns())
        if isinstance(column.dtype, _CATEGORICAL)
        and not (_are_numbers(column) and column.null_count() < len(column))
    ]


def _are_numbers(column: Any) -> bool:
    """Whether a column of Python objects, as pandas makes them of mixed types, has numbers or nothing."""
    if not isinstance(column.dtype, nw.Object):
        return False
    return all(map(_is_number_type, set(map(type, column.drop_nulls().to_list()))))


def _is_number_type(kind: type) -> bool:
    return issubclass(kind, Real | Decimal) and not issubclass(kind, bool)


def _warn_of_numbers(frame: nw.DataFrame[Any], name: str, levels: Sequence[Any]) -> None:
    """Warn of a column of pandas' type object that is used as categories, but has numbers."""
    dtype = frame.schema[name]
    if not isinstance(dtype, nw.Object | nw.String) or not frame.implementation.is_pandas_like():
        return
    numbers = [level for level in levels if _is_number_type(type(level))]
    texts = [level for level in levels if isinstance(level, str)]
    if numbers and len(numbers) < len(levels):
        other = next(level for level in levels if not _is_number_type(type(level)))
        what = f"numbers, such as {numbers[0]!r}, and other values, such as {other!r}"
    elif len(texts) > FEWEST_TEXTS and not all(map(str.isdigit, texts)) and _read_as_numbers(texts):
        what = f"numbers as text, such as {texts[0]!r}"
    else:
        return
    warn_caller(
        f"column {name!r} holds {what}: it is used as categories; convert it with "
        'pandas.to_numeric(…, errors="coerce") to use it as numbers, or with astype("category") if it is '
        "meant",
        NumbersAsTextWarning,
    )


def _read_as_numbers(texts: Sequence[str]) -> bool:
    try:
        return all(math.isfinite(float(text)) for text in texts)
    except ValueError:
        return False


def is_present(value: Any) -> bool:
    """Whether a value is not missing. NaN is unequal to itself; comparing pandas' NA gives no bool."""
    same = value == value  # noqa: PLR0124
    return value is not None and isinstance(same, bool | np.bool_) and bool(same)


def _levels(counts: Mapping[Any, int]) -> tuple[Any, ...]:
    kept, _ = kept_levels(counts)
    return (*sorted(kept[:MOST_LEVELS], key=str), *kept[MOST_LEVELS:])


def kept_levels(counts: Mapping[Any, int]) -> tuple[list[Any], list[Any]]:
    """Categories that have a code, and those that count as missing; the most frequent first."""
    ranked = sorted(counts, key=lambda level: (-counts[level], str(level)))
    n_repeated = sum(n > 1 for n in counts.values())
    n_kept = min(MOST_CODES, max(MOST_LEVELS, n_repeated))
    return ranked[:n_kept], ranked[n_kept:]


def _check_cells(column: Any) -> None:
    """Raise an error if the cells of a column of Python objects cannot be categories."""
    if not isinstance(column.dtype, nw.Object):
        return
    for cell in column.to_list():
        if isinstance(cell, list | tuple | set | dict | np.ndarray):
            raise ValueError(  # noqa: TRY004  (a ValueError, as for other columns)
                f"column {column.name!r} holds a {type(cell).__name__} in each cell, such as {cell!r}: "
                "make a column of numbers or text of each of its elements"
            )


def _numbers(column: nw.Series[Any]) -> NDArray[np.float64]:
    if isinstance(column.dtype, nw.Date | nw.Datetime):
        return _floats(column.dt.timestamp("us")) / A_DAY
    if isinstance(column.dtype, nw.Duration):
        return _floats(column.dt.total_microseconds()) / A_DAY
    if column.dtype.is_nested():
        raise ValueError(
            f"column {column.name!r} has type {column.dtype}: make a column of numbers or text of each "
            "of its elements"
        )
    if _are_numbers(column):
        cells = column.to_list()
        return np.array([float(cell) if is_present(cell) else np.nan for cell in cells])
    if not column.dtype.is_numeric():
        raise ValueError(
            f"column {column.name!r} has type {column.dtype}: convert it to numbers, or to text or a "
            "categorical type if its values are categories"
        )
    return _floats(column)


def _floats(column: nw.Series[Any]) -> NDArray[np.float64]:
    return column.cast(nw.Float64).to_numpy()
