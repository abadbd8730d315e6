"""Members of the average that held-out samples do not miss are dropped: models get smaller, and answer faster.

A candidate that is good alone may add nothing to the others. Members are dropped one after the other, the least
missed first, as long as the held-out log-loss of the rest hardly exceeds that of all.
"""

import math
from collections.abc import Sequence

import numpy as np

from rebelboost.base.arrays import Scores
from rebelboost.selection.runner import FEW, Runner

LEAST_EVIDENCE = 100.0
"""Minimum of what held-out samples must tell (`HeldOutScorer.evidence`) for members to be dropped."""
HARDLY = 0.03
"""Tolerated rise of the log-loss, times √N: a small part of its standard error."""


def needed(members: Sequence[Runner]) -> list[Runner]:
    """Set the weights of members that are not missed to 0; return the others, whose weights sum to 1.

    With few samples, or hardly any mistakes, held-out samples do not tell who will be missed: all stay.
    """
    judged, kept = members[0].judged, list(members)
    factor, log_loss = judged.best_factor(_average(kept))
    n_samples = judged.n_effective
    if n_samples < FEW or judged.evidence(log_loss) < LEAST_EVIDENCE:
        return kept
    most = judged.log_loss(factor * _average(kept)) + HARDLY / math.sqrt(n_samples)
    while len(kept) > 1:
        rests = [[each for each in kept if each is not left] for left in kept]
        log_losses = [judged.log_loss(factor * _average(rest)) for rest in rests]
        best = int(np.argmin(log_losses))
        if log_losses[best] > most:
            break
        kept = rests[best]
    total = sum(each.share for each in kept)
    for each in members:
        each.share = each.share / total if each in kept else 0.0
    return kept


def _average(members: Sequence[Runner]) -> Scores:
    """Held-out scores of some members, averaged with their weights."""
    total = sum(each.share for each in members)
    shares = [each.share / total * each.found.factor for each in members]
    scores: Scores = np.sum(
        [share * each.left_out for share, each in zip(shares, members, strict=True)], axis=0
    )
    return scores
