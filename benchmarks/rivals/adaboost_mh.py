"""AdaBoost.MH, Schapire & Singer 1999, Fig. 3, with their real-valued stumps (Sec. 4.1).

A weight for every pair of a sample and a class; a side s of a stump says for class k
c_sk = ½ ln(W⁺_sk / W⁻_sk), and the stump with the least Z = 2 Σ_sk √(W⁺_sk W⁻_sk) is taken.
"""

from collections.abc import Iterator

import numpy as np

from rivals.base import Boosted, Term, one_hot
from rivals.stumps import Cuts


class AdaBoostMH(Boosted):
    def rounds(self, cuts: Cuts, y: np.ndarray, n_classes: int) -> Iterator[list[Term]]:
        labels = 2 * one_hot(y, n_classes) - 1
        weights = np.full(labels.shape, 1 / labels.size)
        smooth = 1 / labels.size  # their Sec. 4.2
        while True:
            plus, minus = weights * (labels > 0), weights * (labels < 0)
            left = cuts.left_sums(plus), cuts.left_sums(minus)
            right = plus.sum(axis=0) - left[0], minus.sum(axis=0) - left[1]
            z = sum(np.sqrt(np.maximum(p * m, 0)).sum(axis=1) for p, m in (left, right))
            best = int(np.argmin(z))
            said = [
                0.5 * np.log((p[best] + smooth) / (np.maximum(m[best], 0) + smooth))
                for p, m in (left, right)
            ]
            term = Term(cuts[best], *said)
            weights *= np.exp(-labels * term.scores(cuts.X))
            weights /= weights.sum()
            yield [term]
