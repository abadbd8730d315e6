"""What the default's settings for 1,200 to 20,000 samples gain and cost, on the half of the sets for choosing.

python benchmarks/larger.py [--sets a,b] [--variants a,b] [--processes 1]

Sets are those of `halves.CHOOSING` with more than 1,200 rows, at two sizes where they suffice, and tables
of this size in the choosing half of `arena.py`. A variant changes one setting; each is measured by
1 − AUC for two classes, log-loss for more, of rows that it has not seen, and seconds of the processor. Results
stay in `.benchmarks/reproduce/units` until the code changes.
"""

import argparse
import math
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import arena
import compare
import measuring
import trial
from rebelboost.selection.calibration import ClassScorer
from rebelboost.tasks.classes import ClassTask
from reproduce import harness

SMALL, LARGE = 5000, 12_000
SETS = [
    ("jm1", 10_885, 0), ("jm1", 10_885, 1), ("bank-marketing", SMALL, 0), ("bank-marketing", LARGE, 1),
    ("abalone", SMALL, 0), ("avila", SMALL, 0), ("avila", LARGE, 1), ("cardiotocography", SMALL, 0),
    ("connect_4", SMALL, 0), ("connect_4", LARGE, 1), ("dry_bean", SMALL, 0), ("dry_bean", LARGE, 1),
    ("kr_vs_kp", SMALL, 0), ("led7", SMALL, 0), ("mfeat_morphological", SMALL, 0),
    ("poker_train", SMALL, 0), ("poker_train", LARGE, 1), ("shuttle", SMALL, 0), ("sleep", SMALL, 0),
    ("sleep", LARGE, 1), ("waveform40", SMALL, 0),
]  # fmt: skip
"""Name, rows at most, and seed."""
DEFAULT = "the default"
VARIANTS: dict[str, list[tuple[Any, str, Any]]] = {
    DEFAULT: [],
    "weights by log-loss instead of votes": [(ClassScorer, "fewest_to_vote", math.inf)],
    "one fold with more than 5,000": [(ClassTask, "parts_of_many", 1)],
    "three folds": [(ClassTask, "parts_of_many", 3)],
    "five folds": [(ClassTask, "parts_of_many", 5)],
}
FORMER, MORE = "none of these", ("three folds", "five folds")
VARIANTS[FORMER] = [
    each for name, changes in VARIANTS.items() if name not in MORE for each in changes
]


@contextmanager
def changed(variant: str) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, name, value in VARIANTS[variant]:
            stack.enter_context(patch.object(owner, name, value))
        yield


def load(name: str, rows: int, seed: int) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    if name not in arena.halves()["choosing"] or name == "anneal":
        return trial.load(name, seed, rows)
    X, y = arena.table(name, dated=True)
    if len(y) > rows:
        X, _, y, _ = train_test_split(X, y, train_size=rows, stratify=y, random_state=seed)
    X = X.reset_index(drop=True)
    return tuple(train_test_split(X, y, test_size=trial.TEST_SHARE, stratify=y, random_state=seed))


def measure(name: str, rows: int, seed: int, variant: str) -> dict[str, float]:
    """Metric, log-loss, error, seconds, and outputs of all terms, of a variant or a rival on a split."""
    warnings.simplefilter("ignore")
    X_train, X_test, y_train, y_test = load(name, rows, seed)
    rival = compare.OURS if variant in VARIANTS else variant
    classifier = compare.load(rival).make(1)
    began = trial.processor_seconds()
    with changed(variant if variant in VARIANTS else DEFAULT):
        classifier.fit(X_train, y_train)
    p = classifier.predict_proba(X_test)
    seconds = trial.processor_seconds() - began
    log_loss = trial.log_loss(p, y_test)
    metric = 1 - float(roc_auc_score(y_test, p[:, 1])) if p.shape[1] == 2 else log_loss
    ensemble = classifier.model_.ensemble if rival == compare.OURS else None
    groups = [] if ensemble is None else ensemble.groups
    outputs = sum(group.terms.outputs.nbytes for group in groups if hasattr(group.terms, "outputs"))
    error = 100 * float(np.mean(np.argmax(p, axis=1) != y_test))
    return {"metric": metric, "log_loss": log_loss, "error": error, "seconds": seconds,
            "megabytes": outputs / 2**20}  # fmt: skip


LEAST = {"metric": 1e-3, "log_loss": 1e-3, "error": 0.1, "megabytes": 1e-3}
"""Smaller figures are noise, and count as this."""


def ratio(found: dict[Any, Any], sets: list[Any], key: str, variant: str) -> np.ndarray:
    """A variant's figures over the default's, by set."""
    own, default = (
        np.array([max(found[(*each, v)][key], LEAST[key]) for each in sets])
        for v in (variant, DEFAULT)
    )
    return own / default


def report(found: dict[Any, Any], sets: list[Any], variants: list[str]) -> Iterator[str]:
    rows = []
    for variant in variants:
        ratios = {key: ratio(found, sets, key, variant) for key in LEAST}
        seconds = sum(found[(*each, variant)]["seconds"] for each in sets)
        better = f"{(ratios['metric'] > 1).sum()} – {(ratios['metric'] < 1).sum()}"
        means = [f"{math.exp(np.log(each).mean()):.4f}" for each in ratios.values()]
        rows.append([variant, *means[:1], better, *means[1:], f"{seconds:.1f}"])
    yield measuring.markdown(
        ["variant over the default", "1 − AUC or log-loss", "default better – worse",
         "log-loss", "error", "outputs", "seconds, sum"], rows)  # fmt: skip
    rows = [
        [f"{name}, {n}", *(f"{found[name, n, seed, v]['metric']:.4f}, "
                           f"{found[name, n, seed, v]['seconds']:.2f} s" for v in variants)]
        for name, n, seed in sets
    ]  # fmt: skip
    yield measuring.markdown(["", *variants], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", help="these names only")
    parser.add_argument("--variants", default=";".join([*VARIANTS, "lightgbm"]))
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    names = options.sets.split(",") if options.sets else {name for name, _, _ in SETS}
    sets = [each for each in SETS if each[0] in names]
    variants = options.variants.split(";")
    units = [(*each, variant) for each in sets for variant in variants]
    found = harness.measure_all(measure, units, n_processes=options.processes)
    for text in report(found, sets, variants):
        print(text + "\n")


if __name__ == "__main__":
    main()
