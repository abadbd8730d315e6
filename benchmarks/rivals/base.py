"""What the rivals share: labels, rounds, terms, and deciding by the largest score."""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from rivals.stumps import Cuts, Stump

TINY = 1e-10
"""The least weighted error: a perfect stump would otherwise have an infinite say."""


class Term(NamedTuple):
    stump: Stump
    left: np.ndarray  # (K,)
    right: np.ndarray  # (K,)

    def scores(self, X: np.ndarray) -> np.ndarray:
        return np.where(self.stump.right(X)[:, np.newaxis], self.right, self.left)


class Boosted(ClassifierMixin, BaseEstimator):
    """A method says how its rounds go; each yields the terms that it adds."""

    def __init__(self, n_rounds: int = 200) -> None:
        self.n_rounds = n_rounds

    def rounds(self, cuts: Cuts, y: np.ndarray, n_classes: int) -> Iterator[list[Term]]:
        raise NotImplementedError

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        X = np.ascontiguousarray(X, np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        steps = self.rounds(Cuts(X), codes, len(self.classes_))
        self.rounds_ = [terms for terms, _ in zip(steps, range(self.n_rounds), strict=False)]
        return self

    def staged_scores(self, X: np.ndarray) -> Iterator[np.ndarray]:
        X = np.ascontiguousarray(X, np.float64)
        scores = np.zeros((len(X), len(self.classes_)))
        for terms in self.rounds_:
            for term in terms:
                scores += term.scores(X)
            yield scores.copy()

    def staged_predict(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Decisions after each round."""
        for scores in self.staged_scores(X):
            yield self.classes_[np.argmax(scores, axis=1)]

    def predict(self, X: np.ndarray) -> np.ndarray:
        decided = np.full(len(X), self.classes_[0])
        for decided in self.staged_predict(X):  # noqa: B007  (the last one is wanted)
            pass
        return decided


def sign_term(stump: Stump, right: int, output: np.ndarray) -> Term:
    """h·output, h being `right` = ±1 on the right side."""
    return Term(stump, -right * output, right * output)


def one_hot(y: np.ndarray, n_classes: int) -> np.ndarray:
    return np.eye(n_classes)[y]
