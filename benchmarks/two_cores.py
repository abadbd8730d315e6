"""The default's time on two threads beside one: wall-clock seconds of `RebelClassifier().fit`, and their ratio.

    python benchmarks/two_cores.py [--sets a,b] [--repeats 3] [--rows 1200]

Fits with one and with two threads alternate, and the minimum of each counts: run it on two cores that do
nothing else. The models are compared too: they must be the same, to the bit. `digits` are scikit-learn's first
898, the other sets are from the half for choosing.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import trial
from measuring import markdown
from rebelboost import RebelClassifier

SETS = "digits,anneal,connect_4,dry_bean,eucalyptus,glass,vowel,waveform40"
"""From 160 to 900 rows, 9 to 64 columns and 3 to 11 classes."""
N_DIGITS = 898


def load(name: str, rows: int) -> tuple[Any, np.ndarray]:
    """Training table and labels."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X[:N_DIGITS], y[:N_DIGITS]
    X, _, y, _ = trial.load(name, 0, rows)
    return X, y


def fit(X: Any, y: np.ndarray, n_jobs: int) -> tuple[float, np.ndarray]:
    """Seconds, and the scores of the model."""
    began = time.perf_counter()
    model = RebelClassifier(n_jobs=n_jobs).fit(X, y)
    seconds = time.perf_counter() - began
    return seconds, model.decision_function(X)


def compare(name: str, rows: int, repeats: int) -> tuple[float, float]:
    """The least seconds with one thread, and with two."""
    X, y = load(name, rows)
    least = [np.inf, np.inf]
    scores: list[Any] = [None, None]
    for _ in range(repeats):
        for i in range(2):
            seconds, scores[i] = fit(X, y, i + 1)
            least[i] = min(least[i], seconds)
    if not np.array_equal(*scores):
        raise AssertionError(f"{name}: the number of threads changes the model")
    return least[0], least[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1200, help="of each set, at most")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = options.sets.split(",")
    fit(*load(names[0], 200), 2)  # imports
    found = {name: compare(name, options.rows, options.repeats) for name in names}
    found["all"] = tuple(np.sum(list(found.values()), axis=0))
    rows = [
        [name, f"{one:.3f}", f"{two:.3f}", f"{two / one:.2f}"] for name, (one, two) in found.items()
    ]
    print(markdown(["set", "one thread, s", "two threads, s", "ratio"], rows))


if __name__ == "__main__":
    main()
