"""`rebel train` and `rebel predict` on a large CSV: seconds and memory at their peak.

python benchmarks/command.py [--rows 1000000] [--columns 50] [--rounds 100]

The table is drawn, written to a temporary folder and removed. Training uses trees only, fitted once.
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
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
