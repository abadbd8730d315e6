"""A function as a simple majority vote of others, or the sample weights that rule it out [ADA, Ex. 3-6]."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.base.arrays import BySample, Floats, Ints
from rebelboost.theory.weak_learnability import best_vote

LEAST_EDGE = 1e-9
"""An edge below is rounding error of the linear program."""
MOST_FUNCTIONS = 1_000_000
"""Largest vote that is looked for."""


@dataclass(frozen=True)
class MajorityVote:
    """Whether a simple majority vote of functions gives the labels of all samples."""

    edge: float
    """γ: for any sample weights, some function has an error of at most ½ − γ."""
    distribution: BySample
    """(N,) sample weights under which no function has an error below ½ − γ."""
    chosen: Ints
    """(k,) functions of the vote, which may occur several times; none if γ is 0."""

    @property
    def fewest(self) -> float:
        """A vote of fewer functions cannot give the labels: k ≥ 1/(2γ) [ADA, Ex. 3-6 (a)]."""
        return 1 / (2 * self.edge) if len(self.chosen) else math.inf


def majority_vote(responses: ArrayLike, labels: ArrayLike) -> MajorityVote:
    """Write labels as a simple majority vote of functions, or find the hardest sample weights.

    With an edge γ > 0 there is a vote of k functions for every k with (1 − 4γ²)^{k/2} < 1/N, and so for
    k > ln N/(2γ²): boosting with the weight of a function of error ½ − γ in every round [ADA, Ex. 3-5]
    finds it. The linear program knows the largest γ. Without an edge no vote gives the labels.

    Parameters
    ----------
    responses : array-like of shape (N, J)
        Responses ±1 of each function.
    labels : array-like of shape (N,)
        Labels ±1.

    Returns
    -------
    MajorityVote
    """
    g, y = np.asarray(responses, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if g.ndim != 2 or 0 in g.shape or y.shape != g.shape[:1]:
        raise ValueError(
            f"responses have shape {g.shape}, and labels {y.shape}: give a row of responses, and a label, "
            "for each sample"
        )
    if not (np.isin(g, (-1, 1)).all() and np.isin(y, (-1, 1)).all()):
        raise ValueError("responses and labels must be −1 or 1")
    agreement = y[:, np.newaxis] * g
    margin, _, distribution = best_vote(agreement)
    edge = min(margin / 2, 0.5)
    if edge < LEAST_EDGE:
        return MajorityVote(max(0.0, edge), distribution, np.empty(0, dtype=np.int64))
    most = 1 + math.log(len(y)) / (2 * edge**2)
    if most > MOST_FUNCTIONS:
        raise ValueError(
            f"the edge is only {edge:.2g}: a vote may need {most:.2g} functions; give more functions"
        )
    return MajorityVote(edge, distribution, _boosted(agreement, edge))


def _boosted(agreement: Floats, edge: float) -> Ints:
    """AdaBoost with one weight for all rounds, until no sample is wrong [ADA, Ex. 3-5]."""
    weight = 0.5 * math.log((0.5 + edge) / max(0.5 - edge, 1e-12))
    votes = np.zeros(len(agreement))
    chosen: list[int] = []
    while not chosen or votes.min() <= 0:
        lead = weight * votes
        D = np.exp(lead.min() - lead)
        chosen.append(int(np.argmax(D @ agreement)))
        votes += agreement[:, chosen[-1]]
    return np.array(chosen, dtype=np.int64)
