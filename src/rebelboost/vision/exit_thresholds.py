"""Exit thresholds: the partial sums below which windows are left, so that most are left after a few terms.

Each threshold is the lowest partial sum, at its term, of the objects that are kept. A few objects may be lost.
The papers give no algorithm for choosing them: here those are lost without which backgrounds use the fewest
terms.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints

Flags = NDArray[np.bool_]


def choose_exit_thresholds(
    objects: Floats, backgrounds: Floats, threshold: float, miss: float
) -> Floats:
    """Choose a threshold for each term, by which at most the share `miss` of the objects is lost.

    Parameters
    ----------
    objects : array of shape (T, N)
        Partial sums of objects after each term, by terms that were not fitted on them.
    backgrounds : array of shape (T, M)
        Partial sums of background windows.
    threshold : float
        Only objects with a higher last sum are to be kept.
    miss : float
        Share of the objects that may be lost, in [0, 1).

    Returns
    -------
    array of shape (T,)
        A window is left after term t if its sum is lower than the threshold of t.
    """
    n_terms, n = objects.shape
    kept = objects[:, objects[-1] > threshold] if n_terms else objects
    if kept.size == 0:
        return np.full(n_terms, -np.inf)
    room = min(int(miss * n + 1e-9), kept.shape[1] - 1)
    lowest = _Lowest(kept, room + 1)
    lost = np.zeros(kept.shape[1], dtype=bool)
    thresholds = lowest.thresholds(lost)
    used = _terms_used(backgrounds, thresholds, np.arange(n_terms))
    while room > 0:
        best, chosen = 0.0, None
        for group in lowest.groups(lost, room):
            lost[group] = True
            raised = lowest.thresholds(lost)
            lost[group] = False
            then = _terms_used(backgrounds, raised, np.flatnonzero(raised > thresholds))
            gain = np.maximum(used - then, 0).sum() / len(group)
            if gain > best:
                best, chosen = gain, group
        if chosen is None:
            break
        lost[chosen] = True
        room -= len(chosen)
        thresholds = lowest.thresholds(lost)
        used = _terms_used(backgrounds, thresholds, np.arange(n_terms))
    return thresholds


class _Lowest:
    """The objects with the lowest sums at each term."""

    def __init__(self, sums: Floats, n: int) -> None:
        self.places: Ints = np.argsort(sums, axis=1, kind="stable")[:, :n]
        self.sums = np.take_along_axis(sums, self.places, axis=1)

    def thresholds(self, lost: Flags) -> Floats:
        """(T,) lowest sum of an object that is not lost."""
        first = np.argmin(lost[self.places], axis=1)
        return self.sums[np.arange(len(first)), first]

    def groups(self, lost: Flags, most: int) -> Iterator[Ints]:
        """Objects whose loss would raise the threshold of some term, up to `most`; each group once."""
        seen = set()
        for places, sums in zip(self.places, self.sums, strict=True):
            left = ~lost[places]
            lowest = places[left & (sums == sums[left][0])]
            name = lowest.tobytes()
            if len(lowest) <= most and name not in seen:
                seen.add(name)
                yield lowest


def _terms_used(sums: Floats, thresholds: Floats, terms: Ints) -> Ints:
    """(M,) number of terms of windows that are left below the thresholds of these terms only."""
    never = np.ones((1, sums.shape[1]), dtype=bool)
    below = np.concatenate([sums[terms] < thresholds[terms, np.newaxis], never])
    used: Ints = np.append(terms + 1, len(thresholds))[below.argmax(axis=0)]
    return used
