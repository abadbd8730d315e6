"""Rebuild the tables, print what is understood of them, and fail on a wrong reading.

python -m benchmarks.tables [NAME ...] [--train]
"""

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.tables.expected import TABLES, Expected, RealTable

from rebelboost.cli.render import Output
from rebelboost.cli.training_text import show_table
from rebelboost.tables.files import opened
from rebelboost.tables.options import ColumnOptions
from rebelboost.tables.schema import Understanding, understand

FOLDER = Path(".benchmarks/tables")
SECONDS = 10
"""Time budget of each training."""


def understood(found: Understanding) -> Expected:
    """What was understood, in the words of what is expected."""
    leaks = [w.partition(" nearly decides")[0] for w in found.warnings if "nearly decides" in w]
    return Expected(
        len(found.counts),
        len(found.of_kind("number")),
        len(found.of_kind("category")),
        len(found.of_kind("date")),
        tuple(sorted(found.ignored)),
        found.group,
        tuple(sorted(leaks)),
        tuple((name, *cells) for name, cells in found.readings.items()),
    )


def wrong(table: RealTable, found: Understanding) -> list[str]:
    """Where the reading differs from the expected one."""
    is_, should = understood(found), table.expected
    should = should._replace(
        ignored=tuple(sorted(should.ignored)), leaks=tuple(sorted(should.leaks))
    )
    missing = [reading for reading in should.readings if reading not in is_.readings]
    pairs = zip(Expected._fields, is_, should, strict=True)
    differ = [f"{field}: {a}, not {b}" for field, a, b in pairs if field != "readings" and a != b]
    return differ + [f"readings: {is_.readings} lacks {reading}" for reading in missing]


def read(table: RealTable) -> bool:
    path = FOLDER / table.file
    if not path.exists():
        table.write(path)
    with opened(path) as file:
        found, _ = understand(file, table.target, ColumnOptions(cut_at=table.cut_at))
    show_table(found, None, None, Output())
    problems = wrong(table, found)
    for problem in problems:
        print(f"  WRONG       {problem}")
    print()
    return not problems


def used(table: RealTable) -> bool:
    """Train, evaluate, predict, explain and report, as on the command line."""
    data, model = FOLDER / table.file, FOLDER / f"{Path(table.file).stem}.safetensors"
    cut = [] if table.cut_at is None else ["--cut-at", str(table.cut_at)]
    training = ["train", data, "--target", table.target, *cut, "-o", model, "--force"]
    commands = [
        [*training, "--time-budget", SECONDS],
        ["evaluate", model, data],
        ["predict", model, data, "-o", model.with_suffix(".decisions.csv")],
        ["explain", model, data, "--rows", "1,2"],
    ]
    if table.expected.n_classes:
        commands.append(["report", model, data, "-o", model.with_suffix(".html")])
    for words in commands:
        print(f"$ rebel {' '.join(map(str, words))}")
        done = subprocess.run(
            [sys.executable, "-m", "rebelboost.cli", *map(str, words)],
            check=False,
            capture_output=True,
            text=True,
        )
        print(done.stdout + done.stderr)
        if done.returncode:
            return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="files, without their suffixes; default: all")
    parser.add_argument("--train", action="store_true", help="run every command on each table")
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    chosen = [t for t in TABLES if not given.names or Path(t.file).stem in given.names]
    results = [read(table) and (not given.train or used(table)) for table in chosen]
    failed = [t.file for t, right in zip(chosen, results, strict=True) if not right]
    print(
        f"{sum(results)} of {len(results)} tables were understood"
        + (f"; not {failed}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
