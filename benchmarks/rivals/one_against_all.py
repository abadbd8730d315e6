"""One AdaBoost for each class against the rest; the largest score decides [Freund & Schapire]."""

from collections.abc import Iterator

import numpy as np

from rivals.base import TINY, Boosted, Term, one_hot, sign_term
from rivals.stumps import Cuts, best_sign_stump


class OneAgainstAll(Boosted):
    """`n_rounds` is for each class: a round adds K stumps."""

    def rounds(self, cuts: Cuts, y: np.ndarray, n_classes: int) -> Iterator[list[Term]]:
        labels = 2 * one_hot(y, n_classes) - 1
        weights = np.full(labels.shape, 1 / len(y))
        outputs = np.eye(n_classes)
        while True:
            terms = []
            for k in range(n_classes):
                signed = weights[:, k] * labels[:, k]
                stump, right = best_sign_stump(cuts, signed)
                h = np.where(stump.right(cuts.X), right, -right)
                error = np.clip(weights[h != labels[:, k], k].sum(), TINY, 1 - TINY)
                alpha = 0.5 * np.log((1 - error) / error)
                terms.append(sign_term(stump, right, alpha * outputs[k]))
                weights[:, k] *= np.exp(-alpha * labels[:, k] * h)
                weights[:, k] /= weights[:, k].sum()
            yield terms
