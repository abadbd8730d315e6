"""The function of a C file that reads the cells of a row, as text."""

from collections.abc import Sequence

from rebelboost.base.cells import MISSING, MISSING_NUMBERS
from rebelboost.export.literals import enum, string, strings
from rebelboost.export.reading import (
    CATEGORY,
    DATE,
    MONTH,
    N_WORDS,
    NUMBER,
    TIME,
    WEEKDAY,
    WORD,
    NumberForm,
    Reading,
)
from rebelboost.export.sources import source

DATES = (DATE, TIME, MONTH, WEEKDAY)
UNREADABLE = """/* model_read is left out: texts are divided into words, for which C has no Unicode. */
"""
MOMENT = {
    DATE: "(double)(days * INT64_C(86400000000) + micros) * (1 / 86400e6)",
    TIME: "(double)(micros * 1000) * (1 / 3.6e12)",
    MONTH: "month_of(days)",
}
"""What becomes of a moment. polars divides by multiplying with the inverse."""


def c_reading(readings: Sequence[Reading]) -> str:
    """Text of `model_columns` and `model_read`."""
    kinds = {reading.kind for reading in readings}
    if kinds & {WORD, N_WORDS}:
        return UNREADABLE
    columns = list(dict.fromkeys(reading.column for reading in readings))
    forms = list(dict.fromkeys(r.numbers for r in readings if r.kind == NUMBER))
    parts = [
        enum({"MODEL_N_COLUMNS": len(columns)}),
        strings("model_columns", columns),
        source("read.c"),
        _texts("missing_texts", MISSING),
        _texts("missing_numbers", MISSING_NUMBERS),
    ]
    if any(reading.part for reading in readings):
        parts.append(source("read_pairs.c"))
    if forms:
        parts.append(source("read_numbers.c"))
        parts += [_form(f"form_{i}", form) for i, form in enumerate(forms)]
    if kinds & {*DATES}:
        parts.append(source("read_dates.c"))
    if MONTH in kinds:
        parts.append(source("read_months.c"))
    if WEEKDAY in kinds:
        parts.append(source("read_weekdays.c"))
    if kinds & {CATEGORY, WEEKDAY}:
        parts.append(source("read_categories.c"))
        parts += [
            _texts(f"levels_{f}", reading.levels)
            for f, reading in enumerate(readings)
            if reading.kind in (CATEGORY, WEEKDAY)
        ]
    lines = []
    for f, reading in enumerate(readings):
        place = columns.index(reading.column)
        lines += [
            f"    cell = trimmed(cell_of(cells[{place}]));",
            f"    x[{f}] = {_value(f, reading, forms)};",
            f"    n_odd += x[{f}] != x[{f}] && !{_missing(reading)};",
        ]
    body = "\n".join(lines)
    variables = "    int64_t days, micros;\n" if kinds & {*DATES} else ""
    parts.append(
        f"{source('public_read.c')}int model_read(const char* const* cells, double* x) {{\n"
        f"    struct text cell;\n{variables}    int n_odd = 0;\n{body}\n    return n_odd;\n}}\n"
    )
    return "\n".join(parts)


def _value(f: int, reading: Reading, forms: Sequence[NumberForm]) -> str:
    if reading.kind == CATEGORY:
        kind = {"text": 0, "number": 1, "boolean": 2}[reading.levels_are]
        return f"read_category(cell, levels_{f}, {max(1, len(reading.levels))}, {kind})"
    if reading.kind in DATES:
        if reading.kind == WEEKDAY:
            found = f"read_category(weekday_of(days), levels_{f}, {max(1, len(reading.levels))}, 0)"
        else:
            found = MOMENT[reading.kind]
        return f"read_moment(cell, {string(reading.moment)}, &days, &micros) ? {found} : NAN"
    cell = f"{reading.part}_of(cell)" if reading.part else "cell"
    return f"read_number({cell}, &form_{forms.index(reading.numbers)})"


def _missing(reading: Reading) -> str:
    also = "" if reading.kind == CATEGORY else " || IS_AMONG(cell, missing_numbers)"
    return f"(IS_AMONG(cell, missing_texts){also})"


def _form(name: str, form: NumberForm) -> str:
    thousands = "".join(f"{mark}\n" for mark in form.thousands)
    fields = [string(thousands), string(form.decimals), int(form.has_power), int(form.has_limits)]
    told = ", ".join(map(str, [*fields, _text(form.before), _text(form.after)]))
    return f"static const struct form {name} = {{{told}}};\n"


def _text(text: str) -> str:
    return f"{{{string(text)}, {len(text.encode('utf-8', 'surrogatepass'))}}}"


def _texts(name: str, given: Sequence[str]) -> str:
    """An array of texts with their lengths: they may contain NUL."""
    lines = ",\n".join(map(_text, given)) or _text("\0")
    return f"static const struct text {name}[] = {{\n{lines}}};\n"
