"""Altered tables, run through the command: each ends in a result, or in one line with the remedy."""

import gzip
import re

ODD_CELLS = [
    "",
    "inf",
    "-inf",
    "Infinity",
    "nan",
    "1e400",
    "-1e400",
    "1e308",
    "3e38",
    "5e-324",
    "1,5",
    "1.234.567",
    "1e5",
    "0x10",
    "١٢٣",
    "−5",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "'",
    '"',
    '"open',
    'a"b',
    "a\rb",
    "\r",
    "a\nb",
    "a;b",
    "a,b",
    "a\tb",
    "\0",
    "x" * 1000,
    "x" * 140_000,
    "2024-13-45",
    "2024-02-30",
    "9" * 40,
    "-",
    "NULL",
    "{}",
    "[1]",
    "True",
    "é",
    "\ufeff",
    "\u2028",
    " ",
    "%",
    "12%",
    "$5",
]
OPENED = [b'"', b"\r", b"\n", b",", b";", b"\0", b"\xff", b"\xef\xbb\xbf", b"\t", b"|", b" ", b"'"]


def alter_cell(text, rng):
    rows = [line.split(",") for line in text.split("\n")]
    for _ in range(rng.choice([1, 1, 1, 5, 40])):
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = rng.choice(ODD_CELLS)
    return "\n".join(",".join(row) for row in rows).encode("utf-8", "surrogatepass"), "cells"


def alter_column(text, rng):
    rows = [line.split(",") for line in text.split("\n") if line]
    at, odd = rng.randrange(len(rows[0])), rng.choice(ODD_CELLS)
    for row in rows[1:]:
        row[at] = odd if rng.random() < 0.9 else row[at]
    return "\n".join(",".join(row) for row in rows).encode(), f"column {at} of {odd[:10]!r}"


def alter_header(text, rng):
    first, _, rest = text.partition("\n")
    names = first.split(",")
    for _ in range(rng.choice([1, 2])):
        names[rng.randrange(len(names))] = rng.choice([*ODD_CELLS, names[0], names[-1].upper()])
    return f"{','.join(names)}\n{rest}".encode(), f"header {names}"[:80]


def alter_shape(text, rng):
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    what = rng.choice(
        ["cut", "twice", "longer", "shorter", "blank", "one", "none", "headless", "wide"]
    )
    if what == "cut":
        return text[: rng.randrange(len(text))].encode(), what
    if what == "twice":
        lines.insert(at, lines[at])
    elif what == "longer":
        lines[at] += ",more" * rng.choice([1, 3])
    elif what == "shorter":
        lines[at] = lines[at].rpartition(",")[0]
    elif what == "blank":
        lines[at:at] = [""] * rng.choice([1, 5]) + [rng.choice(["", ",", ",,,,,,", "   "])]
    elif what == "one":
        lines = lines[: rng.choice([1, 2, 3, 5])]
    elif what == "none":
        lines = [""] * rng.choice([0, 1, 3])
    elif what == "headless":
        lines = lines[1:]
    else:
        lines = [",".join([line] * 40) for line in lines]
    return "\n".join(lines).encode(), what


def alter_bytes(text, rng):
    blob = bytearray(text.encode())
    for _ in range(rng.choice([1, 1, 3, 20])):
        at = rng.randrange(len(blob))
        if rng.random() < 0.5:
            blob[at : at + rng.choice([0, 1])] = rng.choice(OPENED)
        else:
            blob[at] = rng.randrange(256)
    return bytes(blob), "bytes"


def encode(text, rng):
    what = rng.choice(
        ["utf-16", "utf-16-le", "utf-32", "cp1252", "gzip", "cut gzip", "cr", "crlf", "bom"]
    )
    if what in ("gzip", "cut gzip"):
        packed = gzip.compress(text.encode())
        return packed[: len(packed) // 2] if what == "cut gzip" else packed, what
    if what == "cr":
        return text.replace("\n", "\r").encode(), what
    if what == "crlf":
        return text.replace("\n", "\r\n").encode(), what
    if what == "bom":
        return b"\xef\xbb\xbf" + text.encode(), what
    return text.encode(what, "replace"), what


def separate(text, rng):
    mark = rng.choice([";", "\t", "|", " ", ":", ", "])
    return text.replace(",", mark).encode(), f"separated by {mark!r}"


ALTERATIONS = [
    alter_cell,
    alter_cell,
    alter_cell,
    alter_column,
    alter_header,
    alter_shape,
    alter_shape,
    alter_bytes,
    alter_bytes,
    encode,
    separate,
]


def altered_table(text, rng):
    """Bytes of an altered file, and what was done to it."""
    return rng.choice(ALTERATIONS)(text, rng)


# ---- what must come of them

NOT_OURS = re.compile(
    r"new-line character|line contains NUL|field limit|Traceback|Error:|Error\(|polars|Exception"
    r"|bug in rebelboost|not enough memory|dtype|numpy",
)
"""Words of libraries, which a user need not know."""


def judge(code, stderr):
    """What is wrong with the end of a command; empty if nothing is."""
    if code == 0:
        return ""
    lines = stderr.splitlines()
    if code != 2:
        return f"exit code {code}: {stderr[-300:]}"
    if len(lines) != 1 or not lines[0].startswith("rebel: "):
        return f"not one line: {stderr[-300:]}"
    if found := NOT_OURS.search(lines[0]):
        return f"{found[0]!r}, which is not ours: {lines[0][:300]}"
    if ":" not in lines[0][len("rebel: ") :]:
        return f"no remedy: {lines[0][:300]}"
    return ""
