"""Rebuild the tables, print what is understood of them, and fail on a wrong reading.

python -m benchmarks.tables [NAME ...] [--train]
python -m benchmarks.tables --claims [--runs 2]

With --claims, models are trained on a part of each table of R and KEEL, and what they claim is compared with
the other part (benchmarks/tables/claims.py).
"""

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.tables import claims
from benchmarks.tables.expected import TABLES, Expected, RealTable
from benchmarks.tables.strangers import INDEX, Stranger, told_by_pandas
from benchmarks.tables.strangers import TABLES as STRANGERS

from rebelboost.cli.output import Output
from rebelboost.cli.training_summary import show_table
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import opened
from rebelboost.tables.schema import TableSchema
from rebelboost.tables.schema_inference import infer_schema

FOLDER = Path(".benchmarks/tables")
SECONDS = 10
"""Time budget of each training."""


def understood(found: TableSchema) -> Expected:
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


def wrong(table: RealTable, found: TableSchema) -> list[str]:
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
        found, _ = infer_schema(file, table.target, ColumnOptions(cut_at=table.cut_at))
    show_table(found, None, None, Output())
    problems = wrong(table, found)
    for problem in problems:
        print(f"  WRONG       {problem}")
    print()
    return not problems


def written(table: Stranger) -> Path:
    path = FOLDER / f"{table.package}-{table.name}.csv"
    if not path.exists():
        table.write(path)
    return path


def read_stranger(table: Stranger) -> bool:
    path = written(table)
    with opened(path) as file:
        found, _ = infer_schema(file, table.target)
    show_table(found, None, None, Output())
    problems = misread(table, found, path)
    for problem in problems:
        print(f"  WRONG       {problem}")
    print()
    return not problems


def misread(table: Stranger, found: TableSchema, path: Path) -> list[str]:
    """Where the reading of a table differs from the expected one, by column."""
    kinds = told_by_pandas(path, headed=table.package != "keel")
    kinds |= dict.fromkeys(table.dates, "date") | table.kinds
    ignored = {INDEX, table.group, *table.ignored} & set(kinds)
    expected = {n: kind for n, kind in kinds.items() if n not in {*ignored, table.target}}
    is_ = {column.origin: column.kind for column in found.columns if not column.is_derived}
    columns = {**expected, **is_}
    problems = [
        f"{name}: {is_.get(name, 'ignored')}, not {expected.get(name, 'ignored')}"
        for name in columns
        if is_.get(name) != expected.get(name)
    ]
    if found.group != table.group:
        problems.append(f"group: {found.group!r}, not {table.group!r}")
    asked = {w.partition(" nearly decides")[0] for w in found.warnings if "nearly decides" in w}
    problems += [f"{name}: not asked about" for name in set(table.leaks) - asked]
    problems += [f"{name}: asked about" for name in asked - set(table.leaks)]
    return problems


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


def claimed(chosen: list[Stranger], runs: int) -> int:
    found = []
    print(claims.HEADING)
    for table in chosen:
        for seed in range(runs):
            found.append(claims.tested(table, written(table), seed))
            print(claims.line_of(found[-1]), flush=True)
    print(claims.summary(found))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="files, without their suffixes; default: all")
    parser.add_argument("--train", action="store_true", help="run every command on each table")
    parser.add_argument("--claims", action="store_true", help="compare claims with other rows")
    parser.add_argument("--runs", type=int, default=2, help="divisions of each table for --claims")
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    strangers = [t for t in STRANGERS if not given.names or t.name in given.names]
    if given.claims:
        return claimed(strangers, given.runs)
    chosen = [t for t in TABLES if not given.names or Path(t.file).stem in given.names]
    results = {t.file: read(t) and (not given.train or used(t)) for t in chosen}
    results |= {t.title: read_stranger(t) for t in strangers}
    failed = [name for name, right in results.items() if not right]
    print(
        f"{len(results) - len(failed)} of {len(results)} tables were understood"
        + (f"; not {failed}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
