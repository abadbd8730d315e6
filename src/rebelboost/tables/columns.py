"""Columns of tables: their kind (number, date, time or category), and how their cells are converted.

`ColumnOptions` are the user's options for them.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from rebelboost.base.cells import MISSING, MISSING_NUMBERS
from rebelboost.exceptions import TableError
from rebelboost.tables.numbers import Affixes, as_numbers

DATE_FORMS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d-%m-%Y",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%d %b %Y",
    "%b %d, %Y",
)
TIME_FORMS = ("%H:%M", "%H:%M:%S")
DATE_MEANING = "days since 1970-01-01"
TIME_MEANING = "hours since midnight"

FIRST, SECOND = "first", "second"
MONTH, WEEKDAY = "month", "weekday"
WORD, N_WORDS = "word:", "number of words"
"""Parts of texts: whether a cell has a word, which follows the mark, and how many words it has."""
WORDS = r"\w\w+"
"""Words have two letters or more."""
PAIRED = {FIRST: r"^([^/]+)/", SECOND: r"/([^/]+)$"}
"""Parts of cells such as 137/72."""

_DAYS, _HOURS = 1 / 86_400e6, 1 / 3.6e12
"""A microsecond in days, a nanosecond in hours. Polars divides a lone row with other rounding than many, but
multiplies alike."""


@dataclass(frozen=True)
class Column:
    """How a column is read."""

    name: str
    kind: str
    """ "number", "date", "time" or "category"."""
    form: str = ""
    """Format of the text, one of the above; empty if the file stores types, as Parquet does."""
    categories: tuple[str, ...] = ()
    """Categories that the model distinguishes; all others count as missing."""
    pooled: tuple[str, ...] = ()
    """Less frequent categories in the training data, which count as missing."""
    source: str = ""
    """Column of the file, if it has another name."""
    part: str = ""
    """Part of the file's column: `FIRST` or `SECOND` of two numbers in each cell, `MONTH` or `WEEKDAY`
    of a date, `N_WORDS` or a `WORD` of a text."""
    before: str = ""
    """Currency before the numbers."""
    after: str = ""
    """Unit after the numbers."""
    limits: bool = False
    """Whether cells such as <5 count as 5."""

    @property
    def origin(self) -> str:
        """Column of the file."""
        return self.source or self.name

    @property
    def affixes(self) -> Affixes:
        """What surrounds the numbers in the file."""
        return Affixes(self.before, self.after, self.limits)

    @property
    def is_of_text(self) -> bool:
        """Whether the column is a word of a text, or the number of its words."""
        return self.part == N_WORDS or self.part.startswith(WORD)

    @property
    def is_derived(self) -> bool:
        """Whether another column is the first one with this origin."""
        return self.part not in ("", FIRST)

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary, for the model file."""
        texts = {"categories": list(self.categories), "pooled": list(self.pooled)}
        return {**asdict(self), **texts}

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> "Column":
        """Create a column from a model file; the inverse of `to_dict`."""
        texts = ("name", "kind", "form", "source", "part", "before", "after")
        return Column(
            **{key: str(told[key]) for key in texts},
            categories=tuple(map(str, told["categories"])),
            pooled=tuple(map(str, told["pooled"])),
            limits=bool(told["limits"]),
        )

    @property
    def meaning(self) -> str:
        """Unit of the numbers that dates and times are converted to."""
        return {"date": DATE_MEANING, "time": TIME_MEANING}.get(self.kind, "")

    def read(self, dtype: Any) -> pl.Expr:
        """Expression for the column's numbers, or for its categories as text, given its polars type."""
        if self.part in (MONTH, WEEKDAY):
            moment = _moment(self.origin, dtype, self.form)
            is_month = self.part == MONTH
            read = moment.dt.month().cast(pl.Float64) if is_month else moment.dt.strftime("%A")
        elif self.is_of_text:
            read = _of_text(as_text(self.origin, dtype), self.part)
        elif self.kind == "category":
            read = as_text(self.origin, dtype)
        elif self.kind == "number":
            read = _number(self, dtype)
        else:
            read = _instant(self.origin, dtype, self.form)
        return read.alias(self.name)


def features_of(column: Column, taken: Sequence[str]) -> list[Column]:
    """Return the features that a column becomes."""
    if column.kind == "date":
        month = replace(
            column, name=_free(f"{column.name}_month", taken), kind="number", part=MONTH
        )
        day = _free(f"{column.name}_weekday", taken)
        weekday = replace(column, name=day, kind="category", part=WEEKDAY)
        return [column, *(replace(each, source=column.name) for each in (month, weekday))]
    if column.part != FIRST:
        return [column]
    return [
        replace(column, name=_free(f"{column.name}_{i}", taken), source=column.name, part=part)
        for i, part in enumerate((FIRST, SECOND), 1)
    ]


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


# ---- reading


def cells(name: str, *, numbers: bool = False) -> pl.Expr:
    """Strip the text and replace markers of missing values by null."""
    trimmed = pl.col(name).str.strip_chars()
    words = MISSING + MISSING_NUMBERS if numbers else MISSING
    return pl.when(trimmed.is_in(words)).then(None).otherwise(trimmed).alias(name)


