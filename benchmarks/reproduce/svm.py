"""The SVM of LOCAL Fig. 9: one against one, Gaussian kernels, validated on the whole grid of 5 × 6.

For each cell of the grid, libsvm computes the kernel anew, row by row: hours, on mnist. The machine is one
problem for each pair of classes, so that large sets are solved by pairs. The squared distances of a pair's rows
are one matrix product, the kernel is their exponential, and `SVC(kernel="precomputed")` solves each C on it.
The problems are libsvm's own, and so are the votes: a pair whose decision value is positive votes for its first
class, and of classes with equally many votes the first wins. Kernels differ in the last bits.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import data
from pricing.methods import made_by
from reproduce.harness import measure_all
from reproduce.official import DRAWS, LARGE, Drawn, official_split, tested

C_VALUES = (0.01, 0.1, 1.0, 10.0, 100.0)
GAMMAS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Divided by the number of features."""
VALIDATED_SHARE = 1 / 3
CACHE = 1000
"""Megabytes for rows of the kernel."""
BLOCK = 5000
"""New rows whose kernel is computed at a time."""
COMPARED = ("mnist", 6000, 1.0)
"""Set, rows and gamma, with which the two ways are compared."""


def svm(C: float, gamma: float, n_features: int) -> Any:
    return make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma / n_features, cache_size=CACHE))


def validation(name: str, seed: int) -> data.Split:
    """The training rows, a third of them left out to choose a cell by."""
    X, y, *_ = official_split(name, seed)
    return _validation(X, y, seed)


def _validation(X: np.ndarray, y: np.ndarray, seed: int) -> data.Split:
    stratify = y if np.bincount(y).min() > 1 else None
    X, X_valid, y, y_valid = train_test_split(
        X, y, test_size=VALIDATED_SHARE, stratify=stratify, random_state=seed
    )
    return data.Split(X, y, X_valid, y_valid)


# ---- by pairs of classes


def by_pairs(split: data.Split, gamma: float, C_values: Sequence[float]) -> np.ndarray:
    """Predictions of `SVC(C, gamma=gamma)` on the test rows, (n_C, n_test); features as they are."""
    classes, y = np.unique(split.y_train, return_inverse=True)
    rows = [np.flatnonzero(y == k) for k in range(len(classes))]
    X = split.X_train.astype(np.float64)
    pairs = list(combinations(range(len(classes)), 2))
    weights = [np.zeros((len(own), len(C_values), len(pairs))) for own in rows]
    offsets = np.zeros((len(C_values), len(pairs)))
    for p, (i, j) in enumerate(pairs):
        both = np.sort(np.concatenate([rows[i], rows[j]]))
        kernel = gaussian(X[both], X[both], gamma)
        for c, C in enumerate(C_values):
            model = SVC(C=C, kernel="precomputed", cache_size=CACHE).fit(kernel, y[both])
            offsets[c, p] = model.intercept_[0]
            support = both[model.support_]
            for k in (i, j):
                of_class = y[support] == k
                at = np.searchsorted(rows[k], support[of_class])
                weights[k][at, c, p] = model.dual_coef_[0, of_class]
    voted = [
        _votes(_decisions(X_new, [X[own] for own in rows], gamma, weights) + offsets, pairs)
        for X_new in _blocks(split.X_test.astype(np.float64))
    ]
    return classes[np.concatenate(voted, axis=1)]


def gaussian(A: np.ndarray, B: np.ndarray, gamma: float) -> np.ndarray:
    """exp(−γ‖a − b‖²), (n_A, n_B)."""
    kernel = A @ B.T
    kernel *= -2
    kernel += np.einsum("ij,ij->i", A, A)[:, None]
    kernel += np.einsum("ij,ij->i", B, B)
    kernel *= -gamma
    return np.exp(kernel, out=kernel)


def _decisions(
    X_new: np.ndarray, X_of: list[np.ndarray], gamma: float, weights: list[np.ndarray]
) -> np.ndarray:
    """Sums over the support vectors, (n_new, n_C, n_pairs); positive for the second class of a pair."""
    total = np.zeros((len(X_new), *weights[0].shape[1:]))
    for own, weight in zip(X_of, weights, strict=True):
        total += np.tensordot(gaussian(X_new, own, gamma), weight, axes=1)
    return total


