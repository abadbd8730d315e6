"""Open CSV files with any common separator and encoding, and Parquet files, as lazy tables."""

import codecs
import gzip
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import polars as pl

from rebelboost.exceptions import TableError
from rebelboost.tables.layout import DETECTED, Layout
from rebelboost.tables.lines import SEPARATORS, column_names, fault_in, is_headed
from rebelboost.tables.trimming import SAMPLE, TableLines, trimmed
from rebelboost.tables.workbooks import read_sheet

PARQUET = {".parquet", ".pq"}
EXCEL = {".xlsx", ".xlsm", ".xls"}
STDIN = "-"
UNREAD = {".ods", ".json", ".jsonl", ".feather", ".arff", ".npz", ".npy", ".pkl"}
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
    parts: tuple[tuple[Path, pl.LazyFrame], ...] = ()
    """Of a table of several files: each file and its rows."""
    is_sample: bool = False
    """Whether these are some rows of a larger table."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.types)

    def place(self, row: int) -> tuple[int, Path]:
        """Number of a row within its file, from 1, and the file; `row` counts all rows."""
        for path, frame in self.parts:
            n_rows = int(frame.select(pl.len()).collect(engine="streaming").item())
            if row <= n_rows:
                return row, path
            row -= n_rows
        return row, self.path


@contextmanager
def opened(
    path: str | Path, *, headed: bool | None = None, layout: Layout = DETECTED
) -> Iterator[Table]:
    """Open a table. Errors while reading it are raised as `TableError` with a message of one line.

    `headed` says whether the first line contains column names. By default this is detected.
    """
    if str(path) == STDIN:
        with _stdin() as copy, opened(copy, headed=headed, layout=layout) as table:
            yield replace(table, path=Path("standard input"))
        return
    path = Path(path)
    _check(path)
    if path.suffix.lower() in EXCEL:
        name, frame, notes = read_sheet(path, layout)
        yield Table(path, frame.lazy(), dict(frame.schema), f"Excel, sheet {name!r}", tuple(notes))
        return
    if path.suffix.lower() in PARQUET:
        with _raised_as(f"{path} cannot be read: it is not a valid Parquet file; write it again"):
            yield _parquet(path)
        return
    with _utf8(path) as (readable, encoding), trimmed(readable, path, layout) as lines:
        table = _csv(lines, path, encoding, headed=headed)
        try:
            yield table
        except UNREADABLE as error:
            fault = fault_in(readable, path, lines.separator, len(table.names))
            raise TableError(fault) from error


@contextmanager
def _stdin() -> Iterator[Path]:
    """Copy standard input to a temporary file, because a table is read several times."""
    if sys.stdin is None:
        raise TableError("standard input is closed: give a file")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "standard input.csv"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy


@contextmanager
def _raised_as(message: str) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise TableError(message) from error


def check_name(path: Path) -> None:
    """Raise an error for a name that is not text, so that nobody could read it in a message."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = str(path).encode(errors="replace").decode()
        raise TableError(f"the name {shown} is not valid UTF-8: rename the file") from None


def _check(path: Path) -> None:
    check_name(path)
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


def _csv(lines: TableLines, path: Path, encoding: str, *, headed: bool | None) -> Table:
    rows, separator = lines.rows, lines.separator
    headed = is_headed(rows) if headed is None else headed
    names, notes = column_names(rows[0], headed=headed)
    frame = pl.scan_csv(
        lines.path,
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
    return _counted(Table(path, frame, types, form, (*lines.notes, *notes), unnamed))
