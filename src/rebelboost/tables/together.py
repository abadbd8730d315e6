"""Several files with the same columns as one table."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from rebelboost.base.text import counted
from rebelboost.exceptions import TableError
from rebelboost.tables.files import PARQUET, UNREADABLE, Table, opened
from rebelboost.tables.layout import DETECTED, Layout
from rebelboost.tables.lines import NO_HEADER

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
