"""Records, dicts of column and cell, as numbers: what exported programs do, in Python.

Cells are text as it stands in a table, or numbers, Booleans, dates and times. `encode.mjs` is the same for
JavaScript, and the command's own reading of whole tables is in `rebelboost.tables`.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import groupby
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.cells import MISSING, MISSING_NUMBERS
from rebelboost.base.names import listed, printed, shown_cell
from rebelboost.exceptions import TableError
from rebelboost.export.reading import (
    CATEGORY,
    DATE,
    MONTH,
    N_WORDS,
    NUMBER,
    TIME,
    WEEKDAY,
    NumberForm,
    Reading,
)

NAN = float("nan")
SECOND, DAY = 10**6, 86_400 * 10**6
"""Microseconds."""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
WORDS = re.compile(r"\w\w+")
PIECES = {
    "Y": "(?P<Y>[0-9]{1,4})", "m": "(?P<m>[0-9]{1,2})", "d": "(?P<d>[0-9]{1,2})",
    "H": "(?P<H>[0-9]{1,2})", "M": "(?P<M>[0-9]{1,2})", "S": "(?P<S>[0-9]{1,2})",
    "b": "(?P<b>[A-Za-z]{3})", "f": r"(?:\.(?P<f>[0-9]+))?",
    "z": r"(?P<z>[Zz]|[-+][0-9]{2}:?(?:[0-9]{2})?)",
}  # fmt: skip
PLAIN = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_ABSENT_TEXT, _ABSENT_NUMBER = frozenset(MISSING), frozenset((*MISSING, *MISSING_NUMBERS))
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  (moments of tables have no zone)
_FIRST_DAY = _EPOCH.toordinal()
_PANDAS_MISSING = ("NAType", "NaTType")

Reader = Callable[[Any], float]
"""A cell, which is not missing, as a number; NaN if it cannot be read."""
ColumnReader = Callable[[Any], Iterable[float]]
"""A cell as all features of its column that follow one another."""


class Noted(NamedTuple):
    """Cells of a column that count as missing, though there is something in them."""

    column: str
    n_cells: int
    example: Any
    is_category: bool

    def __str__(self) -> str:
        if self.is_category:
            return (
                f"{self.column}: {self.n_cells:,} cell(s) with categories that training never saw, such as "
                f"{shown_cell(self.example)}, count as missing"
            )
        return (
            f"{self.column}: {self.n_cells:,} cell(s) in another format than in the training data, such as "
            f"{shown_cell(self.example)}, count as missing"
        )


class RecordReader:
    """Reads records as a model's training table was read."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self.readings = tuple(readings)
        self.columns = tuple(dict.fromkeys(reading.column for reading in readings))
        self._needed = frozenset(self.columns)
        self._readers = _column_readers(self.readings)

    def __reduce__(self) -> Any:
        return RecordReader, (self.readings,)

    def __call__(self, records: Sequence[Mapping[str, Any]]) -> Floats:
        """(N, d) numbers: codes of categories, NaN for what is missing or cannot be read."""
        found: list[float] = []
        for n, record in enumerate(records):
            if type(record) is not dict or not self._needed <= record.keys():
                self._check(record, n + 1)
            for column, read in self._readers:
                cell = record[column]
                try:
                    found += read(cell)
                except (TypeError, ValueError, OverflowError) as error:
                    told = str(error) or f"it is a {type(cell).__name__}"
                    raise TableError(
                        f"row {n + 1:,} has {shown_cell(repr(cell))} in column {column!r}: {told}"
                    ) from None
        values = np.array(found, dtype=np.float64).reshape(len(records), len(self.readings))
        infinite = np.isinf(values)
        if infinite.any():
            n, f = np.argwhere(infinite)[0].tolist()
            raise TableError(
                f"row {n + 1:,} has an infinite value in column {self.readings[f].column!r}: give None, or "
                "a large number"
            )
        return values

    def notes(self, records: Sequence[Mapping[str, Any]], values: Floats) -> list[Noted]:
        """What could not be read of records that are not empty there; `values` is what was read."""
        found: dict[str, list[Any]] = {}
        by_category = {}
        for n, f in np.argwhere(np.isnan(values)).tolist():
            reading = self.readings[f]
            cell = records[n][reading.column]
            if not _is_missing(cell, in_text=reading.kind == CATEGORY):
                found.setdefault(reading.column, [])
                if f == self._first[reading.column]:
                    found[reading.column].append(cell)
                by_category[reading.column] = reading.kind == CATEGORY
        return [
            Noted(column, len(cells), cells[0], by_category[column])
            for column, cells in found.items()
            if cells
        ]

    @property
    def _first(self) -> dict[str, int]:
        """Column → the first feature that is read of it."""
        return {r.column: f for f, r in reversed(list(enumerate(self.readings)))}

    def _check(self, record: Any, row: int) -> None:
        if not isinstance(record, Mapping):
            raise TableError(
                f"row {row:,} is a {type(record).__name__}, not a dict: give a dict of column and cell for "
                "each row"
            )
        lacking = [column for column in self.columns if column not in record]
        if lacking:
            free = [str(name) for name in record if name not in self.columns]
            close = _closest(lacking[0], free)
            meant = f"; for {lacking[0]!r} did you mean {close!r}?" if close else ""
            raise TableError(
                f"row {row:,} lacks {len(lacking)} of the {len(self.columns)} column(s) that the model "
                f"needs, {listed(lacking, 12)}: add them (None is a missing cell){meant}"
            )


