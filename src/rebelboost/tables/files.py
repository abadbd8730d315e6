"""Open CSV files with any common separator and encoding, and Parquet files, as lazy tables."""

import codecs
import csv
import gzip
import io
import itertools
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import polars as pl

from rebelboost.exceptions import TableError

PARQUET = {".parquet", ".pq"}
EXCEL = {".xlsx", ".xlsm", ".xls"}
EXCEL_READERS = {"fastexcel": "calamine", "openpyxl": "openpyxl"}
"""Package → name of the reader in polars."""
STDIN = "-"
UNREAD = {".ods", ".json", ".jsonl", ".feather", ".arff", ".npz", ".npy", ".pkl"}
SEPARATORS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma", " ": "space"}
"""In the order in which they are tried: commas also occur in numbers, and spaces in names."""
ENCODINGS = ("utf-8", "cp1252", "latin-1")
"""The first one that decodes the file is used; the last one always does."""
UNREADABLE = (
    pl.exceptions.ComputeError,
    pl.exceptions.NoDataError,
    pl.exceptions.SchemaError,
)
"""Errors that polars raises for invalid files; its other errors are bugs of ours."""
BLANK = "\nblank"
"""A column name that does not occur in files."""
CHUNK = 1 << 20
"""Number of bytes read at a time."""
SAMPLE = 1 << 16
"""Number of characters from which separator and header are detected."""
REGULAR = 0.95
"""Minimum share of lines that a separator must split into the same number of cells."""


@dataclass(frozen=True)
class Table:
    """An open file. The cells of CSV files are text; Parquet files have types."""

    path: Path
    frame: pl.LazyFrame
    types: dict[str, Any]
    """Column → polars type, in the order of the file."""
    form: str
    """Format of the file, in a few words."""
    notes: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    """Columns without a name in the file, as they are called here."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.types)


@contextmanager
def opened(path: str | Path, *, headed: bool | None = None) -> Iterator[Table]:
    """Open a table. Errors while reading it are raised as `TableError` with a message of one line.

    `headed` says whether the first line contains column names. By default this is detected.
    """
    if str(path) == STDIN:
        with _stdin() as copy, opened(copy, headed=headed) as table:
            yield replace(table, path=Path("standard input"))
        return
    path = Path(path)
    _check(path)
    if path.suffix.lower() in EXCEL:
        yield _excel(path)
        return
    if path.suffix.lower() in PARQUET:
        with _raised_as(f"{path} cannot be read: it is not a valid Parquet file; write it again"):
            yield _parquet(path)
        return
    with _utf8(path) as (readable, encoding):
        table = _csv(readable, path, encoding, headed=headed)
        try:
            yield table
        except UNREADABLE as error:
            raise TableError(_ragged(readable, table) or _unread(path, error)) from error


@contextmanager
def _stdin() -> Iterator[Path]:
    """Copy standard input to a temporary file, because a table is read several times."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "standard input.csv"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy


def _excel(path: Path) -> Table:
    """Read the first sheet of an Excel file, with whichever reader is installed."""
    engine = next((name for module, name in EXCEL_READERS.items() if find_spec(module)), None)
    if engine is None:
        raise TableError(
            f'{path} is an Excel file, which needs a reader: pip install "rebelboost[excel]", '
            "or save it as CSV"
        )
    try:
        frame = pl.read_excel(path, engine=engine)  # type: ignore[call-overload]
    except Exception as error:  # each reader has its own errors
        reason = str(error).strip().split("\n")[0]
        raise TableError(f"{path} cannot be read ({reason}): save it as CSV") from error
    return _counted(Table(path, frame.lazy(), dict(frame.schema), "Excel, first sheet"))


@contextmanager
def _raised_as(message: str) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise TableError(message) from error


def _unread(path: Path, error: Exception) -> str:
    reason = str(error).strip().split("\n")[0]
    return f"{path} cannot be read ({reason}): save it again as CSV in UTF-8"


def _ragged(readable: Path, table: Table) -> str:
    """Return a message that names the first line with too many cells, or an empty text."""
    separator = next(mark for mark, word in SEPARATORS.items() if f"by {word}s" in table.form)
    n_names = len(table.names)
    with readable.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, delimiter=separator)
        for cells in lines:
            if len(cells) > n_names:
                return (
                    f"line {lines.line_num:,} of {table.path} has {len(cells)} cells, but the first "
                    f"has {n_names}: quote text that contains a {SEPARATORS[separator]}"
                )
    return ""


