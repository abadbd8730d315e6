"""Benchmark data by name, from the folder `REBELBOOST_DATA`, else `../shared/data`."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

# Where each set is published, for who has to fetch it.
SOURCES = {
    "pendigits": "OpenML 32 (UCI Pen-Based Recognition of Handwritten Digits)",
    "optdigits": "OpenML 28 (UCI Optical Recognition of Handwritten Digits)",
    "landsat": "OpenML 182, satimage (UCI Statlog Landsat Satellite)",
    "segment": "OpenML 36 (UCI Image Segmentation)",
    "letter": "OpenML 6 (UCI Letter Recognition)",
    "isolet": "OpenML 300 (UCI ISOLET)",
    "mnist": "OpenML 554, mnist_784",
    "cbcl_faces": "MIT CBCL Face Database #1",
}
TEST_SHARE = 1 / 3


class MissingDataError(FileNotFoundError):
    """A set is not in the data folder; the message says what to put there."""


class Split(NamedTuple):
    X_train: np.ndarray  # (N, d) float32
    y_train: np.ndarray  # (N,) codes 0 … K−1
    X_test: np.ndarray
    y_test: np.ndarray


def folder() -> Path:
    beside_repository = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("REBELBOOST_DATA", beside_repository))


def path(name: str) -> Path:
    """The file of a set; raises MissingDataError where it is absent."""
    file = folder() / f"{name}.npz"
    if not file.is_file():
        source = SOURCES.get(name, f"a set that the benchmarks do not know; try {list(SOURCES)}")
        raise MissingDataError(
            f"{file} is absent: put {source} there, as an npz of X_train, y_train, X_test, y_test "
            "(or X, y), or name the folder that has it in REBELBOOST_DATA"
        )
    return file


def load(name: str) -> Split:
    """The set's standard split, else a seeded stratified one; samples in float32 for all alike."""
    with np.load(path(name)) as arrays:
        if "X_train" in arrays:
            return _split(*(arrays[part] for part in Split._fields))
        X, y = arrays["X"], arrays["y"]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=TEST_SHARE, stratify=y, random_state=0
    )
    return _split(X_train, y_train, X_test, y_test)


def _split(
    X_train: np.ndarray, y_train: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> Split:
    return Split(
        np.ascontiguousarray(X_train, np.float32),
        y_train.astype(np.int64),
        np.ascontiguousarray(X_test, np.float32),
        y_test.astype(np.int64),
    )
