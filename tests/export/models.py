"""Models of every kind, small ones, by name."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from rebelboost import (
    KernelSimilarity,
    RebelClassifier,
    RebelRegressor,
    Similarity,
    SmoothSimilarity,
    Stump,
    Tree,
)
from rebelboost.model.trees import Trees

COSTS = [[0, 1, 2], [3, 0, 1], [1, 1, 0]]


@cache
def wine(missing=0.0):
    X, y = load_wine(return_X_y=True)
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < missing] = np.nan
    return X, y


@cache
def categories():
    """A table of numbers and categories, with missing values."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.choice(["x", "y", "z", "é"], n),
            "c": rng.exponential(size=n),
            "d": rng.random(n) < 0.5,
        }
    )
    y = np.where((frame.a > 0) & (frame.b != "x"), "u", np.where(frame.c > 1, "v", "w"))
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame.loc[rng.random(n) < 0.1, "b"] = None
    return frame, y


@cache
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def costs_of(n, kind, seed=0):
    """Costs at random; or with zeros; or of two groups of classes with almost no costs between them."""
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0.1, 2, (n, n))
    if kind == "zeros":
        costs[rng.random((n, n)) < 0.5] = 0
    if kind == "groups":
        side = np.arange(n) < n // 2
        costs = np.where(side[:, np.newaxis] == side, costs, 1e-7)
    np.fill_diagonal(costs, 0)
    costs[0, 1] += 1
    return costs


def _single(learner, data, n_rounds=20, **options):
    return lambda: RebelClassifier(learner, n_rounds=n_rounds, cross_fit=None, **options).fit(
        *data()
    )


def _mixed_costs(data=digits, **options):
    return _single(Tree(depth=3), data, 15, training="costs", **options)


def _amounts():
    frame, y = categories()
    frame = frame.assign(c=frame.c + 0.1)
    return RebelClassifier("tree", n_rounds=20, costs={("u", "w"): "c"}).fit(frame, y)


def _learned_costs(factor):
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.stack([1 + X[:, 0] * (y == 1), 1 + (1.0 if factor else X[:, 1]) * (y == 0)], axis=1)
    rows[np.arange(len(y)), y] = 0
    return RebelClassifier("tree", n_rounds=30, random_state=0).fit(X, y, costs=rows)


def _regression(learner="auto"):
    X, y = wine(0.05)
    return RebelRegressor(learner, n_rounds=30, random_state=0).fit(X, wine()[0][:, 0] + y)


def _one_class():
    X, _ = wine()
    return RebelClassifier("stump", cross_fit=None).fit(X, np.zeros(len(X)))


def _many_levels():
    rng = np.random.default_rng(0)
    codes = rng.integers(400, size=(3000, 2))
    y = rng.random(400)[codes[:, 0]] > rng.random(3000)
    fitted = RebelClassifier(Tree(categorical=[0, 1]), n_rounds=20, cross_fit=None).fit(codes, y)
    assert any(trees.level_means for _, trees in fitted.ensemble_.of_kind(Trees))
    return fitted


def _pairs_of_levels():
    rng = np.random.default_rng(0)
    codes = rng.integers(30, size=(3000, 3))
    y = rng.random((30, 30))[codes[:, 0], codes[:, 1]] > rng.random(3000)
    learner = Tree(categorical=[0, 1, 2])
    fitted = RebelClassifier(learner, n_rounds=20, cross_fit=2).fit(codes, y)
    assert any(trees.crosses for _, trees in fitted.ensemble_.of_kind(Trees))
    return fitted


def _other_priors(data, costs=None):
    fitted = RebelClassifier("tree", n_rounds=10, costs=costs, random_state=0).fit(*data())
    return fitted.with_priors(np.arange(1.0, 1 + len(fitted.classes_)))


def _other_costs():
    return RebelClassifier("tree", n_rounds=20, random_state=0).fit(*wine()).with_costs(COSTS)


MODELS = {
    "the default blend with costs": lambda: RebelClassifier(random_state=0, costs=COSTS).fit(*wine()),
    "the default blend of categories": lambda: RebelClassifier(random_state=0).fit(*categories()),
    "averaged trees": lambda: RebelClassifier("tree", n_rounds=30, random_state=0).fit(*categories()),
    "stumps of two classes": _single(Stump(), lambda: load_breast_cancer(return_X_y=True), 50),
    "signed trees": _single(Tree(depth=3, outputs="tree"), wine),
    "trees of ten classes": _single(Tree(depth=4), digits),
    "an argmax that abstains": lambda: RebelClassifier(
        "tree", n_rounds=20, decision="argmax", reject_cost=0.2, reject_label="?"
    ).fit(*categories()),
    "argmax": _single(Tree(depth=3), wine, decision="argmax"),
    "abstaining by cost": _single(Tree(depth=3), wine, costs=COSTS, reject_cost=0.3, reject_label=-1),
    "other costs": _other_costs,
    "means of levels": _many_levels,
    "means of pairs of levels": _pairs_of_levels,
    "other priors": lambda: _other_priors(digits),
    "other priors with costs": lambda: _other_priors(wine, COSTS),
    "costs in a column": _amounts,
    "costs learned by cell": lambda: _learned_costs(factor=False),
    "costs learned by row": lambda: _learned_costs(factor=True),
    "cost training of ten classes": _mixed_costs(costs=costs_of(10, "random")),
    "cost training with zeros": _mixed_costs(costs=costs_of(10, "zeros")),
    "cost training in groups": _mixed_costs(costs=costs_of(10, "groups")),
    "rebel subcosts": _mixed_costs(costs=costs_of(10, "random"), subcosts="rebel"),
    "rebel subcosts with zeros": _mixed_costs(costs=costs_of(10, "zeros"), subcosts="rebel"),
    "rebel subcosts of two classes": _single(
        Tree(depth=2), lambda: load_breast_cancer(return_X_y=True), costs=[[0, 1], [5, 0]],
        subcosts="rebel", training="costs",
    ),
    "the logistic loss": _single(Tree(depth=3), wine, loss="logistic"),
    "the squared loss": _single(Tree(depth=3), wine, loss="squared", costs=COSTS),
    "similarities": _single("similarity", lambda: wine(0.1), 40),
    "signs of similarities": _single(Similarity(response="sign"), categories),
    "smooth similarities": lambda: RebelClassifier(SmoothSimilarity(), random_state=0).fit(*categories()),
    "a kernel machine": lambda: RebelClassifier(KernelSimilarity(), random_state=0).fit(*categories()),
    "one class": _one_class,
    "a regression": _regression,
    "a regression by trees": lambda: _regression("tree"),
} | {
    f"{scale} distances, {modes} points": _single(Similarity(scale=scale, modes=modes), lambda: wine(0.05))
    for scale in ("none", "standard", "whitened")
    for modes in ("both", "one")
}  # fmt: skip


@cache
def model(name):
    """A fitted model of the table."""
    return MODELS[name]().model_
