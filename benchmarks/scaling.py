"""How training grows with the number of rows: seconds and memory at 10⁴, 10⁵, 10⁶.

python benchmarks/scaling.py [--rows 10000,100000,1000000] [--repeats 2]
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

import measuring

try:
    from rebelboost import RebelClassifier, Tree
except ImportError as error:
    sys.exit(f"rebelboost is absent ({error}): install it with `pip install .`")

N_FEATURES, N_CLASSES = 50, 5
INFORMATIVE = 4  # features that speak for each class; the others are noise
DEPTH, N_ROUNDS = 4, 100
CHUNK = 65_536
MILLION = 1_000_000


class Fit(NamedTuple):
    """What one process measured."""

    seconds: float
    memory: float | None  # MB, the whole process at its peak, data and libraries included
    error: float  # %, on fresh samples


def samples(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal features in float32 and classes of equal size; made in chunks, so that they cost
    no more memory than they take.

    Each class has features of its own, and a score x₁x₂ + sin 2x₃ + |x₄| of them, which no
    single threshold reveals; the class of a sample is that of its highest score.
    """
    X = np.empty((n_rows, N_FEATURES), np.float32)
    y = np.empty(n_rows, np.int64)
    rng = np.random.default_rng(seed)
    for start in range(0, n_rows, CHUNK):
        chunk = X[start : start + CHUNK]
        rng.standard_normal(dtype=np.float32, out=chunk)
        own = chunk[:, : N_CLASSES * INFORMATIVE].reshape(-1, N_CLASSES, INFORMATIVE)
        x1, x2, x3, x4 = np.moveaxis(own, -1, 0)
        y[start : start + CHUNK] = np.argmax(x1 * x2 + np.sin(2 * x3) + np.abs(x4), axis=1)
    return X, y


def measure(n_rows: int, n_threads: int) -> Fit:
    """One fit, in a process of its own."""

    def classifier(n_rounds: int) -> RebelClassifier:
        return RebelClassifier(learner=Tree(depth=DEPTH), n_rounds=n_rounds, n_jobs=n_threads)

    warnings.simplefilter("ignore")
    X_test, y_test = samples(n_rows=10_000, seed=1)
    classifier(n_rounds=1).fit(X_test[:200], y_test[:200])
    X, y = samples(n_rows, seed=0)
    start = time.perf_counter()
    fitted = classifier(N_ROUNDS).fit(X, y)
    seconds = time.perf_counter() - start
    memory = measuring.peak_memory()
    error = 100 * float(np.mean(fitted.predict(X_test) != y_test))
    return Fit(seconds, memory if memory is None else memory / measuring.MB, error)


def best(fits: list[Fit]) -> Fit:
    """The least time, since noise only adds to it, and the greatest memory."""
    known = [fit.memory for fit in fits if fit.memory is not None]
    return Fit(min(fit.seconds for fit in fits), max(known, default=None), fits[0].error)


def table(fits: dict[int, Fit]) -> str:
    header = ["rows", "seconds", "seconds per million rows", "peak memory, MB", "test error, %"]
    rows = [
        [
            f"{n_rows:,}",
            f"{fit.seconds:.2f}",
            f"{fit.seconds * MILLION / n_rows:.2f}",
            "–" if fit.memory is None else f"{fit.memory:,.0f}",
            f"{fit.error:.1f}",
        ]
        for n_rows, fit in fits.items()
    ]
    return measuring.markdown(header, rows)


def growth(fits: dict[int, Fit]) -> Iterable[str]:
    for (few, fit), (many, larger) in pairwise(fits.items()):
        ratio = larger.seconds / fit.seconds
        yield f"{many / few:.1f} × the rows ({few:,} → {many:,}): {ratio:.1f} × the time."


def parse_arguments() -> argparse.Namespace:
    def sizes(text: str) -> list[int]:
        return sorted(int(size) for size in text.split(","))

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=sizes, default=[MILLION // 100, MILLION // 10, MILLION])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    measuring.limit_threads(options.threads)
    about = measuring.describe_machine(measuring.machine(), options.threads)
    fits: dict[int, list[Fit]] = {n_rows: [] for n_rows in options.rows}
    for _ in range(options.repeats):
        for n_rows, done in fits.items():
            done.append(measuring.in_fresh_process(measure, n_rows, options.threads).result())
    summary = {n_rows: best(done) for n_rows, done in fits.items()}
    print("\n\n".join([about, table(summary), *growth(summary)]))


if __name__ == "__main__":
    main()
