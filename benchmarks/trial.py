"""A library at its defaults on a split of a set: error, log-loss and seconds; see `auto.py`."""

import os
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
LEAST_PROBABILITY = 1e-15


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
    """Error, log-loss and seconds of a fit and its predictions, in one thread.

    `seconds` are the processor's, those of processes that the library started among them; `wall` are those
    on the clock. The log-loss is None where a library gives no probabilities; seconds do not contain it.
    """
    del made_by  # part of the unit's name, so that other code or versions are measured anew
    warnings.simplefilter("ignore")
    X_train, X_test, y_train, y_test = load(name, seed, rows)
    classifier = compare.load(rival).make(1)
    used, began = processor_seconds(), time.perf_counter()
    result: dict[str, Any] = {"error": 100.0, "log_loss": None}
    try:
        classifier.fit(X_train, y_train)
        wrong = np.ravel(classifier.predict(X_test)) != y_test
        result["error"] = 100 * float(wrong.mean())
    except Exception as reason:  # a library that cannot do a set has the last rank on it
        result["failed"] = repr(reason)
    result["seconds"] = processor_seconds() - used
    result["wall"] = time.perf_counter() - began
    if "failed" not in result and hasattr(classifier, "predict_proba"):
        result["log_loss"] = log_loss(classifier.predict_proba(X_test), y_test)
    return result


def log_loss(probabilities: Any, y: np.ndarray) -> float:
    """Mean of −ln of the class's probability, clipped: a class that is ruled out wrongly costs 34.5."""
    of_class = np.asarray(probabilities)[np.arange(len(y)), y]
    return float(-np.log(np.clip(of_class, LEAST_PROBABILITY, 1)).mean())


def processor_seconds() -> float:
    others = os.times()  # in hundredths of a second, which is too coarse for the own process
    return time.process_time() + others.children_user + others.children_system
