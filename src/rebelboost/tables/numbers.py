"""Numbers as people write them: decimal commas, thousands separators, units, and limits such as <5."""

import re
from collections import Counter
from typing import NamedTuple

import polars as pl

PLAIN, DECIMAL_COMMA, THOUSANDS_COMMA = "plain", "decimal comma", "thousands comma"
THOUSANDS_SPACE = "thousands space"
NUMBER_FORMS = (PLAIN, DECIMAL_COMMA, THOUSANDS_COMMA, THOUSANDS_SPACE)
POWER = r"([eE][-+]?\d+)?"
STRICT = {
    DECIMAL_COMMA: rf"^[-+]?(\d*|\d{{1,3}}(\.\d{{3}})+)(,\d*)?{POWER}$",
    THOUSANDS_COMMA: rf"^[-+]?(\d*|\d{{1,3}}(,\d{{3}})+)(\.\d*)?{POWER}$",
    THOUSANDS_SPACE: r"^[-+]?(\d+|\d{1,3}([ '’\u{a0}\u{202f}]\d{3})+)([.,]\d*)?$",
}
"""What a number looks like in each format; other cells do not have the format."""

CURRENCIES = (
    r"(?:US|CA|AU|R|HK|A|C)?[$€£¥₹₽₩]|USD|EUR|GBP|CHF|JPY|CNY|INR|BRL|CAD|AUD|SEK|NOK|DKK|PLN"
)
LIMIT = r"^[<>≤≥~≈]=?\s*"
NUMBER_WITH_AFFIXES = re.compile(
    rf"(?P<limit>[<>≤≥~≈]=?\s*)?(?P<sign>[-+]?)(?P<before>{CURRENCIES})?\s*"
    r"(?P<number>[-+]?\d[\d.,'’\u00a0\u202f ]*(?:[eE][-+]?\d+)?)"
    r"(?P<after>[^\d\s][^\d]{0,11})?"
)
PAIR = r"^\d+([.,]\d+)?\s*/\s*\d+([.,]\d+)?$"
"""Two numbers in a cell, such as the blood pressure 137/72."""
MOST_LIMITS = 0.5
"""Maximum share of the cells that are limits; <50K and >50K alone are categories."""
MOSTLY = 0.95
"""Minimum share of the cells that must have a format for it to be considered."""
MOST_LOST, FEWEST_LOST = 0.01, 1
"""Maximum share and number of cells with digits that are not read as numbers and so count as missing. Words,
such as "refused", may be more: they stand for missing values."""
FEWEST_LEVELS = 20
"""In a column with at most so many different cells, each is a value: none with digits may be lost."""


class Affixes(NamedTuple):
    """What surrounds the numbers of a column."""

    before: str = ""
    """Currency."""
    after: str = ""
    """Unit."""
    limits: bool = False
    """Whether some cells are limits, such as <5."""

    @property
    def is_money(self) -> bool:
        """Whether the numbers have a currency."""
        return bool(self.before or re.fullmatch(CURRENCIES, self.after))


NO_AFFIXES = Affixes()


def without_affixes(text: pl.Expr, affixes: Affixes) -> pl.Expr:
    """Remove what surrounds the numbers."""
    text = text.str.strip_chars()
    if affixes.limits:
        text = text.str.replace(LIMIT, "")
    if affixes.before:
        text = text.str.replace(rf"^([-+]?){re.escape(affixes.before)}\s*", "${1}")
    if affixes.after:
        text = text.str.replace(rf"\s*{re.escape(affixes.after)}$", "")
    return text


def as_numbers(text: pl.Expr, form: str, affixes: Affixes = NO_AFFIXES) -> pl.Expr:
    """Convert text to numbers; cells that do not have the format become null."""
    text = without_affixes(text, affixes)
    if form in STRICT:
        text = pl.when(text.str.contains(STRICT[form])).then(text)
    if form == DECIMAL_COMMA:
        text = text.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    elif form == THOUSANDS_COMMA:
        text = text.str.replace_all(",", "", literal=True)
    elif form == THOUSANDS_SPACE:
        text = text.str.replace_all(r"[ '’\u{a0}\u{202f}]", "").str.replace(",", ".", literal=True)
    return text.cast(pl.Float64, strict=False).fill_nan(None)


