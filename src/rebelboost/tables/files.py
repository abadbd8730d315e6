"""Files → tables: CSV of any separator and encoding, and Parquet; read lazily, cell by cell as text."""

import codecs
import csv
import gzip
import io
import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from rebelboost.exceptions import TableError

PARQUET = {".parquet", ".pq"}
UNREAD = {".xlsx", ".xls", ".ods", ".json", ".jsonl", ".feather", ".arff", ".npz", ".npy", ".pkl"}
SEPARATORS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma", " ": "space"}
"""In the order in which they are tried: commas also stand in numbers, spaces also in names."""
ENCODINGS = ("utf-8", "cp1252", "latin-1")
"""The first that fits; the last one always does."""
UNREADABLE = (
    pl.exceptions.ComputeError,
    pl.exceptions.NoDataError,
    pl.exceptions.SchemaError,
)
"""What polars raises of files; its other errors are mistakes of ours."""
BLANK = "\nblank"
"""A column name that no file has."""
CHUNK = 1 << 20
SAMPLE = 1 << 16
"""Bytes, and characters, from which separator and header are told."""
REGULAR = 0.95
"""Share of a sample's lines that must have as many cells as most, for a separator to be it."""


@dataclass(frozen=True)
class Table:
    """A file, understood as far as its cells: text where it was CSV, typed where it was Parquet."""

    path: Path
    frame: pl.LazyFrame
    types: dict[str, Any]
    """Column → polars type, in the file's order."""
    form: str
    """How the file was read, in a few words."""
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return list(self.types)


@contextmanager
def opened(path: str | Path, *, headed: bool | None = None) -> Iterator[Table]:
    """A table while it is needed; errors in reading it come out as one line.

    Whether it is `headed` by a line of names is told from that line, unless it is known.
    """
    path = Path(path)
    _check(path)
    if path.suffix.lower() in PARQUET:
        with _told(f"{path} cannot be read: is it whole, and Parquet?"):
            yield _parquet(path)
        return
    with _utf8(path) as (readable, encoding):
        table = _csv(readable, path, encoding, headed=headed)
        try:
            yield table
        except UNREADABLE as error:
            raise TableError(_ragged(readable, table) or _unread(path, error)) from error


@contextmanager
def _told(message: str) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise TableError(message) from error


def _unread(path: Path, error: Exception) -> str:
    reason = str(error).strip().split("\n")[0]
    return f"{path} cannot be read ({reason}): write it as CSV again, in UTF-8"


def _ragged(readable: Path, table: Table) -> str:
    """Which line has too many cells."""
    separator = next(mark for mark, word in SEPARATORS.items() if f"by {word}s" in table.form)
    n_names = len(table.names)
    with readable.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, delimiter=separator)
        for cells in lines:
            if len(cells) > n_names:
                return (
                    f"line {lines.line_num:,} of {table.path} has {len(cells)} cells, but the first "
                    f"has {n_names}: put text that holds a {SEPARATORS[separator]} in quotes"
                )
    return ""


def _check(path: Path) -> None:
    if path.is_dir():
        raise TableError(f"{path} is a folder: name a CSV or Parquet file in it")
    if not path.exists():
        raise TableError(f"there is no file {path}: look at its name and folder{_nearby(path)}")
    if path.suffix.lower() in UNREAD:
        raise TableError(f"{path} is neither CSV nor Parquet: save it as CSV first")
    try:
        with path.open("rb") as file:
            start = file.read(1)
    except OSError as error:
        raise TableError(f"{path} cannot be opened: {error.strerror}") from error
    if not start:
        raise TableError(f"{path} is empty: a table needs a line of names and a line for each row")


def _nearby(path: Path) -> str:
    import difflib

    others = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, others, 1)
    return f"; there is {path.parent / close[0]}" if close else ""


def _parquet(path: Path) -> Table:
    frame = pl.scan_parquet(path, glob=False)
    return _counted(Table(path, frame, dict(frame.collect_schema()), "Parquet"))


def _counted(table: Table) -> Table:
    if len(table.types) < 2:
        only = table.names[0] if table.names else ""
        raise TableError(
            f"{table.path} has one column only, {only!r}: a table needs a column to learn and one "
            "to learn from, separated by commas, semicolons, tabs, bars or spaces"
        )
    return table


# ---- text


