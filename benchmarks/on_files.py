"""Fits to Parquet files of 10⁶ rows each: how time and memory grow.

python benchmarks/on_files.py --rows 10000000 --rounds 5

Memory is counted without pages of files, which the system can drop at any time.
"""

import argparse
import tempfile
import threading
import time
from pathlib import Path

import polars as pl

from on_cluster import table
from rebelboost import RebelClassifier, Tree
from rebelboost.distributed import fit_files


def write_rows(folder, n_rows):
    for first in range(0, n_rows, 10**6):
        X, y = table(min(10**6, n_rows - first), 20, 2, seed=first)
        columns = {f"f{f}": X[:, f] for f in range(20)} | {"label": y}
        pl.DataFrame(columns).write_parquet(folder / f"{first:012}.parquet")


def anonymous():
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("RssAnon")]
    return int(line.split()[1]) / 1024


class Watch(threading.Thread):
    """The most memory that is not of files."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.ended = 0.0, threading.Event()

    def run(self):
        while not self.ended.wait(0.05):
            self.most = max(self.most, anonymous())


def disk(n_rows, n_rounds):
    for n in [10**6 * k for k in (1, 3, 10, 30, 100) if 10**6 * k <= n_rows]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "rows").mkdir()
            write_rows(folder / "rows", n)
            estimator = RebelClassifier(Tree(), n_rounds=n_rounds, cross_fit=None, n_jobs=2)
            watch = Watch()
            watch.start()
            began, cpu = time.perf_counter(), time.process_time()
            fit_files(estimator, folder / "rows", "label", folder=folder)
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            watch.ended.set()
            of_rounds = estimator.history_.table()["seconds"][-1]
            print(
                f"{n:>12,} rows × 20: {seconds:7.1f} s ({cpu:.0f} s of processor), a round "
                f"{of_rounds / n_rounds:.2f} s, at most {watch.most:.0f} MB besides files",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10**8)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    disk(given.rows, given.rounds)


if __name__ == "__main__":
    main()
