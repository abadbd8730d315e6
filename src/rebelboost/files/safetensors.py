"""Files of named arrays and texts in the safetensors format: a JSON header, followed by the arrays.

The format is implemented here rather than by its own library, so that arrays are views of the single block
of memory that the file was read into, and errors can name what is wrong. A file contains the SHA-256
checksum of its contents.
"""

import hashlib
import itertools
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.writing import write_whole
from rebelboost.exceptions import ModelFileError

TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype(np.float64),
    "F32": np.dtype(np.float32),
    "F16": np.dtype(np.float16),
    "I64": np.dtype(np.int64),
    "I32": np.dtype(np.int32),
    "I16": np.dtype(np.int16),
    "I8": np.dtype(np.int8),
    "U64": np.dtype(np.uint64),
    "U32": np.dtype(np.uint32),
    "U16": np.dtype(np.uint16),
    "U8": np.dtype(np.uint8),
}
"""Types of arrays, by their names in the format."""
NAMES = {dtype: name for name, dtype in TYPES.items()}
"""Names of the types."""
WIDEST = 8
"""Size of the largest type in bytes."""
TEXTS, CHECKSUM = "__metadata__", "sha256"
MOST_AXES = 3
"""Maximum number of axes of an array."""
FREE_ITEMS, BYTES_OF_AN_ITEM = 20_000, 256
FREE_HEADER, SHARE_OF_HEADER = 1 << 19, 8
"""Limits of the header. A JSON item takes about 64 bytes of memory, and the header four times its length.
Beyond a fixed allowance, a file may have one item per BYTES_OF_AN_ITEM bytes, and a header of one eighth of
its size. Reading a file then takes less than twice its size, plus four megabytes, of memory."""
MOST_DEPTH = 64
"""Maximum depth of nested lists and objects in the JSON."""
TOO_DEEP = f"has JSON nested more than {MOST_DEPTH} deep: store less in metadata_"

Arrays = Mapping[str, NDArray[Any]]


class Contents(NamedTuple):
    """The contents of a file."""

    arrays: dict[str, NDArray[Any]]
    """Read-only views of one block of memory."""
    texts: dict[str, str]

    @property
    def n_bytes(self) -> int:
        """Size of the contents."""
        arrays = sum(array.nbytes for array in self.arrays.values())
        return arrays + sum(map(len, self.texts.values()))


# ---- writing


def write(path: str | os.PathLike[str], arrays: Arrays, texts: Mapping[str, str]) -> None:
    """Write a file, all or nothing."""
    signed = {**texts, CHECKSUM: checksum(arrays, texts)}
    # Widest types first, so that all arrays are aligned.
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    try:
        header = _header(arrays, order, signed)
    except ModelFileError as fault:
        raise ModelFileError(f"cannot write {os.fspath(path)}, a file that {fault}") from None
    write_whole(path, itertools.chain([header], (_bytes(arrays[name]) for name in order)))


def _header(arrays: Arrays, order: list[str], texts: Mapping[str, str]) -> bytes:
    described: dict[str, Any] = {TEXTS: dict(texts)}
    first = 0
    for name in order:
        array = arrays[name]
        last = first + array.nbytes
        described[name] = {
            "dtype": NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [first, last],
        }
        first = last
    text = json.dumps(described, separators=(",", ":")).encode()
    text += b" " * (-len(text) % WIDEST)
    check_header(text, len(text) + first)
    return len(text).to_bytes(8, "little") + text


def _bytes(array: NDArray[Any]) -> bytes | memoryview:
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return little.view(np.uint8).data if little.size else b""


def checksum(arrays: Arrays, texts: Mapping[str, str]) -> str:
    """SHA-256 of all arrays and texts, independent of their order in the file."""
    digest = hashlib.sha256()
    parts: list[bytes | memoryview] = []
    for name in sorted(arrays):
        array = arrays[name]
        described = f"{name}\0{NAMES[array.dtype]}\0{list(array.shape)}"
        parts += [described.encode(errors="surrogatepass"), _bytes(array)]
    for name in sorted(texts):
        if name != CHECKSUM:
            parts += [text.encode(errors="surrogatepass") for text in (name, texts[name])]
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


# ---- reading


def read(path: str | os.PathLike[str]) -> Contents:
    """Read a file, and check that it is intact."""
    with open(path, "rb", opener=_opened) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ModelFileError("is not a regular file")
        return parse(file.read())


