"""One record for a method on a problem, kept as JSON until the method or the trials change."""

import hashlib
import json
import time
import warnings
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

from pricing import trials
from pricing.methods import METHODS
from pricing.trials import Problem

CACHE = Path(__file__).resolve().parents[2] / ".benchmarks" / "costs"
N_BINS = 15

Record = dict[str, Any]
"""costs (one for each matrix), seconds, log_loss and ece where there is a posterior;
or left_out and its reason."""


def measure(problem: Problem, title: str) -> Record:
    """Called in a process of its own."""
    warnings.simplefilter("ignore")
    method, task = METHODS[title], trials.load(problem)
    if len(task.known) > method.most_classes:
        return {"left_out": f"{len(task.known)} classes: {method.why_not}"}
    start = time.perf_counter()
    decided, posterior = method.decide(task)
    record = {"seconds": time.perf_counter() - start, "costs": task.mean_costs(decided)}
    if posterior is not None and np.isin(task.split.y_test, task.known).all():
        labels = np.searchsorted(task.known, task.split.y_test)
        record |= {"log_loss": log_loss(labels, posterior), "ece": ece(labels, posterior)}
    return record


def log_loss(labels: np.ndarray, posterior: np.ndarray) -> float:
    """Mean −ln P; as scikit-learn's, it takes the smallest step from 1 for what is below it."""
    own = posterior[np.arange(len(labels)), labels]
    return float(-np.log(np.maximum(own, np.finfo(np.float64).eps)).mean())


def ece(labels: np.ndarray, posterior: np.ndarray, n_bins: int = N_BINS) -> float:
    """Expected calibration error of the likeliest class, in bins of equal numbers of samples."""
    confidence = posterior.max(axis=1)
    right = posterior.argmax(axis=1) == labels
    bins = np.array_split(np.argsort(confidence, kind="stable"), n_bins)
    gaps = [abs(confidence[b].sum() - right[b].sum()) for b in bins]
    return float(sum(gaps) / len(labels))


def find(problem: Problem, title: str) -> Record | None:
    file = path(problem, title)
    return json.loads(file.read_text()) if file.is_file() else None


def keep(problem: Problem, title: str, record: Record) -> None:
    file = path(problem, title)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"method": title} | record))


def path(problem: Problem, title: str) -> Path:
    made_by = (METHODS[title].version, TRIALS, astuple(problem))
    key = hashlib.sha256(repr(made_by).encode()).hexdigest()[:16]
    # Methods of the same package differ in their titles alone; variants of ours in their options.
    name = "" if title.startswith("ours") else hashlib.sha256(title.encode()).hexdigest()[:8]
    return CACHE / f"{problem.part}-{problem.name}-{problem.split}-{key}{name}.json"


TRIALS = hashlib.sha256(Path(trials.__file__).read_bytes()).hexdigest()
