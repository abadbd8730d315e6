"""A library at its defaults on a split of a set: error and seconds; see `auto.py`."""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

import compare
import data
from compare import columns

TEST_SHARE = 0.25
FEWEST_OF_CLASS = 4
"""Classes with fewer samples cannot be in every part."""


def load(name: str, seed: int, rows: int) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Training and test tables and labels: a stratified split of at most so many rows."""
    with np.load(data.path(name)) as arrays:
        parts = ("X",) if "X" in arrays else ("X_train", "X_test")
        X = np.concatenate([arrays[part] for part in parts]).astype(np.float32)
        labels = "y3" if name == "abalone" else "y"  # three groups of ages, not 28 single years
        y = np.concatenate([arrays[part.replace("X", labels)] for part in parts])
        kinds = arrays["categorical"] if "categorical" in arrays else np.zeros(X.shape[1])
    X, y = _with_classes(X, y)
    if len(y) > rows:
        X, _, y, _ = train_test_split(X, y, train_size=rows, stratify=y, random_state=seed)
        X, y = _with_classes(X, y)
    table = columns.frame(X, kinds)
    return tuple(train_test_split(table, y, test_size=TEST_SHARE, stratify=y, random_state=seed))


def _with_classes(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    enough = np.bincount(y)[y] >= FEWEST_OF_CLASS
    return X[enough], np.unique(y[enough], return_inverse=True)[1]


def measure(name: str, seed: int, rows: int, rival: str, made_by: str) -> dict[str, Any]:
    """Error and seconds of a fit and its predictions, in a process that does nothing else."""
    del made_by  # part of the unit's name, so that other code or versions are measured anew
    warnings.simplefilter("ignore")
    X_train, X_test, y_train, y_test = load(name, seed, rows)
    classifier = compare.load(rival).make(1)
    start = time.process_time()
    try:
        classifier.fit(X_train, y_train)
        wrong = np.ravel(classifier.predict(X_test)) != y_test
    except Exception as reason:  # a library that cannot do a set has the last rank on it
        return {"error": 100.0, "seconds": time.process_time() - start, "failed": repr(reason)}
    return {"error": 100 * float(wrong.mean()), "seconds": time.process_time() - start}