def _opened(path: str, flags: int) -> int:
    """Open a file; a pipe without waiting for someone who writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def parse(blob: bytes) -> Contents:
    """Parse the bytes of a file."""
    size = int.from_bytes(blob[:8], "little")
    if len(blob) < 10 or blob[8:9] != b"{":
        raise ModelFileError("is not a model file: it does not begin with a safetensors header")
    if size > len(blob) - 8:
        raise ModelFileError(
            f"has {len(blob)} bytes, but its header alone has {size}: the file is truncated"
        )
    if size % WIDEST:
        raise ModelFileError(f"has a header of {size} bytes, which is not a multiple of {WIDEST}")
    described = blob[8 : 8 + size] if size <= longest_header(len(blob)) else b""
    check_header(described, len(blob))
    header = parse_json(described)
    texts = header.pop(TEXTS, {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ModelFileError("has metadata that is not all text")
    arrays = dict(_arrays(header, blob, 8 + size))
    if texts.get(CHECKSUM) != checksum(arrays, texts):
        raise ModelFileError(
            "does not match its checksum: it was modified or damaged. Copy it again from where it was "
            "saved"
        )
    return Contents(arrays, texts)


def check_version(texts: Mapping[str, str], newest: int) -> None:
    """Raise an error unless the contents have a format version up to `newest`."""
    version = texts.get("version", "")
    if not (version.isascii() and version.isdigit() and len(version) < 6):
        raise ModelFileError(f"has the format version {version[:20]!r}, which is not a number")
    if int(version) > newest:
        raise ModelFileError(
            f"has format version {version}, but this rebelboost reads versions up to {newest}: "
            "install a newer rebelboost"
        )
    if int(version) < 1:
        raise ModelFileError(f"has the format version {version}, which does not exist")


def parse_json(text: str | bytes) -> dict[str, Any]:
    """Parse a JSON object; repeated names and non-finite numbers are errors."""
    try:
        found = json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_no_number)
    except ModelFileError:
        raise
    except RecursionError:
        raise ModelFileError(TOO_DEEP) from None
    except ValueError as error:
        raise ModelFileError(f"has invalid JSON ({error})") from None
    if not isinstance(found, dict):
        raise ModelFileError("has JSON that is not an object")
    check_depth(found)
    return found


def check_depth(found: Any) -> None:
    """Raise an error if JSON is nested too deeply for the steps that follow, such as pickling."""
    layer = [found]
    for _ in range(MOST_DEPTH):
        layer = [
            item
            for each in layer
            for item in (each.values() if isinstance(each, dict) else each)
            if isinstance(item, dict | list)
        ]
        if not layer:
            return
    raise ModelFileError(TOO_DEEP)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ModelFileError("has JSON with a repeated name")
    return found


def _no_number(text: str) -> Any:
    raise ModelFileError(f"has {text} in its JSON, which is not a finite number")


def longest_header(n_bytes: int) -> int:
    """Maximum length of the header of a file with this many bytes."""
    return FREE_HEADER + n_bytes // SHARE_OF_HEADER


def check_header(text: bytes, n_bytes: int) -> None:
    """Raise an error for a header that a file of so many bytes must not have."""
    if not text or len(text) > longest_header(n_bytes) or not text.isascii():
        raise ModelFileError(
            f"has a header that is not ASCII, or longer than the {longest_header(n_bytes)} bytes allowed "
            "for a file of its size: store less in metadata_"
        )
    items = sum(text.count(mark) * weight for mark, weight in ((b",", 1), (b"[", 1), (b"{", 4)))
    most = FREE_ITEMS + n_bytes // BYTES_OF_AN_ITEM
    if items > most:
        raise ModelFileError(
            f"has metadata of {items} items, more than the {most} allowed for a file of its size: store "
            "less in metadata_"
        )


def _arrays(
    described: dict[str, Any], blob: bytes, begin: int
) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield views of the arrays. Together they must cover the rest of the file, without gaps or overlaps."""
    places = {name: placed_as(name, each) for name, each in described.items()}
    at = 0
    for name, (dtype, shape, (first, last)) in sorted(
        places.items(), key=lambda item: item[1].offsets
    ):
        if first != at:
            raise ModelFileError(f"has array {name!r} at byte {first} instead of {at}")
        check_empty(shape, len(blob))
        if math.prod(shape) * dtype.itemsize != last - first:
            raise ModelFileError(
                f"has array {name!r} with {last - first} bytes, which do not match shape {list(shape)}"
            )
        if first % dtype.itemsize:
            raise ModelFileError(f"has array {name!r} at byte {first}, which is not aligned")
        if begin + last > len(blob):
            raise ModelFileError(f"ends before array {name!r}: the file is truncated")
        at = last
        flat = np.frombuffer(
            blob, dtype.newbyteorder("<"), math.prod(shape), begin + first if last > first else 0
        )
        yield name, flat.reshape(shape).astype(dtype, copy=False)
    if begin + at != len(blob):
        raise ModelFileError(f"has {len(blob) - begin - at} bytes that belong to no array")


class Place(NamedTuple):
    """Type, shape and position of an array."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offsets: tuple[int, int]


def placed_as(name: str, described: Any) -> Place:
    """What the header says of an array, checked."""
    if not isinstance(described, dict) or described.keys() != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"has array {name!r} without a dtype, a shape and offsets")
    dtype, shape, offsets = described["dtype"], described["shape"], described["data_offsets"]
    if not isinstance(dtype, str) or dtype not in TYPES:
        raise ModelFileError(f"has array {name!r} of the unknown type {dtype!r}")
    if not _are_whole(shape) or len(shape) > MOST_AXES:
        raise ModelFileError(f"has array {name!r} of shape {shape!r}")
    if not _are_whole(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ModelFileError(f"has array {name!r} with offsets {offsets!r}")
    return Place(TYPES[dtype], tuple(shape), (offsets[0], offsets[1]))


def check_empty(shape: Sequence[int], most: int) -> None:
    """Raise an error for an array without numbers that has more than so many rows or columns of nothing."""
    if 0 in shape and math.prod(n or 1 for n in shape) > most:
        raise ModelFileError(f"has an empty array of shape {list(shape)}")


def _are_whole(numbers: Any) -> bool:
    """Whether this is a list of integers from 0 to 2⁴⁰ − 1."""
    return isinstance(numbers, list) and all(type(n) is int and 0 <= n < 2**40 for n in numbers)
