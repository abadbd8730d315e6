"""Where the rows of a stream come from: an iterable, a CSV file that grows, or a folder of files.

How far a file was read is kept in the project, in the same transaction as its rows: after a crash, the stream
goes on behind the last row that is in the project.
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from rebelboost.exceptions import ProjectError
from rebelboost.live.reading import Cells, cells_of
from rebelboost.live.store import Store
from rebelboost.tables.files import ENDINGS

GROWTH = 50
"""A batch has at most this part of the rows so far."""
MOST_AT_ONCE = 1000
PAUSE = 0.2
"""Seconds between looks at a file or a folder."""
OFFSETS = "followed"
"""Fact: how far files were read."""
LINES = ("", ".csv", ".tsv", ".txt")
"""Endings of files that may grow by lines."""


class Limits(NamedTuple):
    """Options of a stream; see `Project.follow`."""

    half_life: float | None
    forget_after: int | None
    max_rows: int
    patience: float
    at_once: int | None


class Batch(NamedTuple):
    """Rows that are predicted before their labels are learned."""

    cells: Cells
    done: Callable[[], None]
    """Notes that they were read; called in the transaction that keeps them."""


def batches(
    source: Any, store: Store, limits: Limits, n_so_far: Callable[[], int]
) -> Iterator[Batch]:
    """Yield the rows of a source: few at first, later more."""

    def size() -> int:
        return limits.at_once or max(1, min(MOST_AT_ONCE, n_so_far() // GROWTH))

    if isinstance(source, str | PathLike):
        path = Path(source)
        if path.is_dir():
            yield from _folder(path, store, limits, size)
        elif not path.is_file():
            raise ProjectError(f"there is no file {path}: give a file or a folder")
        elif path.suffix.lower() in LINES:
            yield from _growing(path, store, limits, size)
        else:
            yield from _file(path, store, size)
        return
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise ProjectError(
            f"the source is a {type(source).__name__}: give rows as dicts, a file, or a folder"
        )
    rows = iter(source)
    while some := list(islice(rows, size())):
        yield Batch(cells_of(some), _nothing)


def _nothing() -> None:
    """Nothing is to be remembered."""


def _place(store: Store, path: Path) -> tuple[int, int]:
    """How far a file was read: bytes, and rows after these."""
    start, rows = store.fact(OFFSETS, {}).get(str(path.resolve()), (0, 0))
    return int(start), int(rows)


def _divided(
    cells: Cells, store: Store, path: Path, size: Callable[[], int], start: int = 0
) -> Iterator[Batch]:
    """Rows of a file, or of a part that starts at this byte, without those that were read before."""
    name, read = str(path.resolve()), _place(store, path)
    first = read[1] if read[0] == start else 0
    while first < len(cells.rows):
        last = min(len(cells.rows), first + size())

        def done(last: int = last) -> None:
            store.set_fact(OFFSETS, {**store.fact(OFFSETS, {}), name: (start, last)})

        yield Batch(Cells(cells.names, cells.rows[first:last]), done)
        first = last


def _file(path: Path, store: Store, size: Callable[[], int]) -> Iterator[Batch]:
    yield from _divided(cells_of(path), store, path, size)


def _folder(folder: Path, store: Store, limits: Limits, size: Callable[[], int]) -> Iterator[Batch]:
    """Files of a folder, by name."""
    last = time.monotonic()
    seen: set[Path] = set()
    while True:
        new = [path for path in sorted(folder.iterdir()) if path not in seen and _is_table(path)]
        for path in new:
            seen.add(path)
            for batch in _file(path, store, size):
                yield batch
                last = time.monotonic()
        if not new:
            if time.monotonic() - last >= limits.patience:
                return
            time.sleep(PAUSE)


def _is_table(path: Path) -> bool:
    hidden = path.name.startswith((".", "_"))
    return path.is_file() and not hidden and path.suffix.lower() in ENDINGS


def _growing(path: Path, store: Store, limits: Limits, size: Callable[[], int]) -> Iterator[Batch]:
    """Complete lines of a CSV file, as they are appended."""
    last = time.monotonic()
    start = _place(store, path)[0]
    while True:
        with path.open("rb") as file:
            header = file.readline()
            start = max(start, len(header))
            file.seek(start)
            more = _whole_lines(file.read())
        if more and header.endswith(b"\n"):
            cells = _lines(path, header + more)
            yield from _divided(cells, store, path, size, start)
            start += len(more)
            last = time.monotonic()
            name = str(path.resolve())
            with store.changing():
                store.set_fact(OFFSETS, {**store.fact(OFFSETS, {}), name: (start, 0)})
        elif time.monotonic() - last >= limits.patience:
            return
        else:
            time.sleep(PAUSE)


def _whole_lines(text: bytes) -> bytes:
    """What is complete: up to the last line end that is not inside quotes."""
    end = text.rfind(b"\n")
    while end >= 0 and text[:end].count(b'"') % 2:
        end = text.rfind(b"\n", 0, end)
    return text[: end + 1]


def _lines(path: Path, text: bytes) -> Cells:
    """Rows of CSV lines, read as a file is."""
    with tempfile.TemporaryDirectory(prefix="rebelboost-") as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(text)
        return cells_of(copy)
