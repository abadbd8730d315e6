"""Where the table is in a file: below titles, comments and second names of columns, above footnotes.

Here it is also decided whether the first row has the names of columns.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rebelboost.base.cells import MISSING, MISSING_NUMBERS
from rebelboost.base.names import shown_cell
from rebelboost.base.text import counted

MOST_TITLES, MOST_FOOTNOTES = 30, 20
"""Maximum number of rows above the header, and below the table."""
FEWEST_BELOW = 2
"""Minimum number of rows below a second line of names."""
NO_HEADER = "no header"
COMMENT = "#"
UNIT = re.compile(r"[\[(].*[\])]")
TOTAL = re.compile(
    r"(grand |sub)?totals?:?|sums?:?|summe:?|gesamt:?|average:?|mean:?|count:?", re.IGNORECASE
)
Row = Sequence[str]


class Layout(NamedTuple):
    """The user's options for where the table is."""

    skip_rows: int | None = None
    """Number of lines above the header; all other lines then belong to the table. None: detected."""
    sheet: str = ""
    """Name or number, from 1, of the sheet of a workbook; empty: the first."""

    def words(self) -> list[str]:
        """Options as on the command line."""
        skip = [] if self.skip_rows is None else ["--skip-rows", str(self.skip_rows)]
        return [*skip, *(["--sheet", self.sheet] if self.sheet else [])]


DETECTED = Layout()


class Bounds(NamedTuple):
    """Numbers of rows that do not belong to the table."""

    above: int = 0
    """Before the names of columns."""
    second: int = 0
    """Between the names and the first row of values: 1 for a line of units."""
    below: int = 0

    def notes(self, rows: Sequence[Row], last: Sequence[Row]) -> list[str]:
        """Say what is skipped; `last` are the rows below the table."""
        notes = []
        if self.above:
            notes.append(f"skipped {_some(rows[: self.above])} above the names of columns")
        if self.second:
            found = rows[self.above + 1 : self.above + 1 + self.second]
            notes.append(f"skipped {_some(found)} between the names of columns and their values")
        if self.below:
            notes.append(f"skipped {_some(last)} below the table")
        if notes:
            notes[-1] += " (--skip-rows 0 reads all lines)"
        return notes


def _some(rows: Sequence[Row]) -> str:
    texts = [" ".join(cell.strip() for cell in row if cell.strip()) for row in rows]
    first = next((text for text in texts if text), "")
    return f"{counted(len(rows), 'line')}, {shown_cell(first)}," if first else "a blank line"


def find_bounds(rows: Sequence[Row]) -> Bounds:
    """Find the names of columns among the first rows of a file, of which none is blank."""
    above = _titles(rows)
    if above + 1 >= len(rows) or not _is_second(rows[above + 1], rows[above + 2 :]):
        return Bounds(above)
    first, second = rows[above], rows[above + 1]
    if _are_names(second) and not _are_names(first):
        return Bounds(above + 1)  # names of groups of columns above those of columns
    return Bounds(above, 1)


def _titles(rows: Sequence[Row]) -> int:
    """Number of rows above the names of columns."""
    width = width_of(rows)
    n = 0
    while n < min(MOST_TITLES, len(rows) - 1) and _is_title(rows[n], width):
        n += 1
    comments = 0
    while comments < n and rows[comments][0].startswith(COMMENT):
        comments += 1
    rest = rows[n:]
    filled = _filled(rest[0])
    is_header = len(filled) > width / 2 and is_headed(rest) and not any(map(is_number, filled))
    return n if is_header else comments


def width_of(rows: Sequence[Row]) -> int:
    """The usual number of cells of a row."""
    ((width, _),) = Counter(map(len, rows)).most_common(1)
    return width


def _filled(row: Row) -> list[str]:
    return [cell for cell in row if cell.strip()]


def _is_title(row: Row, width: int) -> bool:
    if row[0].startswith(COMMENT) and len(row) != width:
        return True
    return width > 1 and bool(row[0].strip()) and len(_filled(row)) <= max(1, width // 2)


def _is_second(row: Row, below: Sequence[Row]) -> bool:
    """Whether a row has words, such as units, where all rows below it have numbers."""
    if len(below) < FEWEST_BELOW:
        return False
    words = []
    for c, cell in enumerate(row):
        values = [_value(each[c]) for each in below if len(each) > c]
        present = [value for value in values if value]
        if present and all(map(is_number, present)) and _value(cell):
            words.append(cell.strip())
    if not words or any(map(is_number, words)):
        return False
    return len(words) > 1 or UNIT.fullmatch(words[0]) is not None


def _value(cell: str) -> str:
    text = cell.strip()
    return "" if text in MISSING or text in MISSING_NUMBERS else text


def _are_names(row: Row) -> bool:
    names = [cell.strip() for cell in row]
    return all(names) and len(set(names)) == len(names)


def footnotes(last: Sequence[Row], width: int) -> int:
    """Number of rows at the end of a file that are not rows of its table; blank ones are empty lists."""
    n, found = len(last), 0
    while n > 0:
        begin = n
        while begin > 0 and _is_sparse(last[begin - 1], width):
            begin -= 1
        if 0 < begin < n and not _filled(last[begin - 1]):  # a blank line sets them apart
            found, n = len(last) - begin, begin
        elif _filled(last[n - 1]) and not _is_footnote(last[n - 1], width):
            break
        else:
            n -= 1
            found = len(last) - n if _filled(last[n]) else found
    return found


def _is_sparse(row: Row, width: int) -> bool:
    """Whether there is text in the first cell, and in few others."""
    return bool(row) and bool(row[0].strip()) and len(_filled(row)) <= max(1, width // 4)


def _is_footnote(row: Row, width: int) -> bool:
    first = _filled(row)[0].strip()
    return row[0].startswith(COMMENT) or (
        width > 1
        and (TOTAL.fullmatch(first) is not None or (_is_sparse(row, width) and ":" in first))
    )


# ---- names of columns


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
