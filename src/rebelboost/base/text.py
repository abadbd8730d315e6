"""Numbers and lists as text, and warnings."""

import datetime as dt
import inspect
import math
import warnings
from collections.abc import Sequence
from typing import Any

Table = dict[str, list[Any]]
"""Columns by name, ready for any data frame library."""
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
"""Origin of the day numbers in date columns."""
MOST_WRITTEN_OUT = 1e15
"""Numbers up to this are written with all digits before the decimal point; larger ones as 1.23e+15."""

MOST_DECIMALS = 4
"""Maximum number of decimals of a share in percent."""


def amount(value: float) -> str:
    """A count or a cost: "1,234", "12", "2.50", "0.967"; whole numbers stay whole."""
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"


def number(value: float, digits: int = 3) -> str:
    """A number with some significant digits, but all digits before the point: "0.123", "12,346"."""
    if 1000 <= abs(float(f"{value:.{digits}g}")) < MOST_WRITTEN_OUT:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def signed(value: float) -> str:
    """A summand with its sign: "+1.25", "−0.034", with a true minus sign."""
    if abs(value) >= 1000:
        text = f"{value:+,.0f}"
    elif abs(value) >= 0.0995 or value == 0:
        text = f"{value:+.2f}"
    else:
        text = f"{value:+.3f}" if abs(value) >= 0.001 else f"{value:+.0e}"
    return text.replace("-", "−", 1)


def percent(share: float) -> str:
    """A share with one decimal, or as many as tell it from 0 and 1: "12.3 %", "99.98 %"; a dash for NaN."""
    if math.isnan(share):
        return "–"
    for decimals in range(1, MOST_DECIMALS + 1):
        text = f"{100 * share:.{decimals}f}"
        if share in (0, 1) or float(text) not in (0.0, 100.0):
            return f"{text} %"
    return "below 0.0001 %" if share < 0.5 else "above 99.9999 %"


def whole_percent(share: float) -> str:
    """A share without decimals: "12 %"."""
    return f"{100 * share:.0f} %"


def percent_change(before: float, after: float) -> str:
    """Relative change of a value: "+25 %", "-83 %"."""
    return f"{100 * (after / before - 1):+.0f} %"


def probability(value: float) -> str:
    """A probability in percent, with enough digits to distinguish it from 0 and 1."""
    if 0.0095 < value < 0.9905:
        return whole_percent(value)
    if value < 0.00005:
        return "below 0.01 %"
    return "above 99.99 %" if value > 0.99995 else f"{100 * value:.2f} %"


def counted(n: int, one: str) -> str:
    """A number and a noun: "1 row", "3 rows", "2 classes"."""
    return f"{n:,} {one if n == 1 else one + ('es' if one.endswith('s') else 's')}"


def joined(parts: Sequence[str]) -> str:
    """A list in a sentence: "a", "a and b", "a, b and c"."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def calendar_date(days: float) -> str:
    """Days since 1970-01-01 as a date, with the time of day if not midnight: "2024-03-01 13:30"."""
    try:
        minutes = round(24 * 60 * days)
        moment = EPOCH + dt.timedelta(minutes=minutes)
    except OverflowError:
        return f"{days:g}"
    return f"{moment:%Y-%m-%d}" if minutes % (24 * 60) == 0 else f"{moment:%Y-%m-%d %H:%M}"


def time_of_day(hours: float) -> str:
    """Hours since midnight: "13:30"."""
    minutes = round(60 * hours)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns of text: the first left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def framed(table: Table) -> Any:
    """A pandas data frame if pandas is installed, else the columns unchanged."""
    try:
        import pandas as pd
    except ImportError:
        return table
    return pd.DataFrame(table)


# ---- warnings


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn with the location of the first caller outside this package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals["__name__"].startswith("rebelboost."):
        if frame.f_back is None:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