def as_text(name: str, dtype: Any) -> pl.Expr:
    """Convert a column to text, for categories and class labels."""
    if dtype == pl.String:
        return cells(name)
    if dtype.is_float():  # integer codes become floats such as 3.0 if a value is missing
        return pl.col(name).fill_nan(None).cast(pl.String).str.replace(r"\.0$", "")
    return pl.col(name).cast(pl.String)


def _number(column: Column, dtype: Any) -> pl.Expr:
    name = column.origin
    if dtype == pl.String:
        text = pl.col(name)
        if column.part in PAIRED:
            text = text.str.strip_chars().str.extract(PAIRED[column.part], 1)
        return as_numbers(text, column.form, column.affixes)
    if column.part not in PAIRED and (dtype.is_numeric() or dtype == pl.Boolean):
        return pl.col(name).cast(pl.Float64).fill_nan(None)
    wanted = "pairs such as 137/72" if column.part in PAIRED else "numbers"
    raise TableError(f"column {name!r} has type {dtype}, but the model expects {wanted}")


def _of_text(text: pl.Expr, part: str) -> pl.Expr:
    if part == N_WORDS:
        return text.str.count_matches(WORDS).cast(pl.Float64)
    word = re.escape(part.removeprefix(WORD))
    return text.str.to_lowercase().str.contains(rf"(^|\W){word}(\W|$)").cast(pl.Float64)


def _instant(name: str, dtype: Any, form: str) -> pl.Expr:
    if dtype == pl.String and form in TIME_FORMS:
        return cells(name, numbers=True).str.to_time(form, strict=False).cast(pl.Int64) * _HOURS
    if dtype == pl.Time:
        return pl.col(name).cast(pl.Int64) * _HOURS
    return _moment(name, dtype, form).dt.epoch("us") * _DAYS


def _moment(name: str, dtype: Any, form: str) -> pl.Expr:
    """Dates with the time of day."""
    if dtype == pl.String:
        zone = "UTC" if form.endswith("z") else None
        return cells(name, numbers=True).str.to_datetime(
            form or "%Y-%m-%d", strict=False, time_unit="us", time_zone=zone
        )
    if dtype in (pl.Date, pl.Datetime):
        return pl.col(name).cast(pl.Datetime("us"))
    raise TableError(f"column {name!r} has type {dtype}, but the model expects dates")


NO_GROUP = "none"
"""The value of --group that says that rows are independent."""


CLASSES, NUMBERS = "classes", "numbers"
"""What a model predicts, the values of --task."""


def column_list(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """Columns that an option names: one, or several with commas between them, as in a line of CSV.

    A column whose own name has a comma is given as it is, or in quotes among others.
    """
    found = []
    for text in given:
        found += [text] if text in names else next(csv.reader([text], skipinitialspace=True), [])
    return found


def as_word(name: str) -> str:
    """A name of a column as it is typed after an option."""
    return name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"'


class ColumnOptions(NamedTuple):
    """The user's options for columns."""

    keep: Sequence[str] = ()
    """Columns to use even if they look uninformative."""
    ignore: Sequence[str] = ()
    categorical: Sequence[str] = ()
    """Columns of numbers to treat as categories."""
    group: str = ""
    """Column whose values are left out together, or `NO_GROUP`; empty: detected."""
    time: str = ""
    """Column of dates or numbers, by which rows that come later are left out."""
    decimal: str = ""
    """Decimal mark where the cells do not say, "," or "."; empty: detected."""
    task: str = ""
    """`CLASSES` or `NUMBERS`: what the target consists of; empty: detected."""
    cut_at: float | None = None
    """Divides a target of numbers into two classes: below, and at least this number."""
    text: Sequence[str] = ()
    """Columns of text whose words are used."""

    def resolved(self, names: Sequence[str]) -> "ColumnOptions":
        """The same options with lists of columns, in a table with these names, divided."""
        given = self.keep, self.ignore, self.categorical, self.text
        keep, ignore, categorical, text = (column_list(each, names) for each in given)
        return self._replace(keep=keep, ignore=ignore, categorical=categorical, text=text)

    def columns(self) -> dict[str, Sequence[str]]:
        """Option → columns that it names."""
        group = () if self.group in ("", NO_GROUP) else (self.group,)
        time = (self.time,) if self.time else ()
        return {
            "keep": self.keep,
            "ignore": self.ignore,
            "categorical": self.categorical,
            "text": self.text,
            "group": group,
            "time": time,
        }

    def words(self) -> list[str]:
        """Options as on the command line."""
        named = {option: list(names) for option, names in self.columns().items()}
        if self.group == NO_GROUP:
            named["group"] = [NO_GROUP]
        named["decimal"] = [self.decimal] if self.decimal else []
        named["task"] = [self.task] if self.task else []
        named["cut-at"] = [] if self.cut_at is None else [f"{self.cut_at:.15g}"]
        return [
            word for option, names in named.items() for n in names for word in (f"--{option}", n)
        ]
