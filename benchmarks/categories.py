"""Categories of many values: ways to treat them, on constructed tables and those of `arena.py` to choose by.

python benchmarks/categories.py [--tables towns,noise] [--variants present,chosen] [--seeds 3]

Each constructed table is drawn anew for each seed: 3,000 rows to train on, and 10,000 others. Figures are means
over the seeds: log-loss for classes, mean squared error over the variance for numbers. Everything runs in one
thread.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import arena
import measuring
from rebelboost import RebelClassifier, RebelRegressor
from rebelboost.data import level_means
from trial import log_loss, processor_seconds

TRAIN, TEST = 3000, 10_000
Table = tuple[pd.DataFrame, np.ndarray]
Floats = np.ndarray

VARIANTS: dict[str, dict[str, Any]] = {
    "present": {"FEWEST_LEVELS": 10**9},
    "left out": {},
    "chosen": {},
    "a=1": {"SMOOTHING": 1.0},
    "a=3": {"SMOOTHING": 3.0},
    "a=10": {"SMOOTHING": 10.0},
    "a=30": {"SMOOTHING": 30.0},
    "more than 4": {"FEWEST_LEVELS": 4},
    "more than 24": {"FEWEST_LEVELS": 24},
    "more than 2": {"FEWEST_LEVELS": 2},
    "folds 3": {"N_FOLDS": 3},
    "folds 10": {"N_FOLDS": 10},
    "no pairs": {"MOST_PAIRS": 0},
    "3 pairs": {"MOST_PAIRS": 3},
    "8 pairs": {"MOST_PAIRS": 8},
}
"""Constants of `rebelboost.data.level_means` that differ."""


# ---- constructed tables


def _levels(rng: np.random.Generator, n: int, n_levels: int) -> np.ndarray:
    """(n,) levels, some frequent and most rare."""
    share = 1 / np.arange(1, n_levels + 1) ** 0.7
    return rng.choice(n_levels, n, p=share / share.sum())


def _draw(
    rng: np.random.Generator, n: int, many: dict[str, int], effect: float
) -> tuple[pd.DataFrame, Floats]:
    """Categories of many levels, whose levels have effects of this size, beside numbers; and the scores."""
    numbers = rng.normal(size=(n, 4))
    score = numbers[:, 0] + 0.5 * numbers[:, 1] * (numbers[:, 2] > 0)
    columns: dict[str, Any] = {f"number {i}": numbers[:, i] for i in range(4)}
    for name, n_levels in many.items():
        level = _levels(rng, n, n_levels)
        score = score + effect * np.random.default_rng(n_levels).normal(size=n_levels)[level]
        columns[name] = pd.Categorical([f"{name} {i}" for i in level])
    return pd.DataFrame(columns), score


def _classes(
    rng: np.random.Generator, score: Floats, n_classes: int, *, rare: bool = False
) -> np.ndarray:
    if n_classes == 2:
        offset = -4.0 if rare else 0.0
        return (score + offset + rng.logistic(size=len(score)) > 0).astype(int)
    noisy = score + rng.logistic(size=len(score))
    return np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy)


MANY = {"town": 400, "job": 2000}


def _of_classes(
    n_classes: int, many: dict[str, int], effect: float, *, rare: bool = False
) -> Callable[[np.random.Generator], Table]:
    def draw(rng: np.random.Generator) -> Table:
        X, score = _draw(rng, TRAIN + TEST, many, effect)
        return X, _classes(rng, score, n_classes, rare=rare)

    return draw


def _of_numbers(rng: np.random.Generator) -> Table:
    X, score = _draw(rng, TRAIN + TEST, MANY, 1.0)
    return X, score + rng.normal(size=len(score))


def _alone(rng: np.random.Generator) -> Table:
    """One category whose level determines the class, with few rows each."""
    level = rng.integers(600, size=TRAIN + TEST)
    return pd.DataFrame({"town": pd.Categorical(level.astype(str))}), np.random.default_rng(
        1
    ).integers(2, size=600)[level]


def _name(rng: np.random.Generator) -> Table:
    """A category that is unique for each row."""
    X, y = _of_classes(2, {}, 0.0)(rng)
    X["name"] = pd.Categorical([f"n{i}" for i in rng.permutation(len(X))])
    return X, y


CONSTRUCTED: dict[str, Callable[[np.random.Generator], Table]] = {
    "loans": _of_classes(2, MANY, 1.0),
    "noise": _of_classes(2, MANY, 0.0),
    "names": _name,
    "alone": _alone,
    "rare": _of_classes(2, MANY, 1.0, rare=True),
    "few": _of_classes(2, {"state": 12, "region": 30}, 0.7),
    "few noise": _of_classes(2, {"state": 12, "region": 30}, 0.0),
    "3 classes": _of_classes(3, MANY, 1.0),
    "5 classes": _of_classes(5, MANY, 1.0),
    "numbers": _of_numbers,
}
FROM_ARENA = ("Amazon_employee_access", "bank-marketing", "credit-g")


def parts(name: str, seed: int) -> tuple[Table, Table]:
    """What is trained on, and what is held out."""
    if name in FROM_ARENA:
        X, y = arena.table(name, dated=True)
        out = arena.folds_of(name)[0] == seed % arena.FOLDS
    else:
        X, y = CONSTRUCTED[name](np.random.default_rng(seed))
        out = np.arange(len(y)) >= TRAIN
    return (X[~out].reset_index(drop=True), y[~out]), (X[out].reset_index(drop=True), y[out])


# ---- measures


def measure(name: str, variant: str, seed: int) -> tuple[float, float]:
    """Log-loss, or mean squared error over the variance, of held-out rows; and seconds of the processor."""
    (X, y), (others, true) = parts(name, seed)
    is_number = y.dtype.kind == "f"
    if variant == "left out":
        chosen = [
            c
            for c in X
            if not (isinstance(X[c].dtype, pd.CategoricalDtype) and X[c].nunique() > 10)
        ]
        X, others = X[chosen], others[chosen]
        if not chosen:
            X, others = (
                pd.DataFrame({"none": np.zeros(len(X))}),
                pd.DataFrame({"none": np.zeros(len(others))}),
            )
    before = {key: getattr(level_means, key) for key in VARIANTS.get(variant, {})}
    for key, value in VARIANTS.get(variant, {}).items():
        setattr(level_means, key, value)
    began = processor_seconds()
    if variant == "lightgbm":
        found = _lightgbm(X, y, others, is_number=is_number)
    elif is_number:
        found = RebelRegressor(n_jobs=1).fit(X, y).predict(others)
    else:
        found = RebelClassifier(n_jobs=1).fit(X, y).predict_proba(others)
    used = processor_seconds() - began
    for key, value in before.items():
        setattr(level_means, key, value)
    loss = np.mean((found - true) ** 2) / np.var(true) if is_number else log_loss(found, true)
    return float(loss), used


def _lightgbm(X: pd.DataFrame, y: np.ndarray, others: pd.DataFrame, *, is_number: bool) -> Floats:
    import lightgbm

    kind = lightgbm.LGBMRegressor if is_number else lightgbm.LGBMClassifier
    model = kind(n_jobs=1, verbose=-1).fit(X, y)
    return model.predict(others) if is_number else model.predict_proba(others)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", default=",".join((*CONSTRUCTED, *FROM_ARENA)))
    parser.add_argument("--variants", default="present,left out,chosen,lightgbm")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    variants = options.variants.split(",")
    rows, seconds = [], []
    for name in options.tables.split(","):
        found = {v: [measure(name, v, seed) for seed in range(options.seeds)] for v in variants}
        rows.append([name, *(f"{np.mean([loss for loss, _ in found[v]]):.4f}" for v in variants)])
        seconds.append(
            [name, *(f"{np.mean([used for _, used in found[v]]):.2f}" for v in variants)]
        )
        print(*rows[-1], "|", *seconds[-1][1:], flush=True)
    print(measuring.describe_machine(measuring.machine(), 1))
    print("loss\n\n" + measuring.markdown(["", *variants], rows))
    print("seconds\n\n" + measuring.markdown(["", *variants], seconds))


if __name__ == "__main__":
    main()
