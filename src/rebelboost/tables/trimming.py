"""The lines of a CSV file that are its table: without titles, comments, a line of units, and footnotes."""

import io
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rebelboost.exceptions import TableError
from rebelboost.tables.layout import (
    COMMENT,
    MOST_FOOTNOTES,
    Bounds,
    Layout,
    find_bounds,
    footnotes,
    width_of,
)
from rebelboost.tables.lines import SEPARATORS, cells_of_lines, find_separator

SAMPLE, MOST_SAMPLED = 1 << 16, 1 << 26
"""Number of characters from which separator and header are detected, and the most if lines are long."""
FEWEST_LINES = 5
"""Lines that are read in any case: names of 20,000 columns take more characters than usual."""
TAIL = 1 << 16
"""Number of bytes at the end of a file in which footnotes are looked for."""
SEP = re.compile(r"sep=(.)\s*", re.IGNORECASE)
"""The first line of files for Excel may name the separator."""
BLANK = "".join(SEPARATORS) + '"\r\n'
"""What lines without text consist of."""
BOM = "\ufeff"


class TableLines(NamedTuple):
    """The lines of a table."""

    path: Path
    """A file of them: the original, or a copy of a part of it."""
    separator: str
    rows: list[list[str]]
    """Cells of the first lines, from the names of columns on."""
    notes: list[str]


@contextmanager
def trimmed(readable: Path, path: Path, layout: Layout) -> Iterator[TableLines]:
    """Find the table in a file in UTF-8, which is a copy of `path` or the same."""
    lines = _first_lines(readable)
    begin = layout.skip_rows or 0
    named = SEP.fullmatch(lines[0].removeprefix(BOM)) if lines else None
    if named is not None and named[1] in SEPARATORS:
        separator, begin = named[1], max(begin, 1)
    else:
        told = [line for line in lines[begin:] if not line.startswith(COMMENT)]
        separator = find_separator(told or lines)
    parsed = [
        (begin + n, row)
        for n, row in cells_of_lines(_unmarked(lines[begin:]), separator, path)
        if any(map(str.strip, row))
    ]
    if not parsed:
        raise TableError(f"{path} has only blank lines: a table needs a header and rows")
    rows = [row for _, row in parsed]
    bounds = find_bounds(rows) if layout.skip_rows is None else Bounds()
    cut = _Cut(lines, [begin, *(n for n, _ in parsed)], bounds)
    last, size = _last_lines(readable, separator, cut.after)
    if layout.skip_rows is None:
        bounds = bounds._replace(below=footnotes([row for row, _ in last], width_of(rows)))
    end = last[len(last) - bounds.below :]
    notes = bounds.notes(rows, [row for row, _ in end if any(row)])
    below = sum(n_bytes for _, n_bytes in end)
    rows = [*rows[bounds.above : bounds.above + 1], *rows[bounds.above + 1 + bounds.second :]]
    if cut.is_whole and not below:
        yield TableLines(readable, separator, rows, notes)
        return
    with tempfile.NamedTemporaryFile("wb", suffix=".csv") as copy:
        with readable.open("rb") as file:
            file.seek(cut.before)
            copy.write(file.read(cut.header))
            file.seek(cut.after)
            left = size - below - cut.after
            while left > 0 and (chunk := file.read(min(left, 1 << 20))):
                copy.write(chunk)
                left -= len(chunk)
        copy.flush()
        yield TableLines(Path(copy.name), separator, rows, notes)


def _unmarked(lines: Sequence[str]) -> list[str]:
    """Lines without the mark at the beginning of files of some programs."""
    return [line.removeprefix(BOM) if n == 0 else line for n, line in enumerate(lines)]


class _Cut:
    """Numbers of bytes: before the names of columns, of these, and before the first row of values."""

    def __init__(self, lines: Sequence[str], ends: Sequence[int], bounds: Bounds) -> None:
        """`ends`: the number of lines before the first row, then up to the end of each."""
        first, header = ends[bounds.above], ends[bounds.above + 1]
        while not lines[first].strip(BLANK):
            first += 1
        self.is_whole = first == 0 and not bounds.second
        self.before = _n_bytes(lines[:first])
        self.header = _n_bytes(lines[first:header])
        self.after = self.before + self.header
        self.after += _n_bytes(lines[header : ends[bounds.above + 1 + bounds.second]])


def _n_bytes(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) for line in lines)


def _first_lines(readable: Path) -> list[str]:
    """Lines of a sample, which are complete."""
    with readable.open(encoding="utf-8", newline="") as file:
        sample = file.read(SAMPLE)
        while sample.count("\n") < FEWEST_LINES and len(sample) < MOST_SAMPLED:
            more = file.read(len(sample))
            if not more:
                break
            sample += more
        is_all = not file.read(1)
    lines = list(io.StringIO(sample, newline="\n"))
    if not is_all and len(lines) > 1:
        del lines[-1]  # it may be incomplete
    return lines


def _last_lines(
    readable: Path, separator: str, after: int
) -> tuple[list[tuple[list[str], int]], int]:
    """Cells and bytes of each of the last lines after so many bytes, and the size of the file."""
    size = readable.stat().st_size
    with readable.open("rb") as file:
        begin = max(after, size - TAIL)
        file.seek(begin)
        lines = file.read().splitlines(keepends=True)
    if begin > after:
        del lines[:1]  # it may be incomplete
    found: list[tuple[list[str], int]] = []
    for line in reversed(lines[-MOST_FOOTNOTES:]):
        text = line.decode(errors="replace")
        if text.count('"') % 2:
            break  # a part of a quoted cell with several lines
        cells = [cell.strip('" \r\n') for cell in text.split(separator)]
        found.insert(0, (cells if text.strip() else [], len(line)))
    return found, size
