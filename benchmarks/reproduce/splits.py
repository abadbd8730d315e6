"""The units of LOCAL Fig. 8 and REBEL Fig. 4: one method on one random split.

Half of the samples to train on, a quarter to choose the number of rounds by, a quarter to test. A round of
one-against-all and of CW-Boost is one stump for each class.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

import data
from rebelboost import RebelClassifier, Similarity, Tree
from reproduce.harness import code_of, measure_all
from reproduce.papers import paper
from rivals import RIVALS

ROUNDS = 200
STUMPS, TREES = "REBEL, stumps", "REBEL, trees"
ONE_POINT, TWO_POINTS = "REBEL, one-point only", "REBEL, similarities"
BY_SIGN = "REBEL, similarities by sign"
DEPTHS = tuple(f"REBEL, depth {depth}" for depth in (2, 3, 4))
OURS, OUR_TREES = "ours, similarities", "ours, trees"
MNIST_ROWS = 10_000
"""Drawn from the 70,000; the papers do not say how many they used."""


def ours(learner: Any) -> RebelClassifier:
    return RebelClassifier(
        learner, n_rounds=ROUNDS, tol=0.0, decision="argmax", cross_fit=None, n_jobs=1
    )


METHODS: dict[str, Callable[[], Any]] = {
    **{title: lambda rival=rival: rival(n_rounds=ROUNDS) for title, rival in RIVALS.items()},
    STUMPS: lambda: paper("rebel", ROUNDS),
    **{
        title: lambda depth=depth: paper("rebel_trees", ROUNDS, depth=depth)
        for depth, title in enumerate(DEPTHS, 2)
    },
    ONE_POINT: lambda: paper("one_point", ROUNDS),
    BY_SIGN: lambda: paper("local_sign", ROUNDS),
    TWO_POINTS: lambda: paper("local", ROUNDS),
    OURS: lambda: ours(Similarity()),
    OUR_TREES: lambda: ours(Tree()),
}
Errors = dict[str, dict[str, list[float]]]
"""Method → set → one error in % for each split."""


def pooled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a set, those of an official test set included."""
    with np.load(data.path(name)) as arrays:
        parts = [("X", "y")] if "X" in arrays else [("X_train", "y_train"), ("X_test", "y_test")]
        X = np.concatenate([arrays[part] for part, _ in parts]).astype(np.float32)
        y = np.concatenate([arrays[part] for _, part in parts])
    some = np.random.default_rng(0).permutation(len(y))[:MNIST_ROWS] if name == "mnist" else ...
    return X[some], y[some]


def three_parts(X: np.ndarray, y: np.ndarray, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """50 % to train on, 25 % to validate, 25 % to test."""
    X_train, rest, y_train, other = train_test_split(X, y, train_size=0.5, random_state=seed)
    X_valid, X_test, y_valid, y_test = train_test_split(
        rest, other, test_size=0.5, random_state=seed
    )
    yield from ((X_train, y_train), (X_valid, y_valid), (X_test, y_test))


def error(set_name: str, method: str, seed: int) -> dict[str, float]:
    """Errors in % after the number of rounds that has the least error on the validation part."""
    (X, y), validation, test = three_parts(*pooled(set_name), seed)
    began = time.process_time()
    model = METHODS[method]().fit(X, y)
    seconds = time.process_time() - began
    on_validation, on_test = (
        [100 * float(np.mean(decided != labels)) for decided in model.staged_predict(samples)]
        for samples, labels in (validation, test)
    )
    best = int(np.argmin(on_validation))
    return {
        "rounds": best + 1,
        "validation": on_validation[best],
        "error": on_test[best],
        "error, all rounds": on_test[-1],
        "seconds": seconds,
    }


def errors(sets: Iterable[str], methods: Iterable[str], n_splits: int) -> Errors:
    """All runs; where the depth of REBEL's trees is asked for, it is chosen by the validation part."""
    methods = list(methods)
    run = [m for m in methods if m != TREES] + list(DEPTHS) * (TREES in methods)
    runs: dict[tuple[str, str, int], dict[str, float]] = {}
    for rivals in (True, False):
        of_kind = [m for m in dict.fromkeys(run) if (m in RIVALS) == rivals]
        units = [(s, m, seed) for s in sets for m in of_kind for seed in range(n_splits)]
        runs |= measure_all(error, units, code_of("rivals") if rivals else None)
    if TREES in methods:
        for s in sets:
            for seed in range(n_splits):
                of_depths = [runs[s, m, seed] for m in (STUMPS, *DEPTHS) if (s, m, seed) in runs]
                runs[s, TREES, seed] = min(of_depths, key=lambda each: each["validation"])
    found: Errors = {}
    for method in methods:
        found[method] = {s: [runs[s, method, i]["error"] for i in range(n_splits)] for s in sets}
    return found


def mean(values: list[float]) -> float:
    return float(np.mean(values))


def best_of(found: Errors, methods: Iterable[str], name: str) -> str:
    """The method with the least mean error on a set."""
    return min(methods, key=lambda method: mean(found[method][name]))
