"""Detect the type of each column (number, date, time or category) and convert its cells."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import polars as pl

from rebelboost.exceptions import TableError
from rebelboost.tables.files import Table

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "Null")
"""Cells that count as missing in any column."""
MISSING_NUMBERS = ("-", "--", ".", "..", "none", "None", "NONE", "na", "missing", "unknown")
"""Cells that count as missing in columns of numbers and dates only; elsewhere they may be categories."""

NUMBER_FORMS = ("plain", "decimal comma", "thousands comma")
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

HEAD = 1000
"""Number of rows from which candidate formats are found; all rows decide among them."""
MOSTLY = 0.95
"""Minimum share of the cells that must have a format; the other cells then count as missing."""

_A_DAY, _AN_HOUR = 86_400e6, 3.6e12
"""A day in microseconds, an hour in nanoseconds."""


@dataclass(frozen=True)
class Column:
    """How a column is read."""

    name: str
    kind: str
    """ "number", "date", "time" or "category"."""
    form: str = ""
    """Format of the text, one of the above; empty if the file stores types, as Parquet does."""
    categories: tuple[str, ...] = ()
    """Categories in the training data; all others count as missing."""

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary, for the model file."""
        return {**asdict(self), "categories": list(self.categories)}

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> "Column":
        """Create a column from a model file; the inverse of `to_dict`."""
        given = {key: str(told[key]) for key in ("name", "kind", "form")}
        return Column(**given, categories=tuple(map(str, told["categories"])))

    @property
    def meaning(self) -> str:
        """Unit of the numbers that dates and times are converted to."""
        return {"date": DATE_MEANING, "time": TIME_MEANING}.get(self.kind, "")

    def read(self, dtype: Any) -> pl.Expr:
        """Expression for the column's numbers, or for its categories as text, given its polars type."""
        if self.kind == "category":
            read = as_text(self.name, dtype)
        elif self.kind == "number":
            read = _number(self.name, dtype, self.form)
        else:
            read = _instant(self.name, dtype, self.form)
        return read.alias(self.name)


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


def _number(name: str, dtype: Any, form: str) -> pl.Expr:
    if dtype == pl.String:
        text = pl.col(name).str.strip_chars()  # the cast below turns other text into null
        if form == "decimal comma":
            text = text.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
        elif form == "thousands comma":
            text = text.str.replace_all(",", "", literal=True)
        return text.cast(pl.Float64, strict=False).fill_nan(None)
    if dtype.is_numeric() or dtype == pl.Boolean:
        return pl.col(name).cast(pl.Float64).fill_nan(None)
    raise TableError(f"column {name!r} has type {dtype}, but the model expects numbers")


def _instant(name: str, dtype: Any, form: str) -> pl.Expr:
    if dtype == pl.String and form in TIME_FORMS:
        return cells(name, numbers=True).str.to_time(form, strict=False).cast(pl.Int64) / _AN_HOUR
    if dtype == pl.String:
        text = cells(name, numbers=True)
        zone = "UTC" if form.endswith("z") else None
        moments = text.str.to_datetime(
            form or "%Y-%m-%d", strict=False, time_unit="us", time_zone=zone
        )
        return moments.dt.epoch("us") / _A_DAY
    if dtype == pl.Time:
        return pl.col(name).cast(pl.Int64) / _AN_HOUR
    if dtype in (pl.Date, pl.Datetime):
        return pl.col(name).cast(pl.Datetime("us")).dt.epoch("us") / _A_DAY
    raise TableError(f"column {name!r} has type {dtype}, but the model expects dates")


# ---- detecting


class Odd(NamedTuple):
    """Cells of a column that do not have its format and count as missing."""

    name: str
    n_cells: int
    example: str


