"""AOSO-LogitBoost, Sun, Reid & Zhou 2012: trees whose nodes look at one pair of classes each.

Softmax loss. A node takes the class r that most wants to rise and the class s with which the
second-order gain (g_r − g_s)² / h_rs is largest; the root's pair judges the stumps, each side then
takes a pair of its own, and moves it by the Newton step ±(g_r − g_s) / h_rs, shrunk.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import softmax

from rivals.base import Boosted, Term, one_hot
from rivals.stumps import Cuts

LARGEST_STEP = 4.0
"""As LogitBoost has it: where p is nearly 0 or 1, Newton's step is not to be trusted."""


class AOSOLogitBoost(Boosted):
    """Its authors shrink by 0.1 and take thousands of trees; 200 stumps get nowhere so."""

    def __init__(self, n_rounds: int = 200, shrinkage: float = 1.0) -> None:
        super().__init__(n_rounds)
        self.shrinkage = shrinkage

    def rounds(self, cuts: Cuts, y: np.ndarray, n_classes: int) -> Iterator[list[Term]]:
        labels = one_hot(y, n_classes)
        scores = np.zeros(labels.shape)
        while True:
            p = softmax(scores, axis=1)
            r, s = best_pair(labels - p, p)
            slope = (labels - p)[:, r] - (labels - p)[:, s]
            curve = curvature(p, r, s)
            left = cuts.left_sums(slope), cuts.left_sums(curve)
            right = slope.sum() - left[0], curve.sum() - left[1]
            best = int(np.argmax(gain(*left) + gain(*right)))
            stump = cuts[best]
            is_right = stump.right(cuts.X)
            steps = [self._step((labels - p)[side], p[side]) for side in (~is_right, is_right)]
            term = Term(stump, *steps)
            scores += term.scores(cuts.X)
            yield [term]

    def _step(self, residual: np.ndarray, p: np.ndarray) -> np.ndarray:
        r, s = best_pair(residual, p)
        slope = (residual[:, r] - residual[:, s]).sum()
        step = min(slope / max(curvature(p, r, s).sum(), 1e-300), LARGEST_STEP)
        output = np.zeros(p.shape[1])
        output[r], output[s] = self.shrinkage * step, -self.shrinkage * step
        return output


def best_pair(residual: np.ndarray, p: np.ndarray) -> tuple[int, int]:
    g = residual.sum(axis=0)
    r = int(np.argmax(g))
    gains = [gain(g[r] - g[s], curvature(p, r, s).sum()) for s in range(p.shape[1])]
    gains[r] = -1.0
    return r, int(np.argmax(gains))


def curvature(p: np.ndarray, r: int, s: int) -> np.ndarray:
    """(N,) of the loss along e_r − e_s."""
    return p[:, r] + p[:, s] - (p[:, r] - p[:, s]) ** 2


def gain(slope: np.ndarray, curve: np.ndarray) -> np.ndarray:
    return slope**2 / np.maximum(curve, 1e-12)
