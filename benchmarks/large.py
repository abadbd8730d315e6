"""Large and wide tables: `RebelClassifier()` and LightGBM at their defaults, in one thread.

python benchmarks/large.py [--tables "adult, 10,000 rows;…"] [--libraries rebel,lightgbm] [--repeats 3]

Seconds are the processor's for a fit, and those on the clock; the least of the repeats. Memory is the peak
during the fit above what was in use before it. Results stay in `.benchmarks/reproduce/units` until the code
or the version changes: a run that was stopped goes on.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

import compare
import measuring
import trial
from pricing.methods import made_by
from reproduce import harness

N_TEST = 5000
Parts = tuple[Any, Any, np.ndarray, np.ndarray]
"""Training and test tables, training and test labels."""
Run = dict[str, float]


def real(name: str, n_train: int) -> Callable[[], Parts]:
    """So many training rows of a set, or three quarters of all; a quarter more is for the test."""
    return lambda: trial.load(name, 0, n_train * 4 // 3)


def drawn(n_train: int, n_features: int, n_informative: int) -> Callable[[], Parts]:
    """Two classes, each of several clusters in some of the features; the other features are noise."""

    def parts() -> Parts:
        X, y = make_classification(
            n_train + N_TEST,
            n_features,
            n_informative=n_informative,
            n_redundant=0,
            n_clusters_per_class=4,
            flip_y=0.05,
            random_state=0,
        )
        X = X.astype(np.float32)
        return X[:n_train], X[n_train:], y[:n_train], y[n_train:]

    return parts


TABLES: dict[str, Callable[[], Parts]] = {
    "adult, 10,000 rows": real("adult", 10_000),
    "letter, 10,000 rows": real("letter", 10_000),
    "drawn, 10,000 rows": drawn(10_000, 20, 10),
    "sleep, 79,000 rows": real("sleep", 100_000),
    "drawn, 100,000 rows": drawn(100_000, 20, 10),
    "drawn, 200 rows × 5,000": drawn(200, 5_000, 20),
    "drawn, 200 rows × 20,000": drawn(200, 20_000, 20),
}
LIBRARIES = {"rebel": "rebelboost", "lightgbm": "lightgbm"}
"""Packages by the names of rivals."""


def measure(table: str, library: str, repeat: int, made_by: str) -> Run:
    """Seconds, test error in %, size of the file and peak memory of one fit."""
    del repeat, made_by  # parts of the unit's name
    warnings.simplefilter("ignore")
    X_train, X_test, y_train, y_test = TABLES[table]()
    classifier = compare.load(library).make(1)
    warm_up = np.arange(80.0).reshape(40, 2)  # imports and first calls
    compare.load(library).make(1).fit(warm_up, np.arange(40) % 2)
    measuring.forget_peak()
    before = measuring.resident_memory() or np.nan
    used, began = time.process_time(), time.perf_counter()
    classifier.fit(X_train, y_train)
    seconds, wall = time.process_time() - used, time.perf_counter() - began
    memory = (measuring.peak_memory() or np.nan) - before
    return {
        "seconds": seconds,
        "wall": wall,
        "error": 100 * float((np.ravel(classifier.predict(X_test)) != y_test).mean()),
        "log_loss": trial.log_loss(classifier.predict_proba(X_test), y_test),
        "file": float(size_of(classifier)),
        "memory": memory,
    }


def size_of(classifier: Any) -> int:
    """Bytes of the file that the library saves."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        if hasattr(classifier, "booster_"):
            classifier.booster_.save_model(file)
        else:
            classifier.save(file)
        return file.stat().st_size


# ---- the report


def report(found: dict[tuple[str, str], Run]) -> str:
    header = [
        "",
        "library",
        "seconds",
        "×",
        "wall",
        "error, %",
        "log-loss",
        "file, kB",
        "memory, MB",
    ]
    rows = []
    for (table, library), run in found.items():
        base = found.get((table, compare.BASELINE))
        times = f"{run['seconds'] / base['seconds']:.1f}" if base else "–"
        rows.append(
            [
                table,
                compare.load(library).name,
                f"{run['seconds']:.2f}",
                times,
                f"{run['wall']:.2f}",
                f"{run['error']:.2f}",
                f"{run['log_loss']:.4f}",
                f"{run['file'] / 1e3:,.0f}",
                f"{run['memory'] / measuring.MB:,.0f}",
            ]
        )
    return measuring.markdown(header, rows)


def run_all(tables: list[str], libraries: list[str], repeats: int) -> dict[tuple[str, str], Run]:
    """The least seconds of the repeats, and all else of that run."""
    units = [
        (table, library, repeat, made_by(LIBRARIES[library]))
        for table in tables
        for repeat in range(repeats)
        for library in libraries
    ]
    found = harness.measure_all(measure, units, made_by="", n_processes=1)
    return {
        (table, library): min(
            (run for unit, run in found.items() if unit[:2] == (table, library)),
            key=lambda run: run["seconds"],
        )
        for table in tables
        for library in libraries
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=lambda text: text.split(";"), default=list(TABLES))
    parser.add_argument(
        "--libraries", type=lambda text: text.split(","), default=list(LIBRARIES), help="of both"
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    found = run_all(options.tables, options.libraries, options.repeats)
    print(measuring.describe_machine(measuring.machine(), 1))
    print(f"\n{report(found)}")


if __name__ == "__main__":
    main()
