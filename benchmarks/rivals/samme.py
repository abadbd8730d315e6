"""SAMME, Zhu, Zou, Rosset & Hastie 2009: stumps that name a class on either side."""

from collections.abc import Iterator

import numpy as np

from rivals.base import TINY, Boosted, Term, one_hot
from rivals.stumps import Cuts


class SAMME(Boosted):
    """Stops where no stump errs less than guessing, 1 − 1/K."""

    def rounds(self, cuts: Cuts, y: np.ndarray, n_classes: int) -> Iterator[list[Term]]:
        labels = one_hot(y, n_classes)
        weights = np.full(len(y), 1 / len(y))
        outputs = np.eye(n_classes)
        while True:
            by_class = weights[:, np.newaxis] * labels
            left = cuts.left_sums(by_class)
            right = by_class.sum(axis=0) - left
            best = int(np.argmax(left.max(axis=1) + right.max(axis=1)))
            named = int(np.argmax(left[best])), int(np.argmax(right[best]))
            stump = cuts[best]
            wrong = np.where(stump.right(cuts.X), named[1], named[0]) != y
            error = max(weights[wrong].sum(), TINY)
            if error >= 1 - 1 / n_classes:
                return
            alpha = np.log((1 - error) / error) + np.log(n_classes - 1)
            yield [Term(stump, alpha * outputs[named[0]], alpha * outputs[named[1]])]
            weights *= np.exp(alpha * wrong)
            weights /= weights.sum()