def _closest(name: str, names: Iterable[str]) -> str:
    import difflib

    lower = {known.lower(): known for known in names}
    close = difflib.get_close_matches(name.lower(), list(lower), 1, cutoff=0.6)
    return lower[close[0]] if close else ""


def _is_missing(cell: Any, *, in_text: bool) -> bool:
    if isinstance(cell, str):
        return cell.strip() in (_ABSENT_TEXT if in_text else _ABSENT_NUMBER)
    is_nan = isinstance(cell, float) and cell != cell  # noqa: PLR0124
    return cell is None or is_nan or type(cell).__name__ in _PANDAS_MISSING


# ---- a function for each column, and for each kind of feature


def _column_readers(readings: Sequence[Reading]) -> list[tuple[str, ColumnReader]]:
    """Columns of consecutive features, and how their cells are read: a date once, whatever it becomes."""
    found: list[tuple[str, ColumnReader]] = []
    for (column, moment), own in groupby(readings, lambda each: (each.column, _form_of(each))):
        features = list(own)
        if moment is not None:
            parts = [_of_moment(reading) for reading in features]
            found.append((column, partial(_moments, _moment_reader(moment), parts)))
        else:
            found += [(column, partial(_alone, _reader(reading))) for reading in features]
    return found


def _form_of(reading: Reading) -> str | None:
    """The form of a date or time; None for what is not read as one."""
    return reading.moment if reading.kind in (DATE, TIME, MONTH, WEEKDAY) else None


def _alone(read: Reader, cell: Any) -> tuple[float]:
    return (NAN if cell is None else read(cell),)


def _moments(
    read: Callable[[Any], int | None], parts: Sequence[Callable[[int], float]], cell: Any
) -> list[float]:
    micros = None if cell is None else read(cell)
    return [NAN if micros is None else part(micros) for part in parts]


def _reader(reading: Reading) -> Reader:
    if reading.kind == CATEGORY:
        return partial(_category, _codes(reading), reading.levels_are)
    if reading.kind == NUMBER:
        return partial(_number, reading.part, _number_reader(reading.numbers))
    if reading.kind == N_WORDS:
        return _n_words
    return partial(_has_word, re.compile(rf"(^|\W){re.escape(reading.part)}(\W|$)"))


def _of_moment(reading: Reading) -> Callable[[int], float]:
    if reading.kind == WEEKDAY:
        return partial(_weekday, _codes(reading))
    return {DATE: _date, TIME: _time, MONTH: _month}[reading.kind]


def _codes(reading: Reading) -> dict[str, float]:
    return {level: float(code) for code, level in enumerate(reading.levels)}


def _text(cell: Any) -> str:
    """A cell as tables with types write it."""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, Real | Decimal | dt.date | dt.time):
        return printed(cell)
    raise TypeError(f"give text, a number, a date or None, not a {type(cell).__name__}")


def _category(codes: Mapping[str, float], levels_are: str, cell: Any) -> float:
    if type(cell) is str:
        text = cell.strip()
        if text in _ABSENT_TEXT:
            return NAN
    elif _is_missing(cell, in_text=True):
        return NAN
    else:
        text = _text(cell)
    if levels_are == "number":  # tables may write the code 3 as 3.0
        text = re.sub(r"^(-?\d+)\.0+$", r"\1", text)
    if levels_are == "boolean":
        text = text.lower()
    return codes.get(text, NAN)


def _number(part: str, read: Callable[[str], float], cell: Any) -> float:
    if type(cell) is not str:
        if isinstance(cell, Real | Decimal | np.bool_) and not part:
            try:
                return float(cell)
            except OverflowError:  # refused as infinite
                return float("inf")
        if _is_missing(cell, in_text=False):
            return NAN
        if not isinstance(cell, str):
            wanted = "pairs such as 137/72" if part else "numbers"
            raise TypeError(f"it is a {type(cell).__name__}, but the model expects {wanted}")
    text = cell.strip()
    if text in _ABSENT_NUMBER:
        return NAN
    if part:
        found = re.search(r"^([^/]+)/" if part == "first" else r"/([^/]+)$", text)
        text = found[1].strip() if found else ""
    return read(text)


