"""CSV files as text: their encoding, their separator, and the lines that are the table.

Titles, comments, a line of units and footnotes are left out.
"""

import codecs
import csv
import gzip
import io
import re
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

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

SEPARATORS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma", " ": "space"}
"""In the order in which they are tried: commas also occur in numbers, and spaces in names."""
REGULAR = 0.95
"""Minimum share of lines that a separator must split into the same number of cells."""


def find_separator(lines: Sequence[str]) -> str:
    """Return the first separator that splits nearly all lines into the same number of cells.

    If there is none, return the one that does so for the most lines.
    """
    best, most = ",", 0.0
    for separator in SEPARATORS:
        widths = _widths(lines, separator)
        width, n_lines = Counter(widths).most_common(1)[0] if widths else (1, 0)
        share = n_lines / max(1, len(widths))
        if width > 1 and share >= REGULAR:
            return separator
        if width > 1 and share > most:
            best, most = separator, share
    return best


def _widths(lines: Sequence[str], separator: str) -> list[int]:
    """Number of cells of each line, up to one that this separator does not fit."""
    widths: list[int] = []
    with suppress(csv.Error):
        widths.extend(len(row) for row in csv.reader(lines, delimiter=separator) if row)
    return widths


def cells_of_lines(
    lines: Iterable[str], separator: str, path: Path
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each line and its cells; lines that are no cells raise an error."""
    reader = csv.reader(lines, delimiter=separator)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise TableError(_uncut(path, reader.line_num, str(error))) from error
        yield reader.line_num, cells


def _uncut(path: Path, line: int, reason: str) -> str:
    """Return a message about a line that cannot be divided into cells."""
    if "field larger" in reason:
        return (
            f"line {line:,} of {path} has a cell of more than {csv.field_size_limit():,} characters: "
            "close the quotation mark that opens it, or shorten it"
        )
    return (
        f"line {line:,} of {path} has a carriage return within a cell: quote the cell, or save the file "
        "again with the line ends of this system"
    )


def fault_in(readable: Path, path: Path, separator: str, n_names: int) -> str:
    """Say what is wrong with a file that cannot be read: the first long line, or an open quotation."""
    with readable.open(encoding="utf-8-sig", newline="") as file:
        for line, cells in cells_of_lines(file, separator, path):
            if len(cells) > n_names:
                return (
                    f"line {line:,} of {path} has {len(cells)} cells, but the first has {n_names}: quote "
                    f"text that contains a {SEPARATORS[separator]}"
                )
    begin = 1
    with readable.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        try:
            for _ in reader:
                begin = reader.line_num + 1
        except csv.Error:
            return (
                f"line {begin:,} of {path} has a quotation mark without a partner: close the quotation, "
                "and write quotation marks within it twice"
            )
    return f"{path} cannot be read as a table: save it again as CSV in UTF-8"


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
ENCODINGS = ("utf-8", "cp1252", "latin-1")
"""The first one that decodes the file is used; the last one always does."""
CHUNK = 1 << 20
"""Number of bytes read at a time."""


class TableLines(NamedTuple):
    """The lines of a table."""

    path: Path
    """A file of them: the original, or a copy of a part of it."""
    separator: str
    rows: list[list[str]]
    """Cells of the first lines, from the names of columns on."""
    notes: list[str]


@contextmanager
def table_lines(readable: Path, path: Path, layout: Layout) -> Iterator[TableLines]:
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


# ---- encoding


@contextmanager
def as_utf8(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield a file in UTF-8, which is a temporary copy if necessary, and the original encoding."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        encoding = _encoding(path, packed=packed)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableError(
            f"{path} is a damaged gzip file: copy it again, or compress it again"
        ) from error
    only_returns = _has_only_returns(path, encoding, packed=packed)
    if encoding == "utf-8" and not packed and not only_returns:
        yield path, encoding
        return
    # On disk, because large files may not fit into memory.
    with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8", newline="") as copy:
        decoder = codecs.getincrementaldecoder(encoding)()
        with _bytes(path, packed=packed) as file:
            while chunk := file.read(CHUNK):
                text = decoder.decode(chunk)
                copy.write(text.replace("\r", "\n") if only_returns else text)
        copy.flush()
        yield Path(copy.name), encoding


def _has_only_returns(path: Path, encoding: str, *, packed: bool) -> bool:
    """Whether lines end in carriage returns alone, as old programs write them."""
    with _bytes(path, packed=packed) as file:
        start = codecs.getincrementaldecoder(encoding)().decode(file.read(SAMPLE))
    return "\r" in start and "\n" not in start


def _bytes(path: Path, *, packed: bool) -> IO[bytes]:
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def _encoding(path: Path, *, packed: bool) -> str:
    with _bytes(path, packed=packed) as file:
        start = file.read(SAMPLE)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        if not _fits(path, "utf-16", packed=packed):
            raise TableError(f"{path} is damaged UTF-16 text: save it again as CSV in UTF-8")
        return "utf-16"
    if b"\0" in start:
        raise TableError(
            f"{path} is not a text file: give a CSV file, or a Parquet file with the suffix .parquet"
        )
    return next(name for name in ENCODINGS if _fits(path, name, packed=packed))


def _fits(path: Path, encoding: str, *, packed: bool) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with _bytes(path, packed=packed) as file:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
