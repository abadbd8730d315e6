"""Monotone models: an exhaustive check, and what the constraint costs in error.

python benchmarks/monotone.py [--models 50] [--splits 5]

Exhaustive: models of 2 to 4 classes and of numbers, on small random tables with gaps and categories.
Predictions are compared in all cells of the columns.

Error: on tables with two classes, each column of numbers whose rank correlation with the class is above 0.1
on the training rows gets its sign as direction. Log-loss and errors on the test rows, with and without,
beside LightGBM (monotone_constraints) and scikit-learn's HistGradientBoosting (monotonic_cst). Ours is
learner="auto_trees", so that both of its columns compare the same learners.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

import data
import measuring
from rebelboost import RebelClassifier, RebelRegressor, Tree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "estimators"))
import test_monotone as cells

TABLES = (
    "give_me_some_credit",
    "bank_telemarketing",
    "credit_vub",
    "credit_pakdd",
    "churn_tv",
)
N_TRAIN, N_TEST = 2000, 6000
LEAST = 0.1
"""Rank correlation from which on a column gets a direction."""


def exhaustive(n_models: int) -> tuple[int, int]:
    """Numbers of steps from cell to cell, and of those in the wrong direction."""
    n_steps = n_wrong = 0
    for seed in range(n_models):
        X, z = cells.table(seed)
        n_classes, depth = 1 + seed % 4, 1 + seed % 6
        grid, shape = cells.every_cell(X)
        options = {"n_rounds": 30, "cross_fit": 3, "monotone": cells.DIRECTIONS}
        if n_classes == 1:
            found = [RebelRegressor(Tree(depth=depth), **options).fit(X, z).predict(grid)]
        else:
            y = np.searchsorted(np.quantile(z, np.arange(1, n_classes) / n_classes), z)
            clf = RebelClassifier(Tree(depth=depth), training="neutral", **options).fit(X, y)
            above = np.cumsum(clf.predict_proba(grid)[:, ::-1], axis=1)[:, ::-1]
            found = [*above[:, 1:].T, clf.predict(grid).astype(float)]
        for own in found:
            tiny = 1e-12 * max(1.0, float(np.abs(own).max()))
            for axis, sign in ((0, 1), (1, -1)):
                steps = sign * cells.steps(own, shape, axis)
                n_steps, n_wrong = n_steps + steps.size, n_wrong + int((steps < -tiny).sum())
    return n_steps, n_wrong


def load(name: str, seed: int):
    X = pd.read_csv(data.folder() / "money" / f"empulse_{name}.csv.gz")
    X = X.iloc[np.random.default_rng(seed).permutation(len(X))[: N_TRAIN + N_TEST]]
    y = X.pop("target").to_numpy(dtype=int)
    X = X.select_dtypes("number").reset_index(drop=True)
    return X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]


def directions(X: pd.DataFrame, y: np.ndarray) -> dict[str, int]:
    found = {name: spearmanr(X[name], y, nan_policy="omit").statistic for name in X}
    return {name: int(np.sign(r)) for name, r in found.items() if abs(r) > LEAST}


def models(names: list[str], wanted: dict[str, int]):
    from lightgbm import LGBMClassifier

    signs = [wanted.get(name, 0) for name in names]
    yield "ours", RebelClassifier("auto_trees", n_jobs=1)
    yield "ours, monotone", RebelClassifier("auto_trees", n_jobs=1, monotone=wanted)
    yield "LightGBM", LGBMClassifier(n_jobs=1, verbose=-1)
    yield "LightGBM, monotone", LGBMClassifier(n_jobs=1, verbose=-1, monotone_constraints=signs)
    yield "HGB", HistGradientBoostingClassifier(random_state=0)
    yield "HGB, monotone", HistGradientBoostingClassifier(random_state=0, monotonic_cst=signs)


def errors(n_splits: int):
    for name in TABLES:
        rows = []
        for seed in range(n_splits):
            X, y, X_test, y_test = load(name, seed)
            wanted = directions(X, y)
            line = [len(wanted)]
            for _, model in models(list(X), wanted):
                p = model.fit(X, y).predict_proba(X_test)
                line += [100 * log_loss(y_test, p), 100 * np.mean(p.argmax(axis=1) != y_test)]
            rows.append(line)
        n, *means = np.mean(rows, axis=0)
        pairs = zip(means[::2], means[1::2], strict=True)
        yield [name, f"{n:.1f}", *(f"{loss:.1f} / {error:.1f}" for loss, error in pairs)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(measuring.describe_machine(measuring.machine(), 1))
    steps, wrong = exhaustive(options.models)
    print(f"{options.models} models, {steps:,} steps between cells, {wrong:,} wrong", flush=True)
    head = ["log-loss × 100 / errors, %", "columns", *(name for name, _ in models([], {}))]
    print(measuring.markdown(head, errors(options.splits)))


if __name__ == "__main__":
    main()
