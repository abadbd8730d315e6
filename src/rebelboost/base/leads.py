"""How far scores are ahead."""

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Scores


def lead_of(scores: Scores) -> BySample:
    """(N,) the second score minus the first with two classes, else the highest minus the second highest."""
    if scores.shape[1] == 2:
        return scores[:, 1] - scores[:, 0]
    ends: Floats = np.partition(scores, -2, axis=1)
    return ends[:, -1] - ends[:, -2]


def by_class_or_difference(scores: Scores) -> Floats:
    """With two classes, the second score minus the first; otherwise the scores."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
