"""Test by linear programming whether a vote of stumps can separate two classes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.base.arrays import BySample, Floats, Ints
from rebelboost.base.text import percent
from rebelboost.theory.bounds import rounds_to_no_error

MOST_ENTRIES = 50_000_000
"""Maximum size of the linear program's matrix, samples × stumps."""


@dataclass(frozen=True)
class WeakLearnability:
    """Whether a vote of stumps can separate two classes, and by which margin."""

    margin: float
    """θ: the largest margin on all samples that a vote with weights summing to 1 achieves."""
    features: Ints
    """(J,) features of the stumps in the vote; −1 is the constant."""
    thresholds: Floats
    """(J,) their thresholds."""
    signs: Floats
    """(J,) response of each stump for x > threshold."""
    votes: Floats
    """(J,) weight of each stump; they sum to 1."""
    distribution: BySample
    """(N,) sample weights under which no stump has an edge above θ/2."""

    @property
    def edge(self) -> float:
        """γ = θ/2: if γ > 0, then for any sample weights some stump has an error of at most ½ − γ."""
        return self.margin / 2

    def __str__(self) -> str:
        if self.margin <= 1e-9:
            return (
                "Not weakly learnable by stumps: for some sample weights, no stump is better than "
                "chance. Deeper trees or similarities may be"
            )
        n_rounds = rounds_to_no_error(len(self.distribution), self.edge)
        return (
            f"Weakly learnable by stumps: for any sample weights, some stump has a weighted error of at most "
            f"{percent(0.5 - self.edge)} (edge {self.edge:.4g}, margin {self.margin:.4g}). "
            f"AdaBoost with the best stumps has zero training error after at most {n_rounds:,} rounds"
        )


def weak_learnability(X: ArrayLike, y: ArrayLike) -> WeakLearnability:
    """Solve the linear program max θ: y_i Σ_j a_j g_j(x_i) ≥ θ, a ≥ 0, Σa = 1 [ADA 3.2], over all stumps.

    Missing values count as below every threshold.

    Parameters
    ----------
    X : array-like of shape (N, d)
        Numeric samples.
    y : array-like of shape (N,)
        Labels of two classes.

    Returns
    -------
    WeakLearnability
        The margin, the vote that achieves it, and the hardest sample weights.
    """
    values = np.asarray(X, dtype=np.float64)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if values.ndim != 2 or len(classes) != 2 or len(codes) != len(values):
        raise ValueError(
            f"X has shape {values.shape}, and y has {len(codes)} labels of {len(classes)} classes: give "
            "a table, and a label of two classes for each row"
        )
    features, thresholds = _all_stumps(values)
    if len(values) * len(features) > MOST_ENTRIES:
        raise ValueError(
            f"{len(values):,} samples × {len(features):,} stumps are too many for the linear program: "
            "give fewer samples"
        )
    said = np.where(values[:, features] > thresholds, 1.0, -1.0)
    said[:, features < 0] = 1.0
    agree = said * np.where(codes == 1, 1.0, -1.0)[:, np.newaxis]
    columns = np.hstack([agree, -agree])  # each stump, and its opposite
    margin, votes, distribution = best_vote(columns)
    voting = np.flatnonzero(votes > 0)
    stump = voting % len(features)
    return WeakLearnability(
        margin,
        features[stump],
        thresholds[stump],
        np.where(voting < len(features), 1.0, -1.0),
        votes[voting],
        distribution,
    )


def best_vote(agreement: Floats) -> tuple[float, Floats, BySample]:
    """Solve max θ: Σ_j a_j y_i g_j(x_i) ≥ θ, a ≥ 0, Σa = 1 [ADA 3.2], given y_i g_j(x_i) as (N, J).

    Returns θ, the votes a, and sample weights under which no g_j has an edge above θ/2.
    """
    from scipy.optimize import linprog

    n_samples, n_votes = agreement.shape
    found = linprog(
        np.append(np.zeros(n_votes), -1.0),
        A_ub=np.hstack([-agreement, np.ones((n_samples, 1))]),
        b_ub=np.zeros(n_samples),
        A_eq=np.append(np.ones(n_votes), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * n_votes, (None, None)],
        method="highs",
    )
    return float(found.x[-1]), found.x[:-1], np.abs(found.ineqlin.marginals)


def _all_stumps(values: Floats) -> tuple[Ints, Floats]:
    """(J,) feature and threshold of each stump; the constant comes first."""
    features, thresholds = [np.array([-1])], [np.array([-np.inf])]
    for f, column in enumerate(values.T):
        levels = np.unique(column[~np.isnan(column)])
        if np.isnan(column).any() and len(levels):
            levels = np.append(levels[0] - 1, levels)  # missing values against all others
        middles = levels[:-1] / 2 + levels[1:] / 2
        features.append(np.full(len(middles), f))
        thresholds.append(middles)
    return np.concatenate(features), np.concatenate(thresholds)
