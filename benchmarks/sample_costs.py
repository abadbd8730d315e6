"""Costs that differ from sample to sample: mean cost on new samples, beside calibrated rivals.

Four tables of two classes in which the cost of a mistake depends on a column: credits with their amounts
(german_credit), clients with their hours (adult), patients with their age (sick), and synthetic payments. Each
method is trained on 2/3 of at most 3,000 samples; three splits. "Own costs" means that a method knows each new
sample's costs when it decides; "without" means that it has seen costs of training samples only.

    python benchmarks/sample_costs.py [--seeds 3] [--only german_credit]
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import data
from measuring import markdown
from rebelboost import RebelClassifier

MOST_ROWS = 3000


class Priced(NamedTuple):
    """A table, and what each mistake costs: (N,) for deciding 0 and for deciding 1."""

    X: np.ndarray
    y: np.ndarray
    missed: np.ndarray
    """Cost of deciding 0 if the class is 1."""
    alarm: np.ndarray
    """Cost of deciding 1 if the class is 0."""

    def cube(self) -> np.ndarray:
        costs = np.zeros((len(self.y), 2, 2))
        costs[:, 1, 0], costs[:, 0, 1] = self.missed, self.alarm
        return costs

    def rows(self) -> np.ndarray:
        return self.cube()[np.arange(len(self.y)), self.y]

    def take(self, chosen: np.ndarray) -> "Priced":
        return Priced(*(column[chosen] for column in self))


def german_credit() -> Priced:
    X, y, names = read("german_credit")
    amount = X[:, names.index("amount")] / 1000
    return Priced(X, y, 0.75 * amount, 0.1 * amount * X[:, names.index("duration")] / 12)


def adult() -> Priced:
    X, y, names = read("adult")
    hours = X[:, names.index("hours-per-week") if "hours-per-week" in names else -2]
    return Priced(X, y, np.nan_to_num(hours, nan=40) / 10, np.ones(len(y)))


def sick() -> Priced:
    X, y, names = read("sick")
    age = np.nan_to_num(X[:, names.index("age")], nan=50)
    return Priced(X, y, 1 + np.clip(age, 0, 100) / 5, np.ones(len(y)))


def payments() -> Priced:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(MOST_ROWS, 6))
    amount = np.exp(rng.normal(size=len(X)))
    chance = 1 / (1 + np.exp(-(1.2 * X[:, 0] + X[:, 1] * X[:, 2] - 1)))
    y = (rng.random(len(X)) < chance).astype(int)
    return Priced(np.column_stack([X, amount]), y, amount, np.ones(len(y)))


def read(name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """All rows of a set; class 1 is the rarer one."""
    with np.load(data.path(name), allow_pickle=True) as arrays:
        parts = ["X"] if "X" in arrays else ["X_train", "X_test"]
        X = np.concatenate([arrays[part] for part in parts]).astype(np.float64)
        y = np.concatenate([arrays[part.replace("X", "y")] for part in parts])
        names = [str(column) for column in arrays["feature_names"]]
    return X, y if y.mean() < 0.5 else 1 - y, names


TABLES = {make.__name__: make for make in (german_credit, adult, sick, payments)}

# ---- methods: (training, test) → decisions


def decided(posterior: np.ndarray, cube: np.ndarray) -> np.ndarray:
    return np.einsum("ny,nyk->nk", posterior, cube).argmin(axis=1)


def ours(train: Priced, test: Priced, *, own: bool) -> np.ndarray:
    model = RebelClassifier().fit(train.X, train.y, costs=train.rows())
    return model.predict(test.X, costs=test.cube() if own else None)


def means(train: Priced, test: Priced) -> np.ndarray:
    """(N, 2, 2) the mean costs of the training samples of each class."""
    costs = np.zeros((2, 2))
    costs[1, 0], costs[0, 1] = train.missed[train.y == 1].mean(), train.alarm[train.y == 0].mean()
    return np.tile(costs, (len(test.y), 1, 1))


def forest() -> CalibratedClassifierCV:
    return CalibratedClassifierCV(RandomForestClassifier(random_state=0), method="sigmoid", cv=5)


def lightgbm() -> CalibratedClassifierCV:
    from lightgbm import LGBMClassifier

    boosted = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    return CalibratedClassifierCV(boosted, method="sigmoid", cv=5)


def calibrated(make: Callable, train: Priced, test: Priced, *, own: bool) -> np.ndarray:
    X, new = (np.nan_to_num(part.X, nan=-1.0) for part in (train, test))
    posterior = make().fit(X, train.y).predict_proba(new)
    return decided(posterior, test.cube() if own else means(train, test))


def weighted(make: Callable, train: Priced, test: Priced) -> np.ndarray:
    """Cost-proportionate weighting (Zadrozny, Langford and Abe 2003): a sample weighs what it costs."""
    X, new = (np.nan_to_num(part.X, nan=-1.0) for part in (train, test))
    return make().fit(X, train.y, sample_weight=train.rows().sum(axis=1)).predict(new)


METHODS: dict[str, Callable[[Priced, Priced], np.ndarray]] = {
    "rebelboost, own costs": lambda a, b: ours(a, b, own=True),
    "rebelboost, without": lambda a, b: ours(a, b, own=False),
    "forest, own costs": lambda a, b: calibrated(forest, a, b, own=True),
    "LightGBM, own costs": lambda a, b: calibrated(lightgbm, a, b, own=True),
    "forest, class means": lambda a, b: calibrated(forest, a, b, own=False),
    "LightGBM, class means": lambda a, b: calibrated(lightgbm, a, b, own=False),
    "forest, weighted": lambda a, b: weighted(forest, a, b),
    "LightGBM, weighted": lambda a, b: weighted(lightgbm, a, b),
    "always 0": lambda _, b: np.zeros(len(b.y), dtype=int),
    "always 1": lambda _, b: np.ones(len(b.y), dtype=int),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", choices=TABLES)
    options = parser.parse_args()
    chosen = [options.only] if options.only else list(TABLES)
    paid = {name: [] for name in METHODS}
    seconds = dict.fromkeys(METHODS, 0.0)
    for name in chosen:
        whole = TABLES[name]()
        costs = {method: [] for method in METHODS}
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            some = rng.permutation(len(whole.y))[:MOST_ROWS]
            train, test = train_test_split(some, test_size=1 / 3, random_state=seed)
            for method, decide in METHODS.items():
                began = time.process_time()
                found = decide(whole.take(train), whole.take(test))
                seconds[method] += time.process_time() - began
                new = whole.take(test)
                costs[method].append(new.rows()[np.arange(len(found)), found].mean())
        for method, each in costs.items():
            paid[method].append(float(np.mean(each)))
    lines = [
        [method, *(f"{cost:.4f}" for cost in paid[method]), f"{seconds[method]:.1f}"]
        for method in METHODS
    ]
    print(markdown(["mean cost", *chosen, "seconds"], lines))


if __name__ == "__main__":
    main()
