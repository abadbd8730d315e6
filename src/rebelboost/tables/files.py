"""Open CSV files with any common separator and encoding, Parquet and Excel files as lazy tables.

Several files with the same columns are one table.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from rebelboost.base.text import counted
from rebelboost.exceptions import TableError
from rebelboost.tables.csv_files import SEPARATORS, TableLines, as_utf8, fault_in, table_lines
from rebelboost.tables.layout import DETECTED, NO_HEADER, Layout, column_names, is_headed
from rebelboost.tables.spreadsheets import read_sheet

PARQUET = {".parquet", ".pq"}
EXCEL = {".xlsx", ".xlsm", ".xls"}
STDIN = "-"
UNREAD = {".ods", ".json", ".jsonl", ".feather", ".arff", ".npz", ".npy", ".pkl"}
UNREADABLE = (
    pl.exceptions.ComputeError,
    pl.exceptions.NoDataError,
    pl.exceptions.SchemaError,
)
"""Errors that polars raises for invalid files; its other errors are bugs of ours."""
MOST_CELLS = 20_000_000
"""Tables of several files with more cells than this are trained on in pieces."""
BLANK = "\nblank"
"""A column name that does not occur in files."""


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

    def check_finite(self, values: pl.Series, first: int = 1) -> None:
        """Raise an error if a number is infinite; `first` is the number of the first row."""
        rows = values.is_infinite().fill_null(value=False).arg_true()
        if len(rows):
            raise TableError(infinite_message(values.name, *self.place(first + rows[0])))


def infinite_message(name: str, row: int, path: Path) -> str:
    """Say which cell is infinite."""
    return (
        f"row {row:,} of {path} has an infinite value in column {name!r}: leave the cell empty, or write "
        "a large number"
    )


@contextmanager
def opened(
    path: str | Path, *, headed: bool | None = None, layout: Layout = DETECTED
) -> Iterator[Table]:
    """Open a table. Errors while reading it are raised as `TableError` with a message of one line.

    `headed` says whether the first line contains column names. By default this is detected.
    """
    if str(path) == STDIN or Path(path).is_fifo():
        with _copied(path) as copy, opened(copy, headed=headed, layout=layout) as table:
            yield replace(table, path=Path("standard input") if str(path) == STDIN else Path(path))
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
    with as_utf8(path) as (readable, encoding), table_lines(readable, path, layout) as lines:
        table = _csv(lines, path, encoding, headed=headed)
        try:
            yield table
        except UNREADABLE as error:
            fault = fault_in(readable, path, lines.separator, len(table.names))
            raise TableError(fault) from error


@contextmanager
def _copied(path: str | Path) -> Iterator[Path]:
    """Copy standard input or a named pipe to a temporary file, because a table is read several times."""
    from_stdin = str(path) == STDIN
    if from_stdin and sys.stdin is None:
        raise TableError("standard input is closed: give a file")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / ("standard input.csv" if from_stdin else "pipe.csv")
        with ExitStack() as stack:
            file = stack.enter_context(copy.open("wb"))
            source = sys.stdin.buffer if from_stdin else stack.enter_context(Path(path).open("rb"))
            shutil.copyfileobj(source, file)
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


ENDINGS = (*sorted(PARQUET), ".csv", ".tsv", ".txt", ".gz")
"""Files of a folder that are read."""


@dataclass(frozen=True)
class Source:
    """Where a table is: in one file, or in several with the same columns."""

    files: tuple[Path, ...]
    given: str
    """What the user calls it."""
    stem: str
    """Name for files that are made of it."""
    names: tuple[str, ...]
    """The files as they are given on the command line."""
    layout: Layout = DETECTED
    """Where the table is in each file."""

    def __str__(self) -> str:
        return self.given

    @property
    def words(self) -> tuple[str, ...]:
        """The table as it is given on the command line."""
        return (*self.names, *self.layout.words())

    @property
    def name(self) -> str:
        """Its name without the folder."""
        return Path(self.given).name


def source_of(given: Sequence[Path], layout: Layout = DETECTED) -> Source:
    """The table that a file, a folder, a pattern or several of them stand for."""
    return replace(_source(given), layout=layout)


def _source(given: Sequence[Path]) -> Source:
    first = given[0]
    if len(given) == 1 and not first.is_dir() and "*" not in first.name:
        return Source((first,), str(first), first.stem, (str(first),))
    files = tuple(file for path in given for file in _files(path))
    if len(given) == 1:
        folder = first if first.is_dir() else first.parent
        return Source(files, str(first), folder.resolve().name or "model", (str(first),))
    pattern = files[0].parent / f"*{files[0].suffix}"
    if len(set(files)) < len(files):
        again = next(file for file in files if files.count(file) > 1)
        raise TableError(f"{again} is given twice: give each file once")
    if sorted(files) == sorted(pattern.parent.glob(pattern.name)):  # the shell has expanded it
        stem = pattern.parent.resolve().name or "model"
        return Source(files, str(pattern), stem, (str(pattern),))
    others = f"{files[0]} and {counted(len(files) - 1, 'other file')}"
    return Source(files, others, "model", tuple(map(str, given)))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if _is_table(p))
        if not found:
            raise TableError(f"{path} holds no Parquet or CSV files: give a folder of tables")
        return found
    if "*" not in path.name:
        return [path]
    found = sorted(p for p in path.parent.glob(path.name) if p.is_file())
    if not found:
        raise TableError(f"there are no files {path}: check the folder and the pattern")
    return found


def _is_table(path: Path) -> bool:
    hidden = path.name.startswith((".", "_"))  # such as _SUCCESS
    return path.is_file() and not hidden and path.suffix.lower() in ENDINGS


def is_large(source: Source, table: Table) -> bool:
    """Whether files are trained on in pieces."""
    if not table.parts and len(source.files) == 1:
        return False
    n_rows = int(table.frame.select(pl.len()).collect(engine="streaming").item())
    return n_rows * len(table.types) > MOST_CELLS


@contextmanager
def opened_source(source: Source) -> Iterator[Table]:
    """Open a table of one or several files; errors name the file."""
    if len(source.files) == 1:
        with opened(source.files[0], layout=source.layout) as table:
            yield table
        return
    with ExitStack() as stack:
        tables = [stack.enter_context(opened(file, layout=source.layout)) for file in source.files]
        try:
            yield _joined(source, tables)
        except UNREADABLE:
            for file in source.files:
                with opened(
                    file, layout=source.layout
                ) as each:  # raises the error, with its name, for the one at fault
                    each.frame.select(pl.all().null_count()).collect(engine="streaming")
            raise


def _joined(source: Source, tables: Sequence[Table]) -> Table:
    first = tables[0]
    for each in tables[1:]:
        _check_names(each, first)
    types = {name: _common_type(name, tables) for name in first.names}
    parts = tuple(
        (each.path, each.frame.select(pl.col(n).cast(dtype) for n, dtype in types.items()))
        for each in tables
    )
    forms = list(dict.fromkeys(each.form for each in tables))
    return Table(
        Path(source.given),
        pl.concat([frame for _, frame in parts]),
        types,
        f"{counted(len(tables), 'file')}: {' and '.join(forms)}",
        tuple(dict.fromkeys(note for each in tables for note in each.notes)),
        first.unnamed,
        parts,
    )


def _check_names(each: Table, first: Table) -> None:
    odd = [name for name in each.names if name not in first.types]
    lacking = [name for name in first.names if name not in each.types]
    remedy = "give all files the same columns"
    headless = [t for t in (each, first) if any(note.startswith(NO_HEADER) for note in t.notes)]
    if (odd or lacking) and len(headless) == 1:
        other = first if headless[0] is each else each
        raise TableError(
            f"{headless[0].path} has no header, but {other.path} has: begin it with the names of its columns"
        )
    if lacking:
        raise TableError(
            f"{each.path} has no column {lacking[0]!r}, which is in {first.path}: {remedy}"
        )
    if odd:
        raise TableError(f"{each.path} has a column {odd[0]!r}, which {first.path} lacks: {remedy}")


def _common_type(name: str, tables: Sequence[Table]) -> Any:
    """The type that all files can be read as."""
    types = [each.types[name] for each in tables]
    known = [(each, t) for each, t in zip(tables, types, strict=True) if t != pl.Null]
    if not known:
        return pl.Null()
    first, dtype = known[0]
    for each, other in known[1:]:
        if _kind(other) != _kind(dtype):
            raise TableError(
                f"{each.path}: column {name!r} holds {_kind(other)}, but {_kind(dtype)} in {first.path}: "
                "convert it to one type"
            )
    if all(other == dtype for _, other in known):
        return dtype
    wide: dict[str, Any] = {
        "numbers": pl.Float64(),
        "text": pl.String(),
        "dates": pl.Datetime("us"),
    }
    if all(other.is_integer() for _, other in known):
        return pl.Int64()
    return wide[_kind(dtype)]


def _kind(dtype: Any) -> str:
    if dtype.is_numeric():
        return "numbers"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if dtype == pl.Date or (dtype == pl.Datetime and dtype.time_zone is None):
        return "dates"
    return str(dtype)