def tell_columns(
    table: Table, names: Sequence[str], categorical: Sequence[str]
) -> tuple[list[Column], list[Odd]]:
    """Detect the type of each column, and count the cells that do not have it."""
    told = {name: _by_type(name, table.types[name]) for name in names}
    for name in categorical:
        told[name] = Column(name, "category")
    unclear = [name for name in names if told[name] is None]
    by_text, odd = _by_text(table.frame, unclear)
    columns = [told[name] or by_text[name] for name in names]
    return [column for column in columns if column is not None], odd


def _by_type(name: str, dtype: Any) -> Column | None:
    if dtype.is_numeric():
        return Column(name, "number")
    if dtype == pl.Time:
        return Column(name, "time")
    if dtype in (pl.Date, pl.Datetime):
        return Column(name, "date")
    if dtype in (pl.Boolean, pl.Categorical, pl.Enum):
        return Column(name, "category")
    return None


def _by_text(frame: pl.LazyFrame, names: Sequence[str]) -> tuple[dict[str, Column], list[Odd]]:
    """Find candidate formats in the first rows, and keep the one that fits most of all rows."""
    if not names:
        return {}, []
    head = frame.select(names).head(HEAD).collect()
    proposed = {name: _proposed(head, name) for name in names}
    asked = [
        _present(column).alias(f"{name}\n{form}")
        for name in names
        for form, column in proposed[name].items()
    ]
    totals = [cells(name, numbers=True).is_not_null().sum().alias(name) for name in names]
    found = frame.select([*totals, *asked]).collect(engine="streaming").row(0, named=True)
    columns, odd = {}, []
    for name in names:
        n_cells = found[name]
        fits = {form: found[f"{name}\n{form}"] for form in proposed[name]}
        best = max(fits, key=lambda form: fits[form], default="")
        good = proposed[name][best] if fits and fits[best] >= MOSTLY * max(1, n_cells) else None
        columns[name] = good or Column(name, "category")
        if good is not None and fits[best] < n_cells:
            example = _example(frame, columns[name])
            odd.append(Odd(name, n_cells - fits[best], example))
    return columns, odd


def _present(column: Column) -> pl.Expr:
    return column.read(pl.String()).is_not_null().sum()


def _proposed(head: pl.DataFrame, name: str) -> dict[str, Column]:
    """Return the formats that fit the first rows, in order of preference."""
    cells_there = head.select(cells(name, numbers=True)).drop_nulls()
    plain = Column(name, "number", "plain")
    n_cells, n_plain = len(cells_there), cells_there.select(_present(plain)).item()
    if n_cells == 0:
        return {column.form: column for column in (plain, Column(name, "date", DATE_FORMS[0]))}
    if n_plain == n_cells:  # the most common case; saves time on wide tables
        return {plain.form: plain}
    columns = [
        *(Column(name, "number", form) for form in NUMBER_FORMS),
        *(Column(name, "date", form) for form in DATE_FORMS),
        *(Column(name, "time", form) for form in TIME_FORMS),
    ]
    counts = cells_there.select(_present(column).alias(column.form) for column in columns).row(0)
    fitting = [
        column
        for column, n in zip(columns, counts, strict=True)
        if n >= MOSTLY * n_cells and _is_apt(head, column)
    ]
    return {column.form: column for column in fitting}


def _is_apt(head: pl.DataFrame, column: Column) -> bool:
    """Whether all commas are in places that the number format allows."""
    if column.form not in NUMBER_FORMS[1:]:
        return True
    text = head.select(cells(column.name, numbers=True)).to_series().drop_nulls()
    with_comma = text.filter(text.str.contains(",", literal=True))
    grouped = with_comma.str.contains(r"^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$")
    if column.form == "thousands comma":
        return len(with_comma) > 0 and bool(grouped.all())
    decimal = with_comma.str.contains(r"^[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+(e[-+]?\d+)?$")
    return len(with_comma) > 0 and bool(decimal.all()) and not bool(grouped.all())


def _example(frame: pl.LazyFrame, column: Column) -> str:
    text = cells(column.name, numbers=True)
    odd = frame.select(text.filter(text.is_not_null() & column.read(pl.String()).is_null()).first())
    return str(odd.collect(engine="streaming").item())
