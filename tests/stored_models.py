"""Small models of every kind that a file can hold, and samples to ask them about."""

import json
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from rebelboost import (
    KernelSimilarity,
    RebelClassifier,
    RebelRegressor,
    Similarity,
    SingleClassWarning,
    Stump,
    Taxonomy,
    Tree,
)
from rebelboost.files import compression, packing

FOLDER = Path(__file__).with_name("models")
N_ASKED = 12


def numbers(n=60, d=3, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    y = np.r_[0, 1, 2, rng.integers(3, size=n - 3)]
    X = np.round(rng.normal(size=(3, d))[y] + 0.8 * rng.normal(size=(n, d)), 2)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def coded(seed=0):
    """Numbers, some of them missing, and a column of codes."""
    X, y = numbers(seed=seed, missing=0.1)
    X[:, 1] = np.random.default_rng(seed).integers(5, size=len(X)) + (y == 2)
    return X, y


def squared_distances():
    X, y = numbers(n=30)
    return ((X[:, np.newaxis] - X) ** 2).sum(axis=2), y


def table():
    X, y = numbers(missing=0.1)
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(X[:, :2], columns=["Länge", "b"])
    frame["colour"] = np.where(rng.random(len(y)) < 0.1, None, np.array(["red", "blue", "grün"])[y])
    frame["sold"] = rng.random(len(y)) < 0.5
    frame.index = [f"house {i}" for i in range(len(y))]
    return frame, np.array(["bad", "fair", "good"])[y]


def two_classes(n=70):
    X, y = table()
    again = np.random.default_rng(8).integers(len(y), size=n)
    return X.iloc[again].reset_index(drop=True), np.where(y[again] == "bad", "bad", "fine")


def regression(n=60):
    X, y = numbers(n, missing=0.1)
    return X, np.nan_to_num(X[:, 0]) + y


def towns():
    """Numbers, and a column of more categories than are split into subsets."""
    X, y = numbers(n=150, d=2)
    named = 8 * y + np.random.default_rng(7).integers(20, size=len(y))
    return pd.DataFrame(X, columns=["a", "b"]).assign(town=[f"town {i}" for i in named]), y


def priced():
    X, y = numbers(d=2)
    return pd.DataFrame(X, columns=["a", "b"]).assign(c=np.round(np.exp(X[:, 0]), 2)), y


def _to_sample_costs(X, y):
    y = (y == 0).astype(int)
    prices = np.column_stack([np.round(X[:, 0]) + 5, np.ones(len(y))])
    costs = np.where(np.arange(2) == y[:, np.newaxis], 0.0, prices)
    return RebelClassifier(Tree(2), n_rounds=4, cross_fit=2).fit(X, y, costs=costs)


def _cascaded(X, y):
    model = RebelClassifier(Tree(1), n_rounds=7, cross_fit=2).fit(X, y)
    model.cascade(agreement=0.9)
    return model


def _two_kinds(X, y):
    model = RebelClassifier("stump", n_rounds=4, warm_start=True).fit(X, y)
    model.set_params(learner=Similarity(scale="standard", anchors=2), n_rounds=10)
    return model.fit(X, y)


def _named_rows(X, y):
    learner = Similarity(scale="whitened", categorical="from_dtype")
    model = RebelClassifier(learner, n_rounds=6, reject_cost=0.4, reject_label="ask").fit(X, y)
    model = model.with_row_labels({r: X.index[r] for r in range(0, len(X), 9)})
    model.metadata_ = {"target": "state", "evaluation": {"accuracy": 0.5, "bins": [1, 2, None]}}
    return model


def fitted(estimator):
    return lambda X, y: clone(estimator).fit(X, y)


def _one_class(X, y):
    with pytest.warns(SingleClassWarning):
        return RebelClassifier().fit(X, y)


def _of_other_priors(X, y):
    return RebelClassifier("stump", n_rounds=4).fit(X, y).with_priors([0.1, 0.2, 0.7])


COSTS = {(0, 1): 5, (2, 0): 3.0}
TAXONOMY = Taxonomy({"good": "fine/good", "fair": "fine/fair", "bad": "bad"})

MAKERS = {
    "tree": (table, fitted(RebelClassifier(Tree(depth=2), n_rounds=4, cross_fit=None))),
    "tree_codes": (coded, fitted(RebelClassifier(Tree(3, categorical=[1]), n_rounds=3))),
    "tree_signs": (
        numbers,
        fitted(RebelClassifier(Tree(depth=2, outputs="tree"), n_rounds=4, decision="argmax")),
    ),
    "stump": (table, fitted(RebelClassifier("stump", n_rounds=5))),
    "stump_exact": (
        lambda: numbers(n=400),
        fitted(RebelClassifier(Stump(binning="exact"), n_rounds=5)),
    ),
    "stump_split": (
        coded,
        fitted(RebelClassifier(Stump(categorical=[1], categories="split"), n_rounds=5)),
    ),
    "similarity": (numbers, fitted(RebelClassifier(Similarity(scale="standard"), n_rounds=8))),
    "similarity_codes": (
        coded,
        fitted(RebelClassifier(Similarity(scale="standard", categorical=[1]), n_rounds=8)),
    ),
    "similarity_table": (table, _named_rows),
    "similarity_one_point": (
        numbers,
        fitted(RebelClassifier(Similarity(scale="none", offset=False, modes="one"), n_rounds=8)),
    ),
    "similarity_sign": (
        numbers,
        fitted(
            RebelClassifier(Similarity(scale="none", response="sign", offset=False), n_rounds=8)
        ),
    ),
    "metric": (numbers, fitted(RebelClassifier(Similarity(metric="cityblock"), n_rounds=8))),
    "precomputed": (
        squared_distances,
        fitted(RebelClassifier(Similarity(metric="precomputed"), n_rounds=8)),
    ),
    "cross_fit": (
        lambda: numbers(n=150),
        fitted(RebelClassifier(Tree(depth=2), n_rounds=4, costs=COSTS, cross_fit=2)),
    ),
    "cross_fit_similarity": (
        lambda: numbers(n=150),
        fitted(RebelClassifier(Similarity(scale="whitened"), n_rounds=6, costs=COSTS, cross_fit=2)),
    ),
    "blend": (lambda: numbers(n=40), fitted(RebelClassifier(n_rounds=2, cross_fit=2))),
    "taxonomy": (
        table,
        fitted(RebelClassifier("stump", n_rounds=3, costs=TAXONOMY, cross_fit=None)),
    ),
    "two_kinds": (numbers, _two_kinds),
    "smooth": (
        lambda: numbers(n=40),
        fitted(RebelClassifier("smooth", cross_fit=2, random_state=1)),
    ),
    "kernel": (
        lambda: numbers(n=20),
        fitted(
            RebelClassifier(KernelSimilarity("standard", examples=8), cross_fit=2, random_state=1)
        ),
    ),
    "early_stopping": (
        numbers,
        fitted(
            RebelClassifier(
                Tree(depth=2), n_rounds=30, early_stopping=True, n_rounds_no_change=3, shrinkage=1
            )
        ),
    ),
    "logistic": (
        numbers,
        fitted(RebelClassifier(Tree(depth=1), n_rounds=4, loss="logistic", random_state=3)),
    ),
    "one_class": (lambda: (numbers()[0], np.full(60, "all")), _one_class),
    "regressor": (regression, fitted(RebelRegressor(Tree(depth=2), n_rounds=5))),
    "regressor_cross_fit": (
        lambda: regression(n=80),
        fitted(RebelRegressor(Tree(depth=2), n_rounds=3, cross_fit=2, random_state=1)),
    ),
    "sample_costs": (numbers, _to_sample_costs),
    "cascade": (lambda: numbers(n=100), _cascaded),
    "packed": (table, fitted(RebelClassifier(Tree(4), n_rounds=3, cross_fit=2, random_state=1))),
    "compressed": (
        lambda: numbers(n=40),
        fitted(RebelClassifier(n_rounds=2, cross_fit=2, random_state=1)),
    ),
    "levels": (towns, fitted(RebelClassifier(Tree(2), n_rounds=4, cross_fit=None))),
    "similarity_exact": (numbers, fitted(RebelClassifier.papers("local", n_rounds=6))),
    "similarity_exact_sign": (numbers, fitted(RebelClassifier.papers("local_sign", n_rounds=6))),
    "priors": (numbers, _of_other_priors),
    "counts": (two_classes, fitted(RebelClassifier("stump", n_rounds=2, cross_fit=2))),
    "monotone": (
        two_classes,
        fitted(
            RebelClassifier(
                Tree(2),
                n_rounds=4,
                cross_fit=4,
                monotone={"Länge": 1},
                reject_cost=0.1,
                reject_budget=0.3,
            )
        ),
    ),
    "cost_columns": (priced, fitted(RebelClassifier(Tree(2), costs={(0, 1): "c"}, n_rounds=4))),
}
VERSION = 1
"""Of the format that is written today. Files of each version are kept for ever."""


def make(kind):
    """A fitted model, and samples to ask it about."""
    samples, fit = MAKERS[kind]
    X, y = samples()
    return fit(X, y), X


def answers(model, X):
    """All that a model says of samples, by name."""
    said = {"predict": model.predict(X)}
    for name in ("decision_function", "predict_proba", "expected_cost"):
        if hasattr(model, name):
            said[name] = getattr(model, name)(X)
    if getattr(model.model_, "intervals", None) is not None:
        said["predict_interval"] = model.predict_interval(X, 0.8)
    if getattr(model, "cascade_", None) is not None:
        said["early"] = model.cascade_.predict_proba(X)
        said["terms used"] = model.cascade_.terms_used(X)
    return said


def assert_same_answers(model, other, X):
    ours, theirs = answers(model, X), answers(other, X)
    assert ours.keys() == theirs.keys()
    for name, said in ours.items():
        np.testing.assert_array_equal(said, theirs[name], err_msg=name, strict=True)


@contextmanager
def all_packed():
    """Pack small files too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "LEAST_SAVED", 0)
        patch.setattr(packing, "LEAST_BYTES", 0)
        yield


@contextmanager
def all_compressed():
    """Pack small files too, and compress all arrays that become smaller."""
    with all_packed(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression, "LEAST_BYTES", 0)
        patch.setattr(compression, "LEAST_SHARE", 0.0)
        yield


# ---- files that are kept

FORMS = {"packed": all_packed, "compressed": all_compressed}
"""Kinds that only large files would have otherwise."""


def scores(model, X):
    return np.asarray(getattr(model, "decision_function", model.predict)(X))


def keep(kind):
    """Write a model as it is saved today, with what it says of some samples."""
    model, X = make(kind)
    with FORMS.get(kind, nullcontext)():
        model.save(FOLDER / f"v{VERSION}-{kind}.safetensors")
    asked = X[:N_ASKED]
    rows = json.loads(pd.DataFrame(asked).to_json(orient="values", double_precision=15))
    kept = {
        "columns": list(getattr(X, "columns", [])),
        "samples": rows,
        "scores": scores(model, asked).tolist(),
        "decisions": model.predict(asked).tolist(),
    }
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    (FOLDER / f"v{VERSION}-{kind}.json").write_text(text + "\n", encoding="utf-8")


def kept_samples(kept):
    if not kept["columns"]:
        return np.array(kept["samples"], dtype=np.float64)
    frame = pd.DataFrame(kept["samples"], columns=kept["columns"])
    return frame.astype(dict.fromkeys(kept["columns"][:2], float))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in sys.argv[1:] or MAKERS:
        keep(each)
