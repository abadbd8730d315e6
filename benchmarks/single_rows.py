"""Microseconds to predict one row with 400 trees of depth 6: a predictor, LightGBM, and lleaves if installed.

python benchmarks/single_rows.py [--trees 400] [--depth 6]

Every call gets another row, so that processors cannot learn the way through the trees. One thread.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

import measuring

ROWS, FEATURES, REPEATS = 4_000, 20, 7


def data(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        ROWS, FEATURES, n_informative=10, n_classes=n_classes, random_state=0
    )
    return X, y


Calls = dict[str, Callable[[Any], Any]]


def ours(X: np.ndarray, y: np.ndarray, trees: int, depth: int) -> Calls:
    from rebelboost import RebelClassifier, Tree

    clf = RebelClassifier(Tree(depth=depth), n_rounds=trees, cross_fit=None, n_jobs=1).fit(X, y)
    assert len(clf.ensemble_) == trees
    predictor = clf.predictor()
    assert np.array_equal(np.array([predictor.predict_proba(x) for x in X]), clf.predict_proba(X))
    return {
        "predictor, predict": predictor.predict,
        "predictor, predict_proba": predictor.predict_proba,
        "RebelClassifier.predict": lambda x: clf.predict(x[np.newaxis]),
    }


def theirs(X: np.ndarray, y: np.ndarray, trees: int, depth: int, folder: Path) -> Calls:
    from lightgbm import LGBMClassifier

    n_classes = len(np.unique(y))
    rounds = trees if n_classes == 2 else trees // n_classes
    fitted = LGBMClassifier(
        n_estimators=rounds, num_leaves=2**depth, max_depth=depth, n_jobs=1, verbosity=-1
    ).fit(X, y)
    booster = fitted.booster_
    calls: Calls = {
        "LightGBM, Booster.predict": lambda x: booster.predict(x[np.newaxis], num_threads=1),
        "LightGBM, LGBMClassifier.predict": lambda x: fitted.predict(x[np.newaxis]),
    }
    if find_spec("lleaves"):
        import lleaves

        path = folder / f"{n_classes}.txt"
        booster.save_model(path)
        compiled = lleaves.Model(model_file=str(path))
        compiled.compile()
        calls["lleaves"] = lambda x: compiled.predict(x[np.newaxis], n_jobs=1)
    return calls


def microseconds(call: Callable[[Any], Any], rows: list[np.ndarray]) -> float:
    """Processor time of a call: the least mean of several passes over the rows."""
    means = []
    for _ in range(REPEATS):
        began = time.process_time()
        for row in rows:
            call(row)
        means.append((time.process_time() - began) / len(rows))
    return 1e6 * min(means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=int, default=400)
    parser.add_argument("--depth", type=int, default=6)
    options = parser.parse_args()
    measuring.limit_threads(1)
    table = []
    with tempfile.TemporaryDirectory() as folder:
        for n_classes in (2, 5):
            X, y = data(n_classes)
            rows = [np.ascontiguousarray(x) for x in X[:1000]]
            calls = ours(X, y, options.trees, options.depth)
            calls |= theirs(X, y, options.trees, options.depth, Path(folder))
            table += [
                [str(n_classes), name, f"{microseconds(call, rows):.1f}"]
                for name, call in calls.items()
            ]
    print(measuring.describe_machine(measuring.machine(), 1), end="\n\n")
    print(measuring.markdown(["classes", "", "microseconds"], table))


if __name__ == "__main__":
    main()
