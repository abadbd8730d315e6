"""How cells of a table are read: as the command reads them, or in models trained in Python as plain numbers."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rebelboost.base.names import printed
from rebelboost.data.encoder import FeatureEncoder
from rebelboost.exceptions import ExportError

NUMBER, CATEGORY, DATE, TIME, MONTH, WEEKDAY, WORD, N_WORDS = (
    "number", "category", "date", "time", "month", "weekday", "word", "words",
)  # fmt: skip
"""What a feature is read as."""
PARTS = {
    "first": NUMBER,
    "second": NUMBER,
    "month": MONTH,
    "weekday": WEEKDAY,
    "number of words": N_WORDS,
}
"""Part of a cell, as model files of the command call it → what it is read as."""
OF_WORD = "word:"
DEFAULT_DATE = "%Y-%m-%d"


class NumberForm(NamedTuple):
    """How numbers are written."""

    thousands: tuple[str, ...] = ()
    decimals: str = "."
    has_power: bool = True
    has_limits: bool = False
    before: str = ""
    """Currency."""
    after: str = ""
    """Unit."""


FORMS = {
    "decimal comma": NumberForm((".",), ","),
    "thousands comma": NumberForm((",",)),
    "thousands space": NumberForm((" ", "'", "’", "\u00a0", "\u202f"), ".,", has_power=False),
}
"""Forms of numbers other than the plain one, by their names in model files."""


class Reading(NamedTuple):
    """How the cells of a column become a feature."""

    column: str
    """Name of the column in the table."""
    kind: str
    part: str = ""
    """ "first" or "second" of two numbers in each cell, or the word that is looked for."""
    numbers: NumberForm = NumberForm()
    moment: str = ""
    """Form of dates and times: YmdHMS are numbers, b is a month's name, f a fraction, z a zone."""
    levels: tuple[str, ...] = ()
    """Categories as they are written, in the order of their codes."""
    levels_are: str = "text"
    """ "text", "number" or "boolean"."""


def readings_of(
    encoder: FeatureEncoder, names: Sequence[str], told: Sequence[Mapping[str, Any]] | None
) -> tuple[Reading, ...]:
    """How each feature is read. `told` describes the columns, in a model that the command trained."""
    if told is None:
        found = [Reading(name, NUMBER) for name in names]
    else:
        found = [_of_column(column) for column in told]
    if len(found) != len(names):
        raise ExportError("the model file does not describe all its columns: train the model again")
    for f, levels in encoder.levels.items():
        kind = found[f].kind if found[f].kind == WEEKDAY else CATEGORY
        found[f] = found[f]._replace(kind=kind, **_levels(levels))
    return tuple(found)


def _levels(levels: Sequence[Any]) -> dict[str, Any]:
    if all(isinstance(level, str) for level in levels):
        return {"levels": tuple(levels)}
    if all(isinstance(level, bool) for level in levels):
        return {"levels": tuple(str(level).lower() for level in levels), "levels_are": "boolean"}
    texts = tuple(re.sub(r"^(-?\d+)\.0+$", r"\1", printed(level)) for level in levels)
    return {"levels": texts, "levels_are": "number"}


def _of_column(told: Mapping[str, Any]) -> Reading:
    """From the description of a column in a model file."""
    name, part, kind, form = (str(told[key]) for key in ("name", "part", "kind", "form"))
    column = str(told["source"]) or name
    if part.startswith(OF_WORD):
        return Reading(column, WORD, part.removeprefix(OF_WORD))
    kind = PARTS.get(part, kind)
    affixes = bool(told["limits"]), str(told["before"]), str(told["after"])
    numbers = FORMS.get(form, NumberForm())._replace(
        has_limits=affixes[0], before=affixes[1], after=affixes[2]
    )
    letters = (form or DEFAULT_DATE).replace("%.f", "f").replace("%#z", "z").replace("%", "")
    has_moment = kind in (DATE, TIME, MONTH, WEEKDAY)
    kept = part if part in ("first", "second") else ""
    return Reading(column, kind, kept, numbers, letters if has_moment else "")
