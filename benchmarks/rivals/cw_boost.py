"""CW-Boost: class-wise weak learners, Shen & Hao 2011 and Lin, Shen, van den Hengel & Suter 2012.

Minimises Σ w + (C/p) Σ_i Σ_{k≠y_i} exp(−(F_{y_i}(x_i) − F_k(x_i))), w ≥ 0, over p = N (K−1) pairs.
A round finds a stump for every class, then gives each its weight, one after the other, in closed
form. Earlier weights stay as they are (the stage-wise setting of Lin et al.).
"""

from collections.abc import Iterator

import numpy as np

from rivals.base import Boosted, Term, sign_term
from rivals.stumps import Cuts, best_sign_stump


class CWBoost(Boosted):
    """A round adds K stumps, one a class."""

    def __init__(self, n_rounds: int = 200, C: float = 1e6) -> None:
        super().__init__(n_rounds)
        self.C = C

    def rounds(self, cuts: Cuts, y: np.ndarray, n_classes: int) -> Iterator[list[Term]]:
        rows = np.arange(len(y))
        pairs = np.ones((len(y), n_classes)) / (len(y) * (n_classes - 1))
        pairs[rows, y] = 0  # λ of the pair (i, k), k ≠ y_i
        outputs = np.eye(n_classes)
        while True:
            found = [best_sign_stump(cuts, pull(pairs, y, k)) for k in range(n_classes)]
            terms = []
            for k, (stump, right) in enumerate(found):
                h = np.where(stump.right(cuts.X), right, -right)
                pulls = pull(pairs, y, k) * h
                good = pulls[pulls > 0].sum()
                bad = -pulls[pulls < 0].sum()
                w = closed_form(self.C * good, self.C * bad)
                of_k = y == k
                pairs[of_k] *= np.exp(-w * h[of_k])[:, np.newaxis]
                pairs[~of_k, k] *= np.exp(w * h[~of_k])
                terms.append(sign_term(stump, right, w * outputs[k]))
            yield terms


def pull(pairs: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """(N,) by how much the loss falls if F_k rises: all pairs of k's own samples, less k's of others."""
    return np.where(y == k, pairs.sum(axis=1), -pairs[:, k])


def closed_form(good: float, bad: float) -> float:
    """The w ≥ 0 that minimises w + good·e^{−w} + bad·e^{w}."""
    if good <= 1 + bad:  # the slope at 0 is not negative
        return 0.0
    # 2·good / (1 + √(1 + 4·good·bad)) is the root of bad·z² + z − good, also for bad = 0.
    return float(np.log(2 * good / (1 + np.sqrt(1 + 4 * good * bad))))
