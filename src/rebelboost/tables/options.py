"""The user's options for the columns of a table."""

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

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
