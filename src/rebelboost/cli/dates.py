"""Dates are numbers to the model; people get them back as dates."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from rebelboost.tables.schema import Understanding

ORIGIN = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def dated(text: str, model: Any) -> str:
    """A text of reasons, in which the days and hours of features are dates and times of day."""
    told = (model.metadata_ or {}).get("table")
    if told is None:
        return text
    understanding = Understanding.from_dict(told)
    for name in understanding.of_kind("date"):
        text = _said(text, name, _day)
    for name in understanding.of_kind("time"):
        text = _said(text, name, _time)
    return text


def _said(text: str, name: str, say: Callable[[float], str]) -> str:
    """Put words in place of the numbers that a feature is compared with, in text or HTML."""
    number, named = r"(-?\d+(?:\.\d+)?)", re.escape(name)
    asked = re.compile(rf"(?<![\w-])({named} (?:[=≤>]|&gt;) ){number}")
    text = asked.sub(lambda at: at[1] + say(float(at[2])), text)
    between = re.compile(rf"{number}( (?:<|&lt;) {named} )")
    return between.sub(lambda at: say(float(at[1])) + at[2], text)


def _day(days: float) -> str:
    try:
        moment = ORIGIN + dt.timedelta(days=days)
    except OverflowError:
        return f"{days:g}"
    return f"{moment:%Y-%m-%d}" if days == int(days) else f"{moment:%Y-%m-%d %H:%M}"


def _time(hours: float) -> str:
    minutes = round(60 * hours)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
