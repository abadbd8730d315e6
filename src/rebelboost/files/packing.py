"""Smaller arrays for large files, without loss: narrow types, numbers on a grid, and repeated values.

An array is stored column by column, each in the smallest of four forms. All of them give back every bit. A
file in which this saves little is stored as it is, so that older releases can read it.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Fields, Shelf, require
from rebelboost.base.grid import spacing
from rebelboost.files.packed_trees import pack_trees, unpack_trees

Arrays = dict[str, NDArray[Any]]
TREES, COLUMNS = "trees.", "packed."
"""Beginnings of names."""
LEAST_SAVED = 1 << 16
"""Bytes that packing must save in a file, at least."""
LEAST_BYTES = 1 << 10
"""Arrays smaller than this are left as they are."""
FREE, MOST_TIMES = 1 << 21, 64
"""Limits of the unpacked arrays: so many bytes are free, and beyond that so many times those in the file."""
MOST_COLUMNS = 32
WIDE = ("float64", "int64", "int32")
"""Types of arrays that are packed."""
NARROW = ("uint8", "int8", "uint16", "int16", "int32", "float32")
"""Types that they are packed into, in order of preference."""
PLAIN, GRID, CHOICE = "plain", "grid", "choice"
"""Forms of a column: a narrow type; integers times a power of two; places in a list of values."""


# ---- to a file


def packed(arrays: Mapping[str, NDArray[Any]]) -> tuple[Arrays, dict[str, Any] | None]:
    """The arrays as they are stored, and the JSON object by which they are restored; None: as they are."""
    trees = {name.removeprefix(TREES): a for name, a in arrays.items() if name.startswith(TREES)}
    n_bytes = _n_bytes(arrays.values())
    if n_bytes <= LEAST_SAVED:
        return dict(arrays), None
    for smaller in filter(None, (pack_trees(trees), trees)):
        stored = {name: a for name, a in arrays.items() if not name.startswith(TREES)}
        stored |= {TREES + name: array for name, array in smaller.items()}
        stored, described = _packed_columns(stored)
        least = _n_bytes(stored.values())
        if n_bytes <= room(least) and least <= n_bytes - LEAST_SAVED:
            return stored, {"trees": smaller is not trees, "arrays": described}
    return dict(arrays), None


def room(n_bytes: int) -> int:
    """Bytes that the arrays of a file may have when they are unpacked, given those that they have in it."""
    return FREE + MOST_TIMES * n_bytes


def _packed_columns(arrays: Arrays) -> tuple[Arrays, dict[str, Any]]:
    stored, described = dict(arrays), dict[str, Any]()
    for name, array in arrays.items():
        if array.nbytes <= LEAST_BYTES or str(array.dtype) not in WIDE or array.ndim not in {1, 2}:
            continue
        columns, forms = _packed_array(name, array)
        if _n_bytes(columns.values()) < array.nbytes - LEAST_BYTES:
            del stored[name]
            stored |= columns
            width = array.shape[1] if array.ndim == 2 else 0
            described[name] = [str(array.dtype), width, forms]
    return stored, described


def _n_bytes(arrays: Iterable[NDArray[Any]]) -> int:
    return sum(array.nbytes for array in arrays)


def _packed_array(name: str, array: NDArray[Any]) -> tuple[Arrays, list[list[Any]]]:
    """The stored columns by name, and the form of each; all columns as one if there are many."""
    by_column = array.ndim == 2 and array.shape[1] <= MOST_COLUMNS
    parts = list(array.T) if by_column else [array.reshape(-1)]
    stored: Arrays = {}
    forms = []
    for i, part in enumerate(parts):
        options = [_plain(part), _on_grid(part), _chosen(part)]
        found, form = min(filter(None, options), key=lambda option: _n_bytes(option[0]))
        forms.append(form)
        stored |= {f"{COLUMNS}{name}.{i}.{j}": each for j, each in enumerate(found)}
    return stored, forms


Packed = tuple[list[NDArray[Any]], list[Any]]


def _plain(column: NDArray[Any]) -> Packed:
    """In the narrowest type with the same values; −0 and NaN only as they are."""
    for kind in NARROW:
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = column.astype(kind)
        if np.can_cast(kind, column.dtype, "safe") and _same_bits(narrow, column):
            return [narrow], [PLAIN]
    return [np.ascontiguousarray(column)], [PLAIN]


def _same_bits(narrow: NDArray[Any], column: NDArray[Any]) -> bool:
    wide = narrow.astype(column.dtype)
    return np.array_equal(_bits_of(wide), _bits_of(column))


def _bits_of(column: NDArray[Any]) -> NDArray[Any]:
    column = np.ascontiguousarray(column)
    return column.view(np.int64) if column.dtype == np.float64 else column


def _on_grid(column: NDArray[Any]) -> Packed | None:
    """As 32-bit integers times a power of two."""
    unit = spacing(column) if column.dtype == np.float64 else 0.0
    if not 0 < unit < math.inf or np.abs(column).max() >= 2**31 * unit:
        return None
    counts = (column / unit).astype(np.int32)
    exponent = math.frexp(unit)[1] - 1
    return ([counts], [GRID, exponent]) if _same_bits(_times(counts, exponent), column) else None


def _times(counts: NDArray[np.int32], exponent: int) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = np.ldexp(counts.astype(np.float64), exponent)
    return scaled


def _chosen(column: NDArray[Any]) -> Packed | None:
    """As places in a list of distinct values."""
    values, places = np.unique(_bits_of(column), return_inverse=True)
    if len(values) > 2**16:
        return None
    kind = np.uint8 if len(values) <= 2**8 else np.uint16
    return [values.view(column.dtype), places.astype(kind)], [CHOICE]


# ---- from a file


def unpacked(arrays: Mapping[str, NDArray[Any]], fields: Fields) -> Arrays:
    """The arrays as they were before packing. Contents are checked where they are read.

    A column takes at most eight times the memory of its stored form; trees are limited by `room`.
    """
    shelf, whole = Shelf(arrays), dict(arrays)
    has_trees, packed_ones = fields.any("trees"), fields.any("arrays")
    fields.end()
    require(isinstance(has_trees, bool) and isinstance(packed_ones, dict), "invalid packed arrays")
    for name, said in packed_ones.items():
        fits = isinstance(said, list) and len(said) == 3 and isinstance(said[2], list)
        require(fits and said[0] in WIDE and type(said[1]) is int, "invalid packed arrays")
        dtype, width, forms = said
        require(0 <= width < 2**31 and len(forms) in {1, width}, "invalid packed arrays")
        require(len(forms) <= MOST_COLUMNS and name not in whole, "invalid packed arrays")
        columns = [_column(shelf, f"{COLUMNS}{name}.{i}", dtype, f) for i, f in enumerate(forms)]
        same = len({len(column) for column in columns}) == 1
        require(same, f"{name!r} with columns of different lengths")
        whole[name] = np.stack(columns, axis=1) if len(columns) > 1 else columns[0]
        if len(columns) == 1 and width > 0:
            require(len(columns[0]) % width == 0, f"{name!r} with an incomplete row")
            whole[name] = columns[0].reshape(-1, width)
    unused = [name for name in whole if name.startswith(COLUMNS) and shelf.has(name)]
    require(not unused, f"unexpected arrays: {sorted(unused)[:3]}")
    whole = {name: array for name, array in whole.items() if not name.startswith(COLUMNS)}
    if has_trees:
        trees = {name: a for name, a in whole.items() if name.startswith(TREES)}
        found = unpack_trees(
            {name.removeprefix(TREES): a for name, a in trees.items()},
            room(_n_bytes(arrays.values())),
        )
        whole = {name: array for name, array in whole.items() if name not in trees}
        whole |= {TREES + name: array for name, array in found.items()}
    return whole


def _column(shelf: Shelf, name: str, dtype: str, form: Any) -> NDArray[Any]:
    require(isinstance(form, list) and len(form) > 0, "invalid packed arrays")
    stored = shelf.any(f"{name}.0")
    require(stored.ndim == 1, f"{name!r} with more than one axis")
    if form == [PLAIN]:
        require(np.can_cast(stored.dtype, dtype, "safe"), f"{name!r} of a type that is too wide")
        return stored.astype(dtype, copy=False)
    if form == [CHOICE]:
        places = shelf.any(f"{name}.1")
        fits = stored.dtype == dtype and places.dtype in (np.uint8, np.uint16) and places.ndim == 1
        require(fits and (places < len(stored)).all(), f"{name!r} with places of no value")
        return stored[places]
    whole = len(form) == 2 and form[0] == GRID and type(form[1]) is int and abs(form[1]) < 1100
    fits = stored.dtype == np.int32 and dtype == "float64"
    require(whole and fits, f"{name!r} in an unknown form")
    return _times(stored, form[1])
