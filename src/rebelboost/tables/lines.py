"""Lines of CSV files: how they are divided into cells, whether the first has names, and what is wrong."""

import csv
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from rebelboost.exceptions import TableError

SEPARATORS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma", " ": "space"}
"""In the order in which they are tried: commas also occur in numbers, and spaces in names."""
NO_HEADER = "no header"
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


def is_headed(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row contains column names.

    It does if a column has text above numbers; it does not if columns have numbers above numbers, nor if all
    columns have text and each text of the first row occurs again below it.
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
    if numbers_below:
        return not _are_values(first)
    return not all(
        any(len(row) > c and row[c].strip() == cell.strip() for row in below)
        for c, cell in enumerate(first)
    )


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


def column_names(first: Sequence[str], *, headed: bool) -> tuple[list[str], list[str]]:
    """Return unique names of the columns, and notes on changed names."""
    numbered = [f"column_{i + 1}" for i in range(len(first))]
    if not headed:
        note = f"{NO_HEADER}: the columns are named column_1 to {numbered[-1]}"
        return numbered, [note]
    notes, names, taken = [], [], set()
    for given, number in zip(first, numbered, strict=True):
        name = base = " ".join(given.split()) or number
        again = 2
        while name in taken:
            name, again = f"{base}_{again}", again + 1
        if name != base:
            notes.append(f"several columns are named {base!r}: a later one is renamed to {name!r}")
        names.append(name)
        taken.add(name)
    return names, notes


# ---- faults


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