def _number_reader(form: NumberForm) -> Callable[[str], float]:
    """How numbers of a form are read."""
    if form == NumberForm():
        return _plain_number
    marks = "".join(map(re.escape, form.thousands))
    groups = f"(?:[0-9]{{1,3}}(?:[{marks}][0-9]{{3}})+)|" if form.thousands else ""
    power = "(?:[eE][-+]?[0-9]+)?" if form.has_power else ""
    digits = "[0-9]*" if form.has_power else "[0-9]+"
    decimals = re.escape(form.decimals)
    pattern = re.compile(f"[-+]?(?:{groups}{digits})(?:[{decimals}][0-9]*)?{power}")
    before = re.compile(rf"^([-+]?){re.escape(form.before)}\s*")
    after = re.compile(rf"\s*{re.escape(form.after)}$")

    def read(text: str) -> float:
        if form.has_limits:
            text = re.sub(r"^[<>≤≥~≈]=?\s*", "", text)
        if form.before:
            text = before.sub(r"\1", text, count=1)
        if form.after:
            text = after.sub("", text, count=1)
        if not pattern.fullmatch(text):
            return NAN
        for mark in form.thousands:
            text = text.replace(mark, "")
        if form.decimals != ".":
            text = text.replace(",", ".", 1)
        return float(text) if PLAIN.fullmatch(text) else NAN

    return read


def _plain_number(text: str) -> float:
    return float(text) if PLAIN.fullmatch(text) else NAN


def _n_words(cell: Any) -> float:
    if _is_missing(cell, in_text=True):
        return NAN
    return float(len(WORDS.findall(_text(cell))))


def _has_word(pattern: re.Pattern[str], cell: Any) -> float:
    if _is_missing(cell, in_text=True):
        return NAN
    return float(pattern.search(_text(cell).lower()) is not None)


# ---- dates and times


def _moment_reader(form: str) -> Callable[[Any], int | None]:
    """How dates of a form are read: as microseconds since 1970, or since midnight."""
    pattern = re.compile("".join(PIECES.get(letter) or re.escape(letter) for letter in form))
    is_day = {"Y", "m", "d"} == pattern.groupindex.keys()
    order = [pattern.groupindex[letter] for letter in "Ymd"] if is_day else []

    def read(cell: Any) -> int | None:
        if not isinstance(cell, str):
            return _typed_micros(cell)
        found = pattern.fullmatch(cell.strip())
        if found is None:
            return None
        if is_day:
            return _micros_of_day(*map(int, found.group(*order)))
        return _micros({k: v for k, v in found.groupdict().items() if v})

    return read


def _typed_micros(cell: Any) -> int | None:
    if isinstance(cell, dt.datetime):
        if cell.tzinfo is not None:
            cell = cell.astimezone(dt.UTC).replace(tzinfo=None)
        return (cell - _EPOCH) // dt.timedelta(microseconds=1)
    if isinstance(cell, dt.date):
        return (cell - _EPOCH.date()).days * DAY
    if isinstance(cell, dt.time):
        seconds = 3600 * cell.hour + 60 * cell.minute + cell.second
        return seconds * SECOND + cell.microsecond
    if _is_missing(cell, in_text=False):
        return None
    raise TypeError(f"it is a {type(cell).__name__}, but the model expects dates or times")


def _micros_of_day(year: int, month: int, day: int) -> int | None:
    try:
        return (dt.date(year, month, day).toordinal() - _FIRST_DAY) * DAY
    except ValueError:
        return None


def _micros(parts: Mapping[str, str]) -> int | None:
    """Microseconds of the pieces of a date; None if there is no such day."""
    month = int(parts.get("m", 1))
    if "b" in parts:
        place = MONTHS.find(parts["b"].lower())
        if place % 3:
            return None
        month = place // 3 + 1
    hour, minute, second = (int(parts.get(letter, 0)) for letter in "HMS")
    try:
        day = dt.date(int(parts.get("Y", 1970)), month, int(parts.get("d", 1)))
        dt.time(hour, minute, second)
    except ValueError:
        return None
    zone = re.fullmatch(r"([-+])(\d{2}):?(\d{2})?", parts.get("z", ""))
    shift = int(f"{zone[1]}1") * (60 * int(zone[2]) + int(zone[3] or 0)) if zone else 0
    seconds = 3600 * hour + 60 * (minute - shift) + second
    fraction = int(parts.get("f", "")[:6].ljust(6, "0"))
    return (day - _EPOCH.date()).days * DAY + seconds * SECOND + fraction


def _date(micros: int) -> float:
    return micros * (1 / DAY)  # as tables are read


def _time(micros: int) -> float:
    return 1000 * micros * (1 / 3.6e12)


def _month(micros: int) -> float:
    return float(dt.date.fromordinal(_FIRST_DAY + micros // DAY).month)


def _weekday(codes: Mapping[str, float], micros: int) -> float:
    return codes.get(WEEKDAYS[(micros // DAY + 3) % 7], NAN)