def find_affixes(cells: pl.Series) -> Affixes | None:
    """Find the currency, unit and limits that nearly all cells agree on; None if they do not."""
    found = [NUMBER_WITH_AFFIXES.fullmatch(cell) for cell in cells.to_list()]
    matched = [match for match in found if match]
    if not matched or len(matched) < MOSTLY * len(found):
        return None
    before, n_before = _agreed([match["before"] or "" for match in matched])
    after, n_after = _agreed([(match["after"] or "").strip() for match in matched])
    n_limits = sum(match["limit"] is not None for match in matched)
    if min(n_before, n_after) < MOSTLY * len(found) or n_limits > MOST_LIMITS * len(found):
        return None
    return Affixes(before, after, n_limits > 0)


def _agreed(texts: list[str]) -> tuple[str, int]:
    """Return the only text, and in how many cells it or nothing stands."""
    counts = Counter(text for text in texts if text)
    if not counts:
        return "", len(texts)
    ((text, n),) = counts.most_common(1)
    return text, n + texts.count("")


# ---- which of comma and point divides thousands

POINT_GROUPS = r"^[-+]?[1-9]\d{0,2}(\.\d{3})+$"
COMMA_GROUPS = r"^[-+]?[1-9]\d{0,2}(,\d{3})+$"
GROUPS = r"^[-+]?[1-9]\d{0,2}([.,]\d{3})+$"
COUNTED = {
    "point_groups": POINT_GROUPS,
    "comma_groups": COMMA_GROUPS,
    "point_repeats": r"^[-+]?[1-9]\d{0,2}(\.\d{3}){2,}$",
    "comma_repeats": r"^[-+]?[1-9]\d{0,2}(,\d{3}){2,}$",
    "points": r"^[-+]?(\d*|\d{1,3}(,\d{3})+)\.\d*([eE][-+]?\d+)?$",
    "commas": r"^[-+]?(\d*|\d{1,3}(\.\d{3})+),\d*([eE][-+]?\d+)?$",
    "long": r"^[-+]?\d{4,}$",
    "bare": r"^[-+]?\d{1,3}$",
}


class Separators(NamedTuple):
    """Number of cells of a column by the separators that they have."""

    point_groups: int
    """Such as 1.423: one or more points, each before three digits."""
    comma_groups: int
    point_repeats: int
    """Such as 1.423.000: certainly thousands."""
    comma_repeats: int
    points: int
    """A point that can be a decimal point, including those in `point_groups`."""
    commas: int
    long: int
    """Four or more digits without a separator."""
    bare: int
    """At most three digits."""

    @property
    def style(self) -> str:
        """The decimal mark, "," or "."; empty if the cells do not say."""
        decimal_points = self.points - (self.point_groups - self.point_repeats)
        decimal_commas = self.commas - (self.comma_groups - self.comma_repeats)
        by_comma = decimal_commas > 0 or self.point_repeats > 0
        by_point = decimal_points > 0 or self.comma_repeats > 0
        if by_comma != by_point:
            return "," if by_comma else "."
        if by_comma:
            return "." if decimal_points >= decimal_commas else ","
        if self.long and (self.point_groups or self.comma_groups):
            # 12345 beside 1.423: thousands are not divided here.
            return "." if self.point_groups else ","
        return ""

    @property
    def is_ambiguous(self) -> bool:
        """Whether the cells can be read in two ways."""
        return not self.style and bool(self.point_groups or self.comma_groups)

    def likely(self, *, semicolons: bool, money: bool) -> str:
        """Return the likelier decimal mark of an ambiguous column.

        Decimals are written with a fixed number of digits or none, so where some cells have no separator,
        the others have thousands. Amounts of money do not have three decimals. Files with semicolons
        usually have decimal commas.
        """
        if self.bare or money:
            return "," if self.point_groups else "."
        return "," if semicolons else "."

    def form(self, style: str, form: str) -> str:
        """Return the number format with this decimal mark."""
        if form == THOUSANDS_SPACE:
            return form
        if style == ",":
            return DECIMAL_COMMA
        # In a column of 1,349.84 and 82.50, no comma is the only separator of its cell.
        has_commas = form == THOUSANDS_COMMA or self.commas or self.comma_groups
        return THOUSANDS_COMMA if has_commas else PLAIN


def separators(text: pl.Expr) -> list[pl.Expr]:
    """Expressions for the fields of `Separators`."""
    return [text.str.contains(pattern).sum().alias(name) for name, pattern in COUNTED.items()]
