"""Smaller arrays for large files, without loss: narrow types, numbers on a grid, repeated values, compression.

An array is stored column by column, each in the smallest of four forms. All of them give back every bit. A
file in which this saves little is stored as it is, which other programs can read more easily.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Fields, Room, TensorReader, require
from rebelboost.base.fixed_point import spacing
from rebelboost.files.compression import compressed, decompressed
from rebelboost.files.packed_trees import pack_trees, unpack_trees

Arrays = dict[str, NDArray[Any]]
TREES, COLUMNS = "trees.", "packed."
"""Beginnings of names."""
LEAST_SAVED = 1 << 16
"""Bytes that packing must save in a file, at least."""
LEAST_BYTES = 1 << 10
"""Arrays smaller than this are left as they are."""
MOST_COLUMNS = 32
WIDE = ("float64", "float32", "int64", "int32")
"""Types of arrays that are packed."""
NARROW = ("uint8", "int8", "uint16", "int16", "int32", "float32")
"""Types that they are packed into, in order of preference."""
PLAIN, GRID, CHOICE, NEGATIVE = "plain", "grid", "choice", "negative"
"""Forms of a column: a narrow type; integers times a power of two; places in a list of values; 0 less the
column before, as with scores of two classes."""


# ---- to a file


def packed(
    arrays: Mapping[str, NDArray[Any]],
    whole: Mapping[str, NDArray[Any]],
    readable: Callable[[Arrays, dict[str, Any]], bool],
) -> tuple[Arrays, dict[str, Any] | None]:
    """The arrays as they are stored, and the JSON object by which they are restored; None: as they are.

    `whole` are those that a file without packing has. What `readable` rejects is too small for what would be
    created from it.
    """
    trees = {name.removeprefix(TREES): a for name, a in arrays.items() if name.startswith(TREES)}
    n_bytes = _n_bytes(whole.values())
    if n_bytes <= LEAST_SAVED:
        return dict(whole), None
    for smaller in filter(None, (pack_trees(trees), trees)):
        stored = {name: a for name, a in arrays.items() if not name.startswith(TREES)}
        stored |= {TREES + name: array for name, array in smaller.items()}
        stored, described = _packed_columns(stored)
        said = {"trees": smaller is not trees, "arrays": described}
        for small, shapes in (compressed(stored), (stored, {})):
            form = said | {"deflated": shapes}
            if _n_bytes(small.values()) <= n_bytes - LEAST_SAVED and readable(small, form):
                return small, form
    return dict(whole), None


def _packed_columns(arrays: Arrays) -> tuple[Arrays, dict[str, Any]]:
    stored, described = dict(arrays), dict[str, Any]()
    for name, array in arrays.items():
        if array.nbytes <= LEAST_BYTES or str(array.dtype) not in WIDE:
            continue
        columns, forms = _packed_array(name, array)
        if _n_bytes(columns.values()) < array.nbytes - LEAST_BYTES:
            del stored[name]
            stored |= columns
            described[name] = [str(array.dtype), _width(array), forms]
    return stored, described


def _width(array: NDArray[Any]) -> int | list[int]:
    """0 for one axis, the length of the second of two, or those of the second and the third."""
    return list(array.shape[1:]) if array.ndim == 3 else sum(array.shape[1:])


def _n_bytes(arrays: Iterable[NDArray[Any]]) -> int:
    return sum(array.nbytes for array in arrays)


def _packed_array(name: str, array: NDArray[Any]) -> tuple[Arrays, list[list[Any]]]:
    """The stored columns by name, and the form of each; all columns as one if there are many."""
    by_column = array.ndim > 1 and 0 < array.shape[-1] <= MOST_COLUMNS
    parts = list(array.reshape(-1, array.shape[-1]).T) if by_column else [array.reshape(-1)]
    stored: Arrays = {}
    forms: list[list[Any]] = []
    for i, part in enumerate(parts):
        options = [_plain(part), _on_grid(part), _chosen(part)]
        if i > 0 and _same_bits(0 - parts[i - 1], part):
            options.append(([], [NEGATIVE]))
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
    return column.view(f"i{column.itemsize}") if column.dtype.kind == "f" else column


def _on_grid(column: NDArray[Any]) -> Packed | None:
    """As integers of 16 or 32 bits times a power of two."""
    unit = spacing(column) if column.dtype.kind == "f" else 0.0
    largest = np.abs(column).max() if 0 < unit < math.inf else math.inf
    if not largest < 2**31 * unit:
        return None
    counts = (column / unit).astype(np.int16 if largest < 2**15 * unit else np.int32)
    exponent = math.frexp(unit)[1] - 1
    same = _same_bits(_times(counts, exponent, column.dtype), column)
    return ([counts], [GRID, exponent]) if same else None


def _times(counts: NDArray[Any], exponent: int, dtype: Any) -> NDArray[Any]:
    with np.errstate(
        over="ignore"
    ):  # as a file may say; what is infinite is refused where it is read
        return np.ldexp(counts.astype(np.float64), exponent).astype(dtype, copy=False)


def _chosen(column: NDArray[Any]) -> Packed | None:
    """As places in a list of distinct values."""
    values, places = np.unique(_bits_of(column), return_inverse=True)
    if len(values) > 2**16:
        return None
    kind = np.uint8 if len(values) <= 2**8 else np.uint16
    return [values.view(column.dtype), places.astype(kind)], [CHOICE]


# ---- from a file


def unpacked(arrays: Mapping[str, NDArray[Any]], fields: Fields, room: Room) -> Arrays:
    """The arrays as they were before packing. Contents are checked where they are read."""
    has_trees, packed_ones = fields.any("trees"), fields.any("arrays")
    whole = decompressed(arrays, fields.any("deflated"), room)
    fields.end()
    # Each column is taken once, so that it can be freed.
    own = [name for name in whole if name.startswith(COLUMNS)]
    reader = TensorReader({name: whole.pop(name) for name in own}, room)
    require(isinstance(has_trees, bool) and isinstance(packed_ones, dict), "invalid packed arrays")
    for name, said in packed_ones.items():
        fits = isinstance(said, list) and len(said) == 3 and isinstance(said[2], list)
        require(fits and said[0] in WIDE, "invalid packed arrays")
        dtype, shape, forms = said[0], _axes(said[1]), said[2]
        require(len(forms) in {1, shape[-1]} and name not in whole, "invalid packed arrays")
        require(len(forms) <= MOST_COLUMNS, "invalid packed arrays")
        columns = list[NDArray[Any]]()
        for i, form in enumerate(forms):
            if form == [NEGATIVE]:
                require(bool(columns), "invalid packed arrays")
                room.take(columns[-1].nbytes, f"{name!r}, which is")
                columns.append(0 - columns[-1])
            else:
                columns.append(_column(reader, f"{COLUMNS}{name}.{i}", dtype, form))
        same = len({len(column) for column in columns}) == 1
        require(same, f"{name!r} with columns of different lengths")
        row, n_values = math.prod(shape[1:]), len(columns) * len(columns[0])
        require(row > 0 and n_values % row == 0, f"{name!r} with an incomplete row")
        numbers = np.stack(columns, axis=1) if len(columns) > 1 else columns[0]
        whole[name] = numbers.reshape(shape)
    reader.end()
    if has_trees:
        named = [name for name in whole if name.startswith(TREES)]
        found = unpack_trees({name.removeprefix(TREES): whole.pop(name) for name in named}, room)
        whole |= {TREES + name: array for name, array in found.items()}
    return whole


def _axes(width: Any) -> tuple[int, ...]:
    """Axes of an array, given what its file says of them; the first is not known."""
    found = width if isinstance(width, list) and len(width) == 2 else [width]
    whole = all(type(n) is int and 0 <= n < 2**31 for n in found)
    require(whole, "invalid packed arrays")
    return (-1,) if width == 0 else (-1, *found)


def _column(reader: TensorReader, name: str, dtype: str, form: Any) -> NDArray[Any]:
    require(isinstance(form, list) and len(form) > 0, "invalid packed arrays")
    stored = reader.any(f"{name}.0")
    require(stored.ndim == 1, f"{name!r} with more than one axis")
    places = reader.any(f"{name}.1") if form == [CHOICE] else stored
    reader.room.take(places.size * np.dtype(dtype).itemsize, f"{name!r}, which is")
    if form == [PLAIN]:
        require(np.can_cast(stored.dtype, dtype, "safe"), f"{name!r} of a type that is too wide")
        return stored.astype(dtype, copy=False)
    if form == [CHOICE]:
        fits = stored.dtype == dtype and places.dtype in (np.uint8, np.uint16) and places.ndim == 1
        require(fits and (places < len(stored)).all(), f"{name!r} with places of no value")
        return stored[places]
    whole = len(form) == 2 and form[0] == GRID and type(form[1]) is int and abs(form[1]) < 1100
    fits = stored.dtype in (np.int16, np.int32) and dtype in ("float64", "float32")
    require(whole and fits, f"{name!r} in an unknown form")
    return _times(stored, form[1], dtype)
