"""One task of `before_after.py`, in a process of its own: prints seconds of the processor as JSON.

python benchmarks/stopwatch/worker.py TASK [ARGUMENT] MODELS

Nothing but a part of the standard library is imported up here: loading the package is a task itself.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONG = 20_000
BATCHES, CALLS = 12, 25
MOST_FITS, ENOUGH = 5, 4.0  # short fits are repeated, up to so many seconds
LEARNERS = ("tree", "similarity", "blend")

# ---- loading the package


def importing(_: Path) -> dict[str, float]:
    start = time.process_time()
    import rebelboost

    bare = time.process_time() - start
    rebelboost.RebelClassifier  # noqa: B018  (names are loaded when asked for)
    return {"import rebelboost": bare, "… and RebelClassifier": time.process_time() - start}


# ---- fitting


def fits() -> dict[str, Callable[[], tuple[Any, Any, Any]]]:
    """Name → an estimator, X and y; as many rounds of each as take about a second."""
    from rebelboost import RebelClassifier, Similarity, Tree

    one_output, near = Tree(3, outputs="tree"), Similarity("standard")
    return {
        "segment, tree": lambda: (
            RebelClassifier("tree", cross_fit=None, n_rounds=400),
            *training("segment"),
        ),
        "landsat, tree": lambda: (
            RebelClassifier("tree", cross_fit=None, n_rounds=400),
            *training("landsat"),
        ),
        "letter, tree": lambda: (
            RebelClassifier("tree", cross_fit=None, n_rounds=150),
            *training("letter"),
        ),
        "pendigits, one output": lambda: (
            RebelClassifier(one_output, n_rounds=300),
            *training("pendigits"),
        ),
        "optdigits, stump": lambda: (
            RebelClassifier("stump", n_rounds=600),
            *training("optdigits"),
        ),
        "segment, similarity": lambda: (RebelClassifier(near, n_rounds=1000), *training("segment")),
        "digits (898 rows), RebelClassifier()": lambda: (RebelClassifier(), *digits(898)),
    }


def training(name: str) -> tuple[Any, Any]:
    import data

    split = data.load(name)
    return split.X_train, split.y_train


def digits(n: int) -> tuple[Any, Any]:
    import numpy as np
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    return X[chosen], y[chosen]


def fitting(name: str) -> dict[str, float]:
    estimator, X, y = fits()[name]()
    type(estimator)(**estimator.get_params(deep=False) | {"n_rounds": 2}).fit(
        X[:200], y[:200]
    )  # warms up
    seconds: list[float] = []
    while len(seconds) < MOST_FITS and sum(seconds) < ENOUGH:
        start = time.process_time()
        estimator.fit(X, y)
        seconds.append(time.process_time() - start)
    return {f"fit: {name}": min(seconds)}


# ---- predicting


def making(models: Path) -> dict[str, float]:
    """Fit and save a model of each kind, from arrays and from data frames."""
    import pandas as pd

    from rebelboost import RebelClassifier, Similarity

    estimators = (
        RebelClassifier("tree", cross_fit=None, n_rounds=100),
        RebelClassifier(Similarity("standard"), n_rounds=300),
        RebelClassifier(),
    )
    X, y = digits(300)
    for name, estimator in zip(LEARNERS, estimators, strict=True):
        estimator.fit(X, y).save(models / f"{name}.safetensors")
        estimator.fit(pd.DataFrame(X).add_prefix("x"), y).save(models / f"{name}-frame.safetensors")
    return {}


def predicting(name: str, models: Path) -> dict[str, float]:
    import numpy as np
    import pandas as pd

    from rebelboost import load

    X, _ = digits(898)
    path = models / f"{name}.safetensors"
    load(path).predict(X)  # warms up
    model, of_frames = load(path), load(models / f"{name}-frame.safetensors")
    row, frame = X[:1], pd.DataFrame(X[:1]).add_prefix("x")
    rows = np.tile(X, (LONG // len(X) + 1, 1))[:LONG]
    rows = rows + np.random.default_rng(0).integers(3, size=rows.shape)
    return {
        f"load: {name}": least(lambda: load(path), 4),
        f"predict 1 row, array: {name}": least(lambda: model.predict(row), CALLS),
        f"predict 1 row, frame: {name}": least(lambda: of_frames.predict(frame), CALLS),
        f"predict {LONG:,} rows: {name}": least(lambda: model.predict(rows), 1, batches=3),
    }


def least(call: Callable[[], Any], calls: int, batches: int = BATCHES) -> float:
    """Seconds of one call, by the quickest of several batches; the first only warms up."""
    seconds = []
    for _ in range(batches + 1):
        start = time.process_time()
        for _ in range(calls):
            call()
        seconds.append((time.process_time() - start) / calls)
    return min(seconds[1:])


def tasks() -> list[list[str]]:
    return [
        ["import"],
        *(["fit", name] for name in fits()),
        *(["predict", each] for each in LEARNERS),
    ]


def main() -> None:
    task, *arguments, models = sys.argv[1:]
    warnings.simplefilter("ignore")
    found: Any
    if task == "list":
        found = tasks()
    elif task == "import":
        found = importing(Path(models))
    elif task == "make":
        found = making(Path(models))
    elif task == "fit":
        found = fitting(arguments[0])
    else:
        found = predicting(arguments[0], Path(models))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
