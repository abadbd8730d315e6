"""Fits to Parquet files of 10⁶ rows each: how time, memory and disk grow with the rows.

python benchmarks/on_files.py --rows 10000000 --rounds 5      from 10⁶ rows up to so many
python benchmarks/on_files.py --rows 100000000 --only         this many rows only

20 columns of 32-bit floats, two classes, 2 threads. Each fit runs in a process of its own.

Memory "besides files" is what the process itself takes; pages of files can be dropped by the system at
any time. Disk is what the Parquet files take, and the most that the fit adds in temporary files.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl

AT_ONCE, N_COLUMNS = 10**6, 20
SIZES = [10**6 * k for k in (1, 3, 10, 30, 100)]
MB = 2**20


def write_rows(folder, n_rows):
    """Add files until there are so many rows."""
    for first in range(0, n_rows, AT_ONCE):
        path = folder / f"{first:012}.parquet"
        if path.exists():
            continue
        X, y = table(first)
        columns = {f"f{f}": X[:, f] for f in range(N_COLUMNS)}
        pl.DataFrame(columns | {"label": y}).write_parquet(path)


def table(seed):
    """10⁶ rows with some missing values, and their classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(AT_ONCE, N_COLUMNS)).astype(np.float32)
    centres = np.random.default_rng(99).normal(size=(2, N_COLUMNS))
    scores = X[:, :8] @ centres[:, :8].T + np.abs(X[:, 8:9] * X[:, 9:10]) * np.arange(2)
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1).astype(np.int8)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y


class Watch(threading.Thread):
    """The most memory and disk that this process takes."""

    def __init__(self, mark):
        super().__init__(daemon=True)
        self.mark, self.ended = mark, threading.Event()
        self.most = {"memory": 0, "mapped": 0, "disk": 0}

    def run(self):
        while not self.ended.wait(0.1):
            for name, now in self.look().items():
                self.most[name] = max(self.most[name], now)

    def look(self):
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        sizes = dict(line.split(":", 1) for line in status.splitlines())
        disk = 0
        for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
            if self.mark in line:
                low, high = line.split()[0].split("-")
                disk += int(high, 16) - int(low, 16)
        return {
            "memory": 1024 * int(sizes["RssAnon"].split()[0]),
            "mapped": 1024 * int(sizes["RssFile"].split()[0]),
            "disk": disk,
        }


def fit(folder, n_rows, n_rounds):
    """Fit to some of the files, and print what it took as JSON."""
    from rebelboost import RebelClassifier, Tree
    from rebelboost.distributed import fit_files

    files = sorted((folder / "rows").iterdir())[: n_rows // AT_ONCE]
    estimator = RebelClassifier(Tree(), n_rounds=n_rounds, cross_fit=None, n_jobs=2)
    watch = Watch(str(folder))
    watch.start()
    began, cpu = time.perf_counter(), time.process_time()
    fit_files(estimator, files, "label", folder=folder)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    watch.ended.set()
    history = estimator.history_.table()
    took = {"seconds": seconds, "cpu": cpu, "round": history["seconds"][-1] / n_rounds}
    print(json.dumps(watch.most | took | {"error": history["error"][-1]}))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10**8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="store_true", help="this number of rows only")
    parser.add_argument("--folder", type=Path, help="folder for all files; default: the system's")
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        fit(given.fit, given.rows, given.rounds)
        return
    sizes = [given.rows] if given.only else [n for n in SIZES if n <= given.rows]
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="on-files-") as name:
        folder = Path(name)
        (folder / "rows").mkdir()
        for n_rows in sizes:
            write_rows(folder / "rows", n_rows)
            source = sum(path.stat().st_size for path in (folder / "rows").iterdir())
            words = ["--fit", str(folder), "--rows", str(n_rows), "--rounds", str(given.rounds)]
            done = subprocess.run(
                [sys.executable, __file__, *words], check=True, capture_output=True, text=True
            )
            took = json.loads(done.stdout)
            print(
                f"{n_rows:>12,} rows × {N_COLUMNS}: {took['seconds']:7.1f} s for {given.rounds} rounds "
                f"({took['cpu']:.0f} s of processor), a round {took['round']:.2f} s, at most "
                f"{took['memory'] / MB:,.0f} MB besides files and {took['mapped'] / MB:,.0f} MB of files, "
                f"disk {source / MB:,.0f} + {took['disk'] / MB:,.0f} MB, training error "
                f"{took['error']:.2%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