@contextmanager
def _utf8(path: Path) -> Iterator[tuple[Path, str]]:
    """The file, or a temporary copy of it, as plain UTF-8; and the encoding that it has."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    encoding = _encoding(path, packed=packed)
    if encoding == "utf-8" and not packed:
        yield path, encoding
        return
    # On disk and not in memory, where a large file has no place.
    with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8", newline="") as copy:
        decoder = codecs.getincrementaldecoder(encoding)()
        with _bytes(path, packed=packed) as file:
            while chunk := file.read(CHUNK):
                copy.write(decoder.decode(chunk))
        copy.flush()
        yield Path(copy.name), encoding


def _bytes(path: Path, *, packed: bool) -> IO[bytes]:
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def _encoding(path: Path, *, packed: bool) -> str:
    with _bytes(path, packed=packed) as file:
        start = file.read(SAMPLE)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start:
        raise TableError(f"{path} is no text: give a CSV file, or a Parquet file called .parquet")
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


def _csv(readable: Path, path: Path, encoding: str, *, headed: bool | None) -> Table:
    with readable.open(encoding="utf-8-sig", newline="") as file:
        sample = file.read(SAMPLE)
    lines = list(io.StringIO(sample))
    if len(sample) == SAMPLE and len(lines) > 1:
        del lines[-1]  # cut in its midst
    separator = _separator(lines)
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    if not rows:
        raise TableError(f"{path} has blank lines only: a table needs names and rows")
    headed = _is_headed(rows) if headed is None else headed
    names, notes = _names(rows[0], headed=headed)
    frame = pl.scan_csv(
        readable,
        separator=separator,
        has_header=headed,
        infer_schema=False,  # all cells as text
        new_columns=names,  # theirs may be blank, or twice the same
        glob=False,
    )
    # Empty lines are no rows. Asking all columns also makes polars see lines that are too long.
    # By a column, since a filter on many others is pushed into its reader, which is slow at that.
    blank = pl.all_horizontal(pl.all().is_null()).alias(BLANK)
    frame = frame.with_columns(blank).filter(~pl.col(BLANK)).drop(BLANK)
    form = f"CSV, separated by {SEPARATORS[separator]}s, {encoding}"
    table = Table(path, frame, dict.fromkeys(names, pl.String()), form, tuple(notes))
    return _counted(table)


def _separator(lines: Sequence[str]) -> str:
    """The first that cuts nearly all lines into as many cells, or the one that does so best."""
    best, most = ",", 0.0
    for separator in SEPARATORS:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        width, n_lines = Counter(widths).most_common(1)[0] if widths else (1, 0)
        share = n_lines / max(1, len(widths))
        if width > 1 and share >= REGULAR:
            return separator
        if width > 1 and share > most:
            best, most = separator, share
    return best


def _is_headed(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is names: text above numbers says so; a number above numbers denies it."""
    first, below = rows[0], rows[1:]
    numbers_below = [
        c
        for c in range(len(first))
        if (cells := [row[c] for row in below if len(row) > c and row[c].strip()])
        and all(map(is_number, cells))
    ]
    if any(first[c].strip() and not is_number(first[c]) for c in numbers_below):
        return True
    return not numbers_below or not _are_values(first)


def _are_values(first: Sequence[str]) -> bool:
    """Whether a row of numbers is data; names that count up, or are years, are no data."""
    numbers = [float(cell.replace(",", ".")) for cell in first if is_number(cell)]
    counts_up = len(numbers) > 2 and all(b - a == 1 for a, b in itertools.pairwise(numbers))
    return bool(numbers) and not counts_up


def is_number(cell: str) -> bool:
    """Whether a cell is a number, with a decimal point or comma."""
    try:
        float(cell.strip().replace(",", ".", 1))
    except ValueError:
        return False
    return True


def _names(first: Sequence[str], *, headed: bool) -> tuple[list[str], list[str]]:
    """Names of the columns, each once; and what had to be done for that."""
    numbered = [f"column_{i + 1}" for i in range(len(first))]
    if not headed:
        told = f"the first line holds values, not names: columns are column_1 to {numbered[-1]}"
        return numbered, [told]
    notes, names = [], []
    for given, number in zip(first, numbered, strict=True):
        name = base = " ".join(given.split()) or number
        again = 2
        while name in names:
            name, again = f"{base}_{again}", again + 1
        if name != base:
            notes.append(f"two columns are called {base!r}: the later one is {name!r} here")
        names.append(name)
    return names, notes
