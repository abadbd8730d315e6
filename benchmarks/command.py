"""`rebel train` and `rebel predict` on a large CSV: seconds, memory at the peak; and the start of `predict`.

python benchmarks/command.py [--rows 1000000] [--columns 50] [--rounds 100]
python benchmarks/command.py --start

The table is drawn, written to a temporary folder and removed. Training uses trees only, fitted once. The start
is that of `rebel predict model -` on five rows, beside a program that only imports the libraries that it needs
and reads two words by typer: processor time, and seconds on the clock, the least of several runs by turns.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import measuring

CHUNK = 100_000
STARTS, LEARNT_FROM, DECIDED = 15, 500, 5
LIBRARIES = """
from pathlib import Path
from typing import Annotated
import typer

def main(model: Annotated[Path, typer.Argument()], data: Annotated[list[Path], typer.Argument()]):
    import numpy, polars

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(main)
app()
"""


def write(path: Path, n_rows: int, n_columns: int) -> None:
    """Normal numbers; the first three decide the class, with some chance."""
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        for first in range(0, n_rows, CHUNK):
            X = rng.normal(size=(min(CHUNK, n_rows - first), n_columns)).astype(np.float32)
            sure = X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=len(X)) > 0
            frame = pl.DataFrame({f"x{i}": X[:, i] for i in range(n_columns)})
            frame = frame.with_columns(y=pl.Series(np.where(sure, "yes", "no")))
            frame.write_csv(file, include_header=first == 0, float_precision=6)


def run(*words: object) -> tuple[float, float]:
    """Seconds on the clock, and MB of the process at its peak."""
    began = time.perf_counter()
    program = [sys.executable, "-m", "rebelboost.cli", *map(str, words)]
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"rebel {' '.join(map(str, words))} failed")
    return time.perf_counter() - began, used.ru_maxrss / 1024


def started(words: list[object], given: bytes) -> tuple[float, float]:
    """Processor time and seconds on the clock of a program."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stdin is not None
    process.stdin.write(given)
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{words[-3:]} failed")
    return used.ru_utime + used.ru_stime, time.perf_counter() - began


def starts(folder: Path) -> list[list[str]]:
    """The least of several starts, by turns."""
    table, model = folder / "table.csv", folder / "model.safetensors"
    write(table, LEARNT_FROM, 5)
    run("train", table, "-t", "y", "--learner", "tree", "--rounds", 50, "-o", model)
    rows = b"".join(table.read_bytes().splitlines(keepends=True)[: DECIDED + 1])
    programs: dict[str, list[object]] = {
        "rebel predict model -": ["-m", "rebelboost.cli", "predict", model, "-"],
        "its libraries alone": ["-c", LIBRARIES, "model", "-"],
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    for _ in range(STARTS):
        for name, words in programs.items():
            found[name].append(started(words, rows))
    return [
        [name, *(f"{min(times):.2f}" for times in zip(*own, strict=True))]
        for name, own in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--start", action="store_true")
    options = parser.parse_args()
    if options.start:
        with tempfile.TemporaryDirectory() as folder:
            lines = starts(Path(folder))
        print(measuring.describe_machine(measuring.machine(), 1), end="\n\n")
        print(measuring.markdown(["", "processor seconds", "seconds"], lines))
        return
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder) / "table.csv", Path(folder) / "model.safetensors"
        write(table, options.rows, options.columns)
        size = table.stat().st_size / 1e6
        print(f"{options.rows:,} rows, {options.columns} columns, {size:,.0f} MB of CSV")
        trained = run(
            "train", table, "-t", "y", "--learner", "tree", "--rounds", options.rounds, "-o", model
        )
        predicted = run("predict", model, table, "-o", Path(folder) / "decisions.csv")
    lines = [
        [f"rebel {name}", f"{seconds:.1f}", f"{memory:,.0f}"]
        for name, (seconds, memory) in (("train", trained), ("predict", predicted))
    ]
    print(measuring.markdown(["", "seconds", "MB at the peak"], lines))


if __name__ == "__main__":
    main()
