"""Try small tables like those that people have, print what was understood, and fail on a wrong reading.

python benchmarks/readings.py
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rebelboost import RebelClassifier
from rebelboost.evaluation import left_out
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import opened
from rebelboost.tables.schema import Match, TableSchema
from rebelboost.tables.schema_inference import TrainingTable, infer_schema

RNG = np.random.default_rng(0)


class Reading(NamedTuple):
    """A table, and what should be understood of it."""

    title: str
    text: str
    right: Callable[[TableSchema, TrainingTable], Any]
    """True, or a text that says what is wrong."""
    options: ColumnOptions = ColumnOptions()


def table(names: str, rows: list[list[Any]], separator: str = ",") -> str:
    lines = [separator.join(map(str, row)) for row in rows]
    return "\n".join([names.replace(",", separator), *lines]) + "\n"


def column(cells: list[str], *, separator: str = ",", other: str = "") -> str:
    """A table with a column v of these cells, repeated, and a target y without meaning."""
    rows = []
    for i in range(60):
        cell = cells[i % len(cells)]
        cell = f'"{cell}"' if separator in cell else cell
        rows.append([cell, *([other] if other else []), "ab"[RNG.integers(2)]])
    return table("v,w,y" if other else "v,y", rows, separator)


def reads(cells: list[str], numbers: list[float], **options: str) -> Reading:
    title = " ".join([*cells, *(f"({key} {value})" for key, value in options.items())])

    def right(_: TableSchema, samples: TrainingTable) -> Any:
        if "v" not in samples.frame.columns:
            return f"columns {samples.frame.columns}"
        found = samples.frame["v"].to_list()[: len(cells)]
        return found == numbers or f"read as {found}, not {numbers}"

    return Reading(title, column(cells, **options), right)


def visits(*, text: bool) -> Reading:
    outcomes = RNG.choice(["died", "lived"], 120)
    rows = [
        [f"P{p:03d}" if text else 1000 + 7 * p, v, f"{RNG.normal(130, 10):.1f}", outcomes[p]]
        for p in range(120)
        for v in range(6)
    ]

    def right(told: TableSchema, samples: TrainingTable) -> Any:
        if told.group != "patient" or not told.warnings:
            return f"group {told.group!r}"
        model = RebelClassifier("auto", n_rounds=30, n_jobs=-1)
        found = left_out(
            model.fit(samples.frame, samples.y, groups=samples.split.groups), samples.y
        )
        accuracy = found.accuracy.value if found else 1.0
        print(f"    accuracy on new patients: {100 * accuracy:.1f} %")
        return abs(accuracy - 0.51) <= 0.06 or f"accuracy {accuracy}"

    kind = "text" if text else "numbers"
    return Reading(f"120 patients × 6 visits ({kind})", table("patient,visit,bp,y", rows), right)


def index(name: str) -> Reading:
    rows = [[3 * i, f"{RNG.normal():.2f}", "ab"[i // 30]] for i in range(60)]

    def right(told: TableSchema, _: TrainingTable) -> Any:
        return [c.name for c in told.columns] == ["v"] or f"ignored {dict(told.ignored)}"

    return Reading(f"an index named {name!r}", table(f"{name},v,y", rows), right)


def pairs(_: TableSchema, samples: TrainingTable) -> Any:
    return samples.frame.row(0) == (137, 72) or f"read as {samples.frame.row(0)}"


def leaked(told: TableSchema, _: TrainingTable) -> Any:
    return any(w.startswith("follow_up nearly decides") for w in told.warnings) or "no warning"


def dated(_: TableSchema, samples: TrainingTable) -> Any:
    row = samples.frame.row(0)
    return row == (19753.0, 1.0, "Wednesday") or f"read as {row}"


def warned(told: TableSchema, _: TrainingTable) -> Any:
    return any("look like numbers" in w for w in told.warnings) or "no warning"


def uncertain(told: TableSchema, _: TrainingTable) -> Any:
    return any("--decimal" in note for note in told.notes) or "no note"


def pooled(told: TableSchema, _: TrainingTable) -> Any:
    """Categories that are only rare are not called unseen when they are met again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.csv"
        path.write_text("town,v\nT299,1\nRome,2\n", encoding="utf-8")
        with opened(path) as new:
            match = Match(new, told)
            match.all()
    found = match.tally.unknown["town"], match.tally.pooled["town"]
    return found == (1, 1) or f"never seen, pooled: {found}"


TOWNS = [[f"T{i % 300:03d}", i % 9, "ab"[RNG.integers(2)]] for i in range(900)]
DIED = RNG.random(80) < 0.4
FOLLOWED = [[f"{RNG.normal():.2f}", RNG.integers(1, 99) + 365 * (not d), d] for d in DIED]

READINGS = [
    visits(text=True),
    visits(text=False),
    reads(["378", "918", "1.423"], [378, 918, 1423], separator=";", other="3,5"),
    reads(["378", "918", "1.423"], [378, 918, 1423], separator=";"),
    Reading("1.423 says that it is uncertain", column(["378", "1.423"], separator=";"), uncertain),
    reads(["1.423.000", "2.500"], [1423000, 2500]),
    reads(["1.423", "0.918"], [1.423, 0.918], separator=";"),
    reads(["1.423", "2.5"], [1.423, 2.5], separator=";"),
    reads(["1,5", "1.000,25"], [1.5, 1000.25], separator=";"),
    reads(["1,423", "918"], [1423, 918]),
    reads(["20'089", "1'200.5"], [20089, 1200.5]),
    reads(["$20,089", "$1,200"], [20089, 1200]),
    reads(["7.5%", "12%"], [7.5, 12]),
    reads(["37.6 °C", "38 °C"], [37.6, 38]),
    reads(["58 y", "61 y"], [58, 61]),
    reads(["<5", "7", "12.5"], [5, 7, 12.5]),
    reads(["<50K", ">50K"], ["<50K", ">50K"]),  # type: ignore[list-item]
    Reading("137/72", column(["137/72", "120/80", "141/91"]), pairs),
    Reading(
        "ages in years and months",
        column([*(f"{i} y" for i in range(15)), *(f"{i} m" for i in range(15))]),
        warned,
    ),
    index(""),
    index("Unnamed: 0"),
    Reading("a follow-up time that decides", table("v,follow_up,y", FOLLOWED), leaked),
    Reading("31.01.2024", column(["31.01.2024", "01.03.2024", "17.06.2024"]), dated),
    Reading("300 towns", table("town,v,y", TOWNS), pooled),
]


def tried(reading: Reading, folder: Path) -> bool:
    path = folder / "t.csv"
    path.write_text(reading.text, encoding="utf-8")
    with opened(path) as found:
        told, samples = infer_schema(found, "y", reading.options)
    print(f"{reading.title}")
    print("    used: " + ", ".join(f"{c.name} ({c.kind})" for c in told.columns))
    for name, (written, read) in told.readings.items():
        print(f"    {name}: {written!r} is read as {read}")
    for text in [*(f"ignored {n}: {why}" for n, why in told.ignored.items()), *told.notes]:
        print(f"    {text}")
    for text in told.warnings:
        print(f"    WARNING {text}")
    verdict = reading.right(told, samples)
    if verdict is not True:
        print(f"    WRONG: {verdict}")
    return verdict is True


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        results = [tried(reading, Path(folder)) for reading in READINGS]
    print(f"\n{sum(results)} of {len(results)} tables were understood")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
