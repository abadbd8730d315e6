"""What the kernel machine gains and costs in the default, on the half of the tables for choosing.

python benchmarks/kernel_machine.py [--half choosing] [--seeds 3] [--candidate logistic]

The default is fitted with and without the candidate, in turn and in one thread: without the kernel machine,
standardised similarities take part instead; logistic regression takes part with two classes. Tables of the
arena take part up to 2,500 rows, with the first splits of the benchmark; others with at most 1,200 rows
(`trial.py`). Differences are means over the tables, with their standard errors, and on how many tables the
default is better and worse with it.
"""

import argparse
import time
import warnings
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.metrics import roc_auc_score

import arena
import trial
from halves import HALVES
from measuring import markdown
from rebelboost import RebelClassifier
from rebelboost.selection import candidates
from reproduce import harness

ROWS = 1200
SMALL = 2500
LIMITS = {"kernel": "MOST_ROWS", "logistic": "MOST_FOR_LOGISTIC"}
"""Constant of `rebelboost.selection.candidates` that limits the samples of each candidate."""
LEAST = 1e-4
"""Of 1 − AUC: below it, ratios mean nothing."""


def load(name: str, split: int) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Training and test tables and labels; names of the arena's tables begin with "arena:"."""
    if not name.startswith("arena:"):
        return trial.load(name, split, ROWS)
    X, y = arena.table(name.removeprefix("arena:"), dated=True)
    repeat, fold = divmod(split, arena.FOLDS)
    test = arena.folds_of(name.removeprefix("arena:"))[repeat] == fold
    return X[~test].reset_index(drop=True), X[test].reset_index(drop=True), y[~test], y[test]


def measure(name: str, split: int, candidate: str) -> dict[str, list[float]]:
    """Variant → error, log-loss, 1 − AUC, seconds of a fit, and share of explanations that name rows."""
    warnings.simplefilter("ignore")
    X_train, X_test, y_train, y_test = load(name, split)
    found = {}
    limit = LIMITS[candidate]
    for variant, most in (("without", 0), ("with", getattr(candidates, limit))):
        with patch.object(candidates, limit, most):
            began = time.process_time()
            model = RebelClassifier(n_jobs=1).fit(X_train, y_train)
            seconds = time.process_time() - began
        p = model.predict_proba(X_test)
        whys = model.explain(X_test[:5])
        found[variant] = [
            100 * float((p.argmax(axis=1) != y_test).mean()),
            trial.log_loss(p, y_test),
            one_minus_auc(p, y_test),
            seconds,
            float(np.mean([len(why.examples) > 0 for why in whys])),
        ]
    return found


def one_minus_auc(p: np.ndarray, y: np.ndarray) -> float:
    """Of the second class; with more classes, the mean over each against the others."""
    classes = [1] if p.shape[1] == 2 else [k for k in range(p.shape[1]) if (y == k).any()]
    return 1 - float(np.mean([roc_auc_score(y == k, p[:, k]) for k in classes]))


def tables(half: str) -> list[str]:
    small = [name for name in arena.halves()[half] if arena.folds_of(name).shape[1] <= SMALL]
    return [*HALVES[half], *(f"arena:{name}" for name in small)]


def _mean(found: Any, unit: tuple[str, str], variant: str, seeds: int) -> np.ndarray:
    name, candidate = unit
    return np.mean([found[name, split, candidate][variant] for split in range(seeds)], axis=0)


def line(what: str, differences: np.ndarray, digits: int) -> list[str]:
    """Mean and standard error over the tables, and the numbers of tables with less and with more."""
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    lower, higher = (differences < 0).sum(), (differences > 0).sum()
    return [what, f"{differences.mean():+.{digits}f}", f"{error:.{digits}f}", f"{lower} – {higher}"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--half", choices=("choosing", "reporting", "all"), default="choosing")
    parser.add_argument("--seeds", type=int, default=3, help="splits of each table")
    parser.add_argument("--candidate", choices=LIMITS, default="kernel")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    names = tables(options.half)
    units = [(name, s, options.candidate) for s in range(options.seeds) for name in names]
    found = harness.measure_all(measure, units, n_processes=options.processes)
    means = {
        variant: np.array(
            [_mean(found, (n, options.candidate), variant, options.seeds) for n in names]
        )
        for variant in ("without", "with")
    }  # (tables, measures)
    change = means["with"] - means["without"]
    logs = [np.log(np.maximum(means[v][:, 2], LEAST)) for v in ("without", "with")]
    rows = [
        line("error, %", change[:, 0], 2),
        line("log-loss", change[:, 1], 4),
        line("ln(1 − AUC)", logs[1] - logs[0], 4),
    ]
    print(markdown([f"with {options.candidate}", "mean", "±", "lower – higher"], rows))
    plain = [not name.startswith("arena:") for name in names]
    for variant, values in means.items():
        seconds, n_named = values[plain, 3].mean(), (values[:, 4] > 0).sum()
        print(
            f"{variant}: {seconds:.3f} s a fit on {sum(plain)} tables; {n_named} of {len(names)} models "
            "name training rows as reasons"
        )


if __name__ == "__main__":
    main()
