"""AdaBoost.ECC, Guruswami & Sahai 1999: a colouring of the classes in every round.

Pairs (i, l) of a sample and a wrong class have weights. A colouring μ(k) = ±1, half of the classes
each, drawn at random, makes the round a binary problem: sample i weighs as much as its pairs with
classes of the other colour. Its stump h votes g = α where h = 1 and −β where h = −1, for all classes
by their colour.
"""

from collections.abc import Iterator

import numpy as np

from rivals.base import TINY, Boosted, Term
from rivals.stumps import Cuts, best_sign_stump


class AdaBoostECC(Boosted):
    def __init__(self, n_rounds: int = 200, random_state: int = 0) -> None:
        super().__init__(n_rounds)
        self.random_state = random_state

    def rounds(self, cuts: Cuts, y: np.ndarray, n_classes: int) -> Iterator[list[Term]]:
        random = np.random.default_rng(self.random_state)
        pairs = np.ones((len(y), n_classes))
        pairs[np.arange(len(y)), y] = 0
        while True:
            colours = np.ones(n_classes)
            colours[random.permutation(n_classes)[: n_classes // 2]] = -1
            weights = (pairs * (colours != colours[y, np.newaxis])).sum(axis=1)
            weights /= weights.sum()
            stump, _ = best_sign_stump(cuts, weights * colours[y])
            is_right = stump.right(cuts.X)
            sides = [vote(weights[side], colours[y[side]]) for side in (~is_right, is_right)]
            term = Term(stump, sides[0] * colours, sides[1] * colours)
            scores = term.scores(cuts.X)
            pairs *= np.exp((scores - scores[np.arange(len(y)), y][:, np.newaxis]) / 2)
            pairs /= pairs.sum()
            yield [term]


def vote(weights: np.ndarray, colours: np.ndarray) -> float:
    """½ ln of the weight of the colour 1 over that of −1: α, or −β, of a side of the stump."""
    for_plus, for_minus = weights[colours > 0].sum(), weights[colours < 0].sum()
    return float(0.5 * np.log((for_plus + TINY) / (for_minus + TINY)))
