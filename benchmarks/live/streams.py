"""Twelve streams of 500 labels: classes that come one after the other, changes, concepts that return."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

import data

N = 500
Row = tuple[dict[str, Any], str]
"""Cells, and the label."""

INCREMENTAL = ("pendigits", "landsat", "vowel", "segment")
"""Tables whose classes come one after the other."""
STATIONARY = ("diabetes", "waveform21")
NAMES = (
    *(f"{name}, classes in turn" for name in INCREMENTAL),
    *(f"{name}, shuffled" for name in STATIONARY),
    "Phishing (River)",
    "ImageSegments (River)",
    "SEA, change at 250 (River)",
    "SEA, recurring every 125 (River)",
    "Agrawal, change at 250 (River)",
    "RBF, drifting (River)",
)


CHOOSING = (
    "optdigits, classes in turn",
    "vehicle, classes in turn",
    "yeast, shuffled",
    "german_credit, shuffled",
    "Bananas (River)",
    "Sine, change at 250 (River)",
    "Mixed, recurring every 125 (River)",
    "Hyperplane, drifting (River)",
)
"""Streams that settings were chosen by; the others are for reporting."""


def stream(name: str, seed: int) -> list[Row]:
    """The rows of a stream, in their order."""
    table, _, kind = name.partition(", ")
    if kind == "classes in turn":
        return _in_turn(table, seed)
    if kind == "shuffled":
        X, y = _table(table)
        order = np.random.default_rng(seed).permutation(len(y))[:N]
        return _rows(X[order], y[order])
    return list(islice(_of_river(table.removesuffix(" (River)"), kind, seed), N))


def _table(name: str) -> tuple[Any, Any]:
    with np.load(data.path(name)) as arrays:
        if "X" in arrays:
            return arrays["X"], arrays["y"]
        return arrays["X_train"], arrays["y_train"]


def _rows(X: Any, y: Any) -> list[Row]:
    return [
        ({f"c{j}": float(v) for j, v in enumerate(x) if not np.isnan(v)}, f"class {label}")
        for x, label in zip(X, y, strict=True)
    ]


def _in_turn(name: str, seed: int) -> list[Row]:
    """Two classes at first; another joins after an equal number of rows."""
    X, y = _table(name)
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.unique(y))
    pools = {k: list(rng.permutation(np.flatnonzero(y == k))) for k in classes}
    chosen = []
    for n in range(N):
        known = 2 + n * (len(classes) - 1) // N
        alive = [k for k in classes[:known] if pools[k]]
        chosen.append(pools[rng.choice(alive)].pop())
    return _rows(X[chosen], y[chosen])


CONCEPTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "SEA": ("SEA", {"variant": 0, "noise": 0.05}, {"variant": 3, "noise": 0.05}),
    "Agrawal": ("Agrawal", {"classification_function": 0}, {"classification_function": 6}),
    "Sine": ("Sine", {"classification_function": 0}, {"classification_function": 1}),
    "Mixed": ("Mixed", {"classification_function": 0}, {"classification_function": 1}),
}
"""Name → generator, and its two concepts."""


def _of_river(name: str, kind: str, seed: int) -> Iterator[Row]:
    from river import datasets
    from river.datasets import synth

    rng = np.random.default_rng(seed)
    if name in ("Phishing", "ImageSegments", "Bananas"):
        every = list(getattr(datasets, name)())
        source: Any = (every[i] for i in rng.permutation(len(every)))
    elif name in CONCEPTS:
        maker, first, second = CONCEPTS[name]
        turns = [first, second] if "250" in kind else [first, second, first, second]
        step = N // len(turns)
        source = (
            pair
            for i, given in enumerate(turns)
            for pair in getattr(synth, maker)(**given, seed=seed * 10 + i).take(step)
        )
    elif name == "Hyperplane":
        source = synth.Hyperplane(
            seed=seed, n_features=6, n_drift_features=4, mag_change=0.01
        ).take(N)
    else:
        source = synth.RandomRBFDrift(
            seed_model=seed, seed_sample=seed, n_classes=4, n_features=6, n_centroids=12,
            change_speed=0.02, n_drift_centroids=6,
        ).take(N)  # fmt: skip
    for x, y in source:
        yield {str(k): v for k, v in x.items()}, f"class {y}"
