"""Costs that differ from sample to sample, part (e): four tables, and what decides on them.

Four tables of two classes in which the cost of a mistake depends on a column: credits with their amounts
(german_credit), clients with their hours (adult), patients with their age (sick), and synthetic payments. "Own
costs" means that a method knows each new sample's costs when it decides; "without" means that it has seen
costs of training samples only, so that it learns them, takes their means by class, or trains on them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier

import data
from pricing.methods import SMALL, made_by
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
    model = RebelClassifier(n_jobs=1).fit(train.X, train.y, costs=train.rows())
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


def resampled(train: Priced, test: Priced) -> np.ndarray:
    """The package's way for two classes: samples are kept in proportion to what they cost.

    Its own `predict` fails in 0.1.2.13 (it asks for `nsamples`); what it would do is done here.
    """
    from costsensitive import CostProportionateClassifier
    from lightgbm import LGBMClassifier

    X, new = (np.nan_to_num(part.X, nan=-1.0) for part in (train, test))
    reduction = CostProportionateClassifier(LGBMClassifier(**SMALL), njobs=1, random_state=0)
    reduction.fit(X, train.y, train.rows().sum(axis=1))
    votes = [each.predict_proba(new)[:, 1] for each in reduction.classifiers]
    return (np.mean(votes, axis=0) >= 0.5).astype(int)


def regressed(train: Priced, test: Priced) -> np.ndarray:
    """Cost-sensitive one-against-all: a regression of what each decision costs, and the lowest of them.

    It is `costsensitive`'s RegressionOneVsRest, which refuses two classes.
    """
    from lightgbm import LGBMRegressor

    X, new = (np.nan_to_num(part.X, nan=-1.0) for part in (train, test))
    costs = [
        LGBMRegressor(n_jobs=1, verbosity=-1, random_state=0).fit(X, paid).predict(new)
        for paid in train.rows().T
    ]
    return np.argmin(costs, axis=0)


class Method(NamedTuple):
    decide: Callable[[Priced, Priced], np.ndarray]
    package: str
    knows: bool = False
    """Whether it knows the costs of the samples that it decides about."""


OWN, WITHOUT = "rebelboost, own costs", "rebelboost, without"
METHODS = {
    OWN: Method(lambda a, b: ours(a, b, own=True), "rebelboost", knows=True),
    WITHOUT: Method(lambda a, b: ours(a, b, own=False), "rebelboost"),
    "forest, own costs": Method(
        lambda a, b: calibrated(forest, a, b, own=True), "scikit-learn", knows=True
    ),
    "LightGBM, own costs": Method(
        lambda a, b: calibrated(lightgbm, a, b, own=True), "lightgbm", knows=True
    ),
    "forest, class means": Method(lambda a, b: calibrated(forest, a, b, own=False), "scikit-learn"),
    "LightGBM, class means": Method(lambda a, b: calibrated(lightgbm, a, b, own=False), "lightgbm"),
    "forest, weighted by cost": Method(lambda a, b: weighted(forest, a, b), "scikit-learn"),
    "LightGBM, weighted by cost": Method(lambda a, b: weighted(lightgbm, a, b), "lightgbm"),
    "costsensitive: CostProportionateClassifier": Method(resampled, "costsensitive"),
    "LightGBM, regression of costs (one against all)": Method(regressed, "lightgbm"),
    "always 0": Method(lambda _, b: np.zeros(len(b.y), dtype=int), "numpy"),
    "always 1": Method(lambda _, b: np.ones(len(b.y), dtype=int), "numpy"),
}


def version(title: str) -> str:
    return made_by(METHODS[title].package)