def _votes(decisions: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    """The class with most votes, (n_C, n_new)."""
    n_new, n_C, _ = decisions.shape
    votes = np.zeros((n_C, n_new, 1 + max(j for _, j in pairs)), np.int64)
    for p, (i, j) in enumerate(pairs):
        first = decisions[:, :, p].T < 0
        votes[:, :, i] += first
        votes[:, :, j] += ~first
    return votes.argmax(axis=2)


def _blocks(X: np.ndarray) -> Iterator[np.ndarray]:
    return (X[begin : begin + BLOCK] for begin in range(0, len(X), BLOCK))


# ---- units


def svm_cell(name: str, seed: int, C: float, gamma: float) -> Drawn:
    """One cell of the grid, on the rows that are left out for it."""
    split = validation(name, seed)
    model = svm(C, gamma, split.X_train.shape[1])
    return tested(lambda: model.fit(split.X_train, split.y_train), split)


def svm_chosen(name: str, seed: int, C: float, gamma: float) -> Drawn:
    """The cell with the least error, fitted to all training rows."""
    split = official_split(name, seed)
    model = svm(C, gamma, split.X_train.shape[1])
    return tested(lambda: model.fit(split.X_train, split.y_train), split)


def svm_column(name: str, seed: int, gamma: float) -> list[Drawn]:
    """The cells of one gamma, by pairs; each has an equal share of the seconds."""
    return _tested_by_pairs(validation(name, seed), gamma, C_VALUES)


def svm_chosen_by_pairs(name: str, seed: int, C: float, gamma: float) -> Drawn:
    return _tested_by_pairs(official_split(name, seed), gamma, [C])[0]


def _tested_by_pairs(split: data.Split, gamma: float, C_values: Sequence[float]) -> list[Drawn]:
    began = time.process_time()
    wrong = by_pairs(_scaled(split), gamma / split.X_train.shape[1], C_values) != split.y_test
    share = (time.process_time() - began) / len(C_values)
    return [(100 * float(np.mean(each)), share) for each in wrong]


def _scaled(split: data.Split) -> data.Split:
    scaler = StandardScaler().fit(split.X_train)
    X_train, X_test = map(scaler.transform, (split.X_train, split.X_test))
    return split._replace(X_train=X_train, X_test=X_test)


def svm_compared(name: str, n_rows: int, gamma: float) -> dict[str, float]:
    """Scikit-learn's own fits and those by pairs: seconds for all C, and predictions that differ."""
    X, y, *_ = official_split(name)
    some = np.random.default_rng(0).permutation(len(y))[:n_rows]
    split = _scaled(_validation(X[some], y[some], 0))
    gamma /= X.shape[1]
    began = time.process_time()
    pairs = by_pairs(split, gamma, C_VALUES)
    between = time.process_time()
    models = [SVC(C=C, gamma=gamma, cache_size=CACHE) for C in C_VALUES]
    plain = [model.fit(split.X_train, split.y_train).predict(split.X_test) for model in models]
    ended = time.process_time()
    return {
        "pairs": between - began,
        "plain": ended - between,
        "different": int(np.sum(pairs != plain)),
        "predictions": pairs.size,
    }


# ---- the whole grid

GRID = [(C, gamma) for C in C_VALUES for gamma in GAMMAS]
Cell = tuple[float, float]
Case = tuple[str, int]


def svm_draws(sets: Iterable[str]) -> dict[str, list[Drawn]]:
    """Set → draws; seconds include the grid."""
    cases = [(name, seed) for name in sets for seed in range(DRAWS.get(name, 1))]
    grids = _grids(cases)
    best = {case: min(GRID, key=lambda cell: cells[cell][0]) for case, cells in grids.items()}
    units = [(*case, *cell) for case, cell in best.items()]
    chosen = _measured(svm_chosen, [unit for unit in units if unit[0] not in LARGE])
    chosen |= _measured(svm_chosen_by_pairs, [unit for unit in units if unit[0] in LARGE])
    found: dict[str, list[Drawn]] = {}
    for case in cases:
        error, seconds = chosen[(*case, *best[case])]
        seconds += sum(spent for _, spent in grids[case].values())
        found.setdefault(case[0], []).append((error, seconds))
    return found


def comparison() -> str:
    """A sentence on the grid of large sets, from a comparison with scikit-learn's own fits."""
    found = _measured(svm_compared, [COMPARED])[COMPARED]
    return (
        f"On {', '.join(LARGE)}, the SVM is solved pair by pair of its classes, with kernels from matrix "
        f"products: the same machine in less time. With {COMPARED[1]:,} rows, {found['different']:,} of "
        f"{found['predictions']:,} predictions differ from those of scikit-learn's own fits, which take "
        f"{found['plain'] / found['pairs']:.1f} times as long."
    )


def _grids(cases: Iterable[Case]) -> dict[Case, dict[Cell, Drawn]]:
    small = [case for case in cases if case[0] not in LARGE]
    large = [case for case in cases if case[0] in LARGE]
    cells = _measured(svm_cell, [(*case, *cell) for case in small for cell in GRID])
    columns = _measured(svm_column, [(*case, gamma) for case in large for gamma in GAMMAS])
    found = {case: {cell: cells[(*case, *cell)] for cell in GRID} for case in small}
    for case in large:
        of_gamma = {
            gamma: dict(zip(C_VALUES, columns[(*case, gamma)], strict=True)) for gamma in GAMMAS
        }
        found[case] = {(C, gamma): of_gamma[gamma][C] for C, gamma in GRID}
    return found


def _measured(function: Callable[..., Any], units: list[tuple[Any, ...]]) -> dict[Any, Any]:
    return measure_all(function, units, made_by("scikit-learn"))