def _check(path: Path) -> None:
    if path.is_dir():
        raise TableError(f"{path} is a folder: give a CSV or Parquet file")
    if not path.exists():
        raise TableError(f"there is no file {path}: {_nearby(path) or 'check its name and folder'}")
    if path.suffix.lower() in UNREAD:
        raise TableError(f"{path} is neither CSV nor Parquet: save it as CSV first")
    try:
        with path.open("rb") as file:
            start = file.read(1)
    except OSError as error:
        raise TableError(f"{path} cannot be opened: {error.strerror}") from error
    if not start:
        raise TableError(f"{path} is empty: a table needs a header and rows")


def _nearby(path: Path) -> str:
    import difflib

    others = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, others, 1)
    return f"did you mean {path.parent / close[0]}?" if close else ""


def _parquet(path: Path) -> Table:
    frame = pl.scan_parquet(path, glob=False)
    return _counted(Table(path, frame, dict(frame.collect_schema()), "Parquet"))


def _counted(table: Table) -> Table:
    if len(table.types) < 2:
        only = table.names[0] if table.names else ""
        raise TableError(
            f"{table.path} has only one column, {only!r}: a table needs a target and at least one "
            "other column, separated by commas, semicolons, tabs, bars or spaces"
        )
    return table


# ---- text


@contextmanager
def _utf8(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield a file in UTF-8, which is a temporary copy if necessary, and the original encoding."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    encoding = _encoding(path, packed=packed)
    if encoding == "utf-8" and not packed:
        yield path, encoding
        return
    # On disk, because large files may not fit into memory.
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


def _csv(readable: Path, path: Path, encoding: str, *, headed: bool | None) -> Table:
    with readable.open(encoding="utf-8-sig", newline="") as file:
        sample = file.read(SAMPLE)
    lines = list(io.StringIO(sample))
    if len(sample) == SAMPLE and len(lines) > 1:
        del lines[-1]  # it may be incomplete
    separator = _separator(lines)
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    if not rows:
        raise TableError(f"{path} has only blank lines: a table needs a header and rows")
    headed = _is_headed(rows) if headed is None else headed
    names, notes = _names(rows[0], headed=headed)
    frame = pl.scan_csv(
        readable,
        separator=separator,
        has_header=headed,
        infer_schema=False,  # all cells as text
        new_columns=names,  # names in the file may be empty or repeated
        glob=False,
    )
    # Skip empty lines. Reading all columns also makes polars detect lines that are too long.
    # The filter uses an extra column, because polars would push a filter on many columns into its
    # CSV reader, where it is slow.
    blank = pl.all_horizontal(pl.all().is_null()).alias(BLANK)
    frame = frame.with_columns(blank).filter(~pl.col(BLANK)).drop(BLANK)
    form = f"CSV, separated by {SEPARATORS[separator]}s, {encoding}"
    unnamed = tuple(
        n for n, given in zip(names, rows[0], strict=True) if headed and not given.strip()
    )
    types = dict.fromkeys(names, pl.String())
    return _counted(Table(path, frame, types, form, tuple(notes), unnamed))


def _separator(lines: Sequence[str]) -> str:
    """Return the first separator that splits nearly all lines into the same number of cells.

    If there is none, return the one that does so for the most lines.
    """
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
    """Whether the first row contains column names.

    It does if a column has text above numbers; it does not if columns have numbers above numbers.
    """
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
    """Whether the first row contains data; consecutive numbers, such as years, are names."""
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
    """Return unique names of the columns, and notes on changed names."""
    numbered = [f"column_{i + 1}" for i in range(len(first))]
    if not headed:
        note = f"no header: the columns are named column_1 to {numbered[-1]}"
        return numbered, [note]
    notes, names = [], []
    for given, number in zip(first, numbered, strict=True):
        name = base = " ".join(given.split()) or number
        again = 2
        while name in names:
            name, again = f"{base}_{again}", again + 1
        if name != base:
            notes.append(f"several columns are named {base!r}: a later one is renamed to {name!r}")
        names.append(name)
    return names, notes
