"""Projects: from a label to its answer, exact fits, and memory over a long stream.

python benchmarks/live_speed.py [--rows 1000000]

Latency: the least and the median of 20 labels, each from `label` to a prediction by `model`, on tables of 1,000
and 10,000 rows; seconds on the clock, two cores. Memory: resident size of a process that follows a stream of so
many rows with max_rows=2,000, after each tenth.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import data
from measuring import markdown, resident_memory
from rebelboost.live import Project

TABLES = ("diabetes", "car", "segment", "landsat", "waveform21", "adult", "pendigits")
TIMES = 20


def rows_of(name: str, n: int) -> list[dict[str, Any]]:
    with np.load(data.path(name)) as arrays:
        X, y = (
            (arrays["X"], arrays["y"]) if "X" in arrays else (arrays["X_train"], arrays["y_train"])
        )
    order = np.random.default_rng(0).permutation(len(y))[: n + TIMES]
    return [
        {f"c{j}": None if np.isnan(v) else float(v) for j, v in enumerate(X[i])}
        | {"label": f"class {y[i]}"}
        for i in order
    ]


def latency(name: str, n: int, folder: Path) -> list[str]:
    rows = rows_of(name, n)
    rows, new = rows[:-TIMES], rows[-TIMES:]
    with Project.create(folder / f"{name}_{n}.rebel", rows, "label") as project:
        fits = []
        for _ in range(3):
            project.correct(1, "class 0" if project.rows(1)[0].label != "class 0" else "class 1")
            began = time.perf_counter()
            project.fit()
            fits.append(time.perf_counter() - began)
        ids = project.add([{**row, "label": None} for row in new]).ids
        seconds = []
        for number, row in zip(ids, new, strict=True):
            began = time.perf_counter()
            project.label(number, row["label"])
            project.model.predict(row)
            seconds.append(time.perf_counter() - began)
    first, others = seconds[0], seconds[1:]
    return [
        name, f"{len(rows):,}", f"{1000 * first:.0f}", f"{1000 * min(others):.0f}",
        f"{1000 * statistics.median(others):.0f}", f"{min(fits):.2f}",
    ]  # fmt: skip


def long_stream(n: int) -> Iterator[dict[str, Any]]:
    draw = np.random.default_rng(0)
    for first in range(0, n, 10_000):
        X = draw.normal(size=(min(10_000, n - first), 8))
        y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * draw.normal(size=len(X)) > 0
        for x, label in zip(X.tolist(), y.tolist(), strict=True):
            yield {f"c{j}": v for j, v in enumerate(x)} | {"label": "yes" if label else "no"}


def memory(n: int, folder: Path) -> None:
    path, shown = folder / "long.rebel", 0
    with Project.create(path, None, "label") as project:

        def tell(so_far: Any) -> None:
            nonlocal shown
            if so_far.n_rows * 10 // n > shown:
                shown = so_far.n_rows * 10 // n
                print(
                    f"{so_far.n_rows:>9,} rows: {(resident_memory() or 0) / 1e6:.0f} MB resident, file "
                    f"{path.stat().st_size / 1e6:.1f} MB, {so_far.n_fits} fits, "
                    f"{100 * so_far.n_wrong / so_far.n_judged:.1f} % wrong",
                    flush=True,
                )

        found = project.follow(long_stream(n), max_rows=2_000, on_batch=tell)
    print(
        f"{n / found.seconds:,.0f} rows a second; changes noticed: {len(found.changes)} (there are none)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        rows = [latency(name, n, place) for n in (1_000, 10_000) for name in TABLES]
        head = ["", "rows", "first label, ms", "least, ms", "median, ms", "exact fit, s"]
        print(markdown(head, rows), flush=True)
        if given.rows:
            memory(given.rows, place)


if __name__ == "__main__":
    main()
