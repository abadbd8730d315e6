"""A library at its defaults on a split of a table whose target is a number; see `regression.py`."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_diabetes,
    load_linnerud,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from sklearn.model_selection import train_test_split

import compare
import data
from compare import columns

N_TEST = 5000
MOST_ROWS = 2000
TEST_SHARE = 0.25
FIRST_SEED = 100
"""Our settings for trees were once chosen on other draws, of Friedman's functions among others."""

Parts = tuple[Any, Any, np.ndarray, np.ndarray]
"""Training and test tables, training and test targets."""


def friedman(make: Callable[..., Any], n_train: int, noise: float) -> Callable[[int], Parts]:
    """Samples of Friedman's functions; the test targets have no noise."""

    def parts(seed: int) -> Parts:
        X, y = make(n_train, noise=noise, random_state=seed)
        X_test, y_test = make(N_TEST, noise=0.0, random_state=10_000 + seed)
        return X, X_test, y, y_test

    return parts


def bundled(load: Callable[..., Any], target: int | None = None) -> Callable[[int], Parts]:
    """A set of scikit-learn; with several targets, one of them."""

    def parts(seed: int) -> Parts:
        X, y = load(return_X_y=True)
        y = y if target is None else y[:, target]
        return tuple(train_test_split(X, y, test_size=TEST_SHARE, random_state=seed))

    return parts


def table(name: str, target: str | None = None) -> Callable[[int], Parts]:
    """A table of the data folder: one of its numeric columns, or the grade that its classes are."""

    def parts(seed: int) -> Parts:
        with np.load(data.path(name)) as arrays:
            X = arrays["X" if "X" in arrays else "X_train"].astype(np.float64)
            kinds = arrays["categorical"] if "categorical" in arrays else np.zeros(X.shape[1])
            if target is None:
                y = arrays["classes"][arrays["y"]].astype(np.float64)
            else:
                place = arrays["feature_names"].tolist().index(target)
                y = X[:, place]
                X, kinds = np.delete(X, place, axis=1), np.delete(kinds, place)
        known = np.flatnonzero(~np.isnan(y))
        some = np.random.default_rng(seed).permutation(known)[:MOST_ROWS]
        frame = columns.frame(X[some], kinds)
        return tuple(train_test_split(frame, y[some], test_size=TEST_SHARE, random_state=seed))

    return parts


CHOOSING: dict[str, Callable[[int], Parts]] = {
    "friedman 1, 200 rows": friedman(make_friedman1, 200, 1.0),
    "friedman 1, 2000 rows": friedman(make_friedman1, 2000, 1.0),
    "friedman 2, 200 rows": friedman(make_friedman2, 200, 125.0),
    "friedman 3, 1000 rows": friedman(make_friedman3, 1000, 0.1),
    "abalone: rings": table("abalone"),
    "adult: age": table("adult", "age"),
    "cardiotocography: ASTV": table("cardiotocography", "ASTV"),
    "cmc: children": table("cmc", "Number_of_children_ever_born"),
    "dry bean: roundness": table("dry_bean", "roundness"),
    "glass: refraction": table("glass", "RI"),
    "heart cleveland: thalach": table("heart_cleveland", "thalach"),
    "mice protein: BDNF": table("mice_protein", "BDNF_N"),
    "segment: hue": table("segment", "HUE-MEAN"),
    "vehicle: hollows ratio": table("vehicle", "HOLLOWS RATIO"),
}
"""Sets on which candidates and settings were chosen."""

REPORTING: dict[str, Callable[[int], Parts]] = {
    "friedman 1, 500 rows, noise 3": friedman(make_friedman1, 500, 3.0),
    "friedman 2, 1000 rows": friedman(make_friedman2, 1000, 125.0),
    "friedman 3, 200 rows": friedman(make_friedman3, 200, 0.1),
    "diabetes": bundled(load_diabetes),
    "linnerud: waist": bundled(load_linnerud, 1),
    "autos: price": table("autos", "price"),
    "avila: weight": table("avila", "weight"),
    "covtype: elevation": table("covtype_15120", "Elevation"),
    "credit a: age": table("credit_a", "A2"),
    "eucalyptus: height": table("eucalyptus", "Ht"),
    "german credit: amount": table("german_credit", "amount"),
    "landsat: middle band 4": table("landsat", "px5_band4"),
    "pima: body mass": table("diabetes", "mass"),
    "robot navigation: S12": table("robot_navigation", "S12"),
    "seeds: groove length": table("seeds", "groove_length"),
    "steel plates: luminosity": table("steel_plates", "Luminosity_Index"),
    "wine red: quality": table("wine_quality_red"),
    "yeast: mcg": table("yeast", "mcg"),
}
"""Sets that were looked at once the defaults were fixed."""

SETS = CHOOSING | REPORTING


def measure(set_name: str, seed: int, rival: str, made_by: str) -> dict[str, float]:
    """Test RMSE, and the processor's seconds for a fit and its predictions."""
    del made_by  # part of the unit's name, so that other code or versions are measured anew
    warnings.simplefilter("ignore")
    X_train, X_test, y_train, y_test = SETS[set_name](FIRST_SEED + seed)
    regressor = compare.load(rival).make_regressor(1)
    start = time.process_time()
    regressor.fit(X_train, y_train)
    fitted = time.process_time()
    distance = np.ravel(regressor.predict(X_test)) - y_test
    return {
        "rmse": float(np.sqrt(np.mean(distance**2))),
        "spread": float(np.std(y_test)),
        "fit": fitted - start,
        "predict": time.process_time() - fitted,
    }
