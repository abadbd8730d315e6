"""The user's options for the columns of a table."""

from collections.abc import Sequence
from typing import NamedTuple

NO_GROUP = "none"
"""The value of --group that says that rows are independent."""


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

    def columns(self) -> dict[str, Sequence[str]]:
        """Option → columns that it names."""
        group = () if self.group in ("", NO_GROUP) else (self.group,)
        time = (self.time,) if self.time else ()
        return {
            "keep": self.keep,
            "ignore": self.ignore,
            "categorical": self.categorical,
            "group": group,
            "time": time,
        }

    def words(self) -> list[str]:
        """Options as on the command line."""
        named = {option: list(names) for option, names in self.columns().items()}
        if self.group == NO_GROUP:
            named["group"] = [NO_GROUP]
        named["decimal"] = [self.decimal] if self.decimal else []
        return [
            word for option, names in named.items() for n in names for word in (f"--{option}", n)
        ]
