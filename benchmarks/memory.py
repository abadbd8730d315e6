"""Peak memory of default fits with two installations, above what is in use before the fit.

python benchmarks/memory.py BEFORE AFTER [--tables vehicle,landsat] [--limit 1.2]

BEFORE and AFTER are the interpreters of the two installations, as in `before_after.py`. Each fit has a process
of its own, after a small fit that loads all that is loaded once. Exits with 1 if a ratio is above the limit.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

import data
import measuring
import trial

HERE = Path(__file__).resolve().parent
TABLES = {"vehicle": 1_200, "landsat": 4_000, "adult": 10_000, "wide": 100}
"""Names of tables, and rows at most; `wide` is drawn, with 1,000 columns."""


def peak(name: str) -> float:
    """Bytes that the default takes during a fit to a table, in this installation."""
    from rebelboost import RebelClassifier

    warnings.simplefilter("ignore")
    if name == "wide":
        X = np.random.default_rng(0).normal(size=(TABLES[name], 1_000))
        y = (X[:, :5].sum(axis=1) > 0).astype(np.int64)
    else:
        X, _, y, _ = trial.load(name, 0, TABLES[name] * 4 // 3)
    small = np.arange(300.0).reshape(60, 5)
    RebelClassifier(n_jobs=1).fit(small, np.arange(60) % 3)
    measuring.forget_peak()
    before = measuring.resident_memory() or np.nan
    RebelClassifier(n_jobs=1).fit(X, y)
    return (measuring.peak_memory() or np.nan) - before


def ask(python: Path, name: str) -> float:
    """The same in another installation."""
    environment = os.environ | {"PYTHONPATH": str(HERE), "REBELBOOST_DATA": str(data.folder())}
    words = [python, __file__, "--peak", name]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python} failed at {name}:\n{done.stderr.strip()}")
    return float(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pythons", type=Path, nargs="*", help="of the two installations")
    parser.add_argument("--tables", type=lambda text: text.split(","), default=list(TABLES))
    parser.add_argument("--limit", type=float, default=1.2)
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print(json.dumps(peak(options.peak)))
        return
    if len(options.pythons) != 2:
        parser.error("give the interpreters of two installations")
    measuring.limit_threads(1)
    rows, largest = [], 0.0
    for name in options.tables:
        before, after = (ask(python, name) for python in options.pythons)
        largest = max(largest, after / before)
        sizes = [f"{size / measuring.MB:.1f}" for size in (before, after)]
        rows.append([name, *sizes, f"{after / before:.2f}"])
    print(measuring.markdown(["", "before, MB", "after, MB", "after / before"], rows))
    sys.exit(int(largest > options.limit))


if __name__ == "__main__":
    main()
