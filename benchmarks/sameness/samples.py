"""Small, varied samples by name: bundled and generated ones, arrays and data frames."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn import datasets

COLOURS = np.array(["red", "blue", "grün", "grey"])


class Samples(NamedTuple):
    X: Any
    y: Any
    asked: Any  # samples that no fit sees


@cache
def samples(name: str) -> Samples:
    return MAKERS[name]()


def head(X: Any, n: int) -> Any:
    """The first rows of any table."""
    return X.slice(0, n) if isinstance(X, pa.Table) else X[:n]


def parted(X: Any, y: Any, n: int, seed: int = 0) -> Samples:
    """`n` rows at random to train on, and up to 60 others to ask about."""
    order = np.random.default_rng(seed).permutation(len(y))
    return Samples(X[order[:n]], y[order[:n]], X[order[n : n + 60]])


def bundled(load: Callable[..., Any], n: int) -> Samples:
    X, y = load(return_X_y=True)
    return parted(X, y, n)


def blobs(n: int = 110, d: int = 4, n_classes: int = 3, seed: int = 0) -> Samples:
    """Noisy, overlapping classes; values rounded, so that some are equal."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)]
    X = np.round(rng.normal(size=(n_classes, d))[y] + 0.9 * rng.normal(size=(n, d)), 2)
    return parted(X, y, n * 3 // 4, seed)


def holed(share: float = 0.12) -> Samples:
    """Missing values in training, and more of them among the samples asked about."""
    X, y, asked = blobs(seed=1)
    rng = np.random.default_rng(1)
    X, asked = X.copy(), asked.copy()
    X[rng.random(X.shape) < share] = np.nan
    asked[rng.random(asked.shape) < 2 * share] = np.nan
    return Samples(X, y, asked)


def coded() -> Samples:
    """A column of codes that hints at the classes, one of which training never sees."""
    X, y, asked = holed()
    rng = np.random.default_rng(2)
    X[:, 1] = rng.integers(6, size=len(X)) + (y == 2)
    asked[:, 1] = rng.integers(8, size=len(asked))
    return Samples(X, y, asked)


def ties() -> Samples:
    """A grid of few values: many samples lie at one point, some with different classes."""
    rng = np.random.default_rng(3)
    X = rng.integers(-2, 3, size=(160, 3)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=160) > 0).astype(int) + (X[:, 0] > 1)
    return parted(X, y, 120)


def rare() -> Samples:
    """Four classes of very different sizes, and a constant feature."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2, 3], [90, 30, 12, 8])
    X = rng.normal(size=(140, 5)) + 1.2 * rng.normal(size=(4, 5))[y]
    X[:, 2] = 7.0
    return parted(X, y, 110)


def distances() -> Samples:
    X, y, asked = blobs(n=60)
    return Samples(_squared(X, X), y, _squared(asked, X))


def _squared(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return ((X[:, np.newaxis] - Z) ** 2).sum(axis=2)


def labelled(*names: Any) -> Samples:
    """The blobs with classes by other names."""
    X, y, asked = blobs()
    return Samples(X, np.array(names)[y], asked)


def floats32() -> Samples:
    X, y, asked = blobs(seed=5)
    return Samples(X.astype(np.float32), y, asked.astype(np.float32))


def table(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, text, categories, truth values and whole numbers; some are missing."""
    rng = np.random.default_rng(seed)
    y = np.r_[0, 1, 2, rng.integers(3, size=n - 3)]
    size = np.round(y + rng.normal(size=n), 2)
    size[rng.random(n) < 0.1] = np.nan
    text = np.where(rng.random(n) < 0.6, COLOURS[y], COLOURS[rng.integers(3 + seed % 2, size=n)])
    frame = pd.DataFrame({"Länge": size, "count": rng.integers(9, size=n)})
    frame["colour"] = np.where(rng.random(n) < 0.1, None, text)
    frame["grade"] = pd.Categorical(rng.choice(["a", "b", "c"], size=n), ["c", "a", "b"])
    frame["sold"] = rng.random(n) < 0.3 + 0.2 * y
    return frame, np.array(["bad", "fair", "good"])[y]


def framed(convert: Callable[[pd.DataFrame], Any]) -> Samples:
    """A table of some library; among the rows asked about is a colour that training lacks."""
    (X, y), (asked, _) = table(90, seed=0), table(40, seed=1)
    return Samples(convert(X), y, convert(asked))


def named_rows(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis([f"house {i}" for i in range(len(frame))])


def numeric_columns(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[["Länge", "count"]].astype(np.float32)


def friedman() -> Samples:
    X, y = datasets.make_friedman1(160, n_features=7, noise=0.5, random_state=0)
    return parted(X, y, 110)


def numbers_of_a_table() -> Samples:
    """A number to predict from a data frame."""
    X, y, asked = samples("pandas")
    return Samples(X, X["count"] * (y == "good") + X["Länge"].fillna(3.0), asked)


def blobs_of_truths() -> Samples:
    X, y, asked = samples("two classes")
    return Samples(X, y == 1, asked)


def labelled_objects() -> Samples:
    X, y, asked = blobs()
    return Samples(X, pd.Series(np.array(["a", "b", "c"], dtype=object)[y]), asked)


def as_list() -> Samples:
    X, y, asked = blobs()
    return Samples(X.tolist(), y.tolist(), asked.tolist())


MAKERS: dict[str, Callable[[], Samples]] = {
    "iris": lambda: bundled(datasets.load_iris, 100),
    "wine": lambda: bundled(datasets.load_wine, 120),
    "cancer": lambda: bundled(datasets.load_breast_cancer, 180),
    "digits": lambda: bundled(datasets.load_digits, 220),
    "blobs": blobs,
    "two classes": lambda: blobs(n_classes=2, seed=6),
    "six classes": lambda: blobs(n=200, d=6, n_classes=6, seed=7),
    "one feature": lambda: blobs(d=1, seed=8),
    "few": lambda: blobs(n=24, d=2, seed=9),
    "many": lambda: blobs(n=900, d=5, seed=10),
    "thousands": lambda: blobs(n=3600, d=3, seed=11),
    "holed": holed,
    "coded": coded,
    "ties": ties,
    "rare": rare,
    "distances": distances,
    "float32": floats32,
    "names": lambda: labelled("low", "mid", "high"),
    "negative": lambda: labelled(-7, 3, 1000),
    "floats": lambda: labelled(2.0, 1.0, -3.0),
    "truths": blobs_of_truths,
    "objects": labelled_objects,
    "listed": as_list,
    "one class": lambda: labelled("all", "all", "all"),
    "pandas": lambda: framed(lambda frame: frame),
    "named rows": lambda: framed(named_rows),
    "polars": lambda: framed(pl.from_pandas),
    "pyarrow": lambda: framed(lambda frame: pa.Table.from_pandas(frame, preserve_index=False)),
    "float32 frame": lambda: framed(numeric_columns),
    "diabetes": lambda: bundled(datasets.load_diabetes, 160),
    "friedman": friedman,
    "numbers of a table": numbers_of_a_table,
}
