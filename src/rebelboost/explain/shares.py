"""What a model says of samples, shared out exactly: H(x) = baseline + features + training rows + others.

Trees. A node says what its leaves say on average, by the weight of the training samples in each. From
the root to a leaf, what is said changes with every test, and the change is the contribution of the
feature that was tested [Saabas 2014]. What the roots say, the mean over the training samples, is baseline.

Similarities. f·a + b: b is baseline. With two points, f·a is the pull of the one that the sample is
nearer to: of the anchor where f > 0, else of the rival. With one point f goes to −1 far away, so that −a
is baseline and (1 + f)·a, which fades with distance, is the pull of the anchor.

Other kinds of terms are not looked into: what they say is credited to their names.
"""

from dataclasses import dataclass

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Ints, Scores, Values
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.queries import Queries
from rebelboost.model.shares import ComparisonVotes, RuleVotes, Shares


@dataclass(frozen=True)
class Contributions:
    """Of n samples. The scores are the sum of all parts, up to rounding."""

    baseline: ByClass
    """What is said of every sample."""
    features: Floats
    """(n, d, K)"""
    rows: Ints
    """(E,) training samples that others are compared with, by their rows in the user's table."""
    pulls: Floats
    """(n, E, K)"""
    others: dict[str, Scores]
    """Name → (n, K)."""
    rules: RuleVotes | None
    comparisons: tuple[ComparisonVotes, ...]

    @property
    def total(self) -> Scores:
        """(n, K): the sum of all parts."""
        parts = self.baseline + self.features.sum(axis=1) + self.pulls.sum(axis=1)
        return parts + sum(self.others.values(), np.zeros_like(parts))


def contributions(ensemble: Ensemble, X: Values, n_threads: int = 1) -> Contributions:
    """Share out what the ensemble says of each sample."""
    queries = Queries(X)
    shares = Shares.none(len(X), X.shape[1], ensemble.n_classes)
    for group in sorted(ensemble.groups, key=lambda group: len(group.terms.example_rows) > 0):
        group.terms.share_out(queries, shares, n_threads)
    named = [rows for rows, _ in shares.pulls]
    rows = np.unique(np.concatenate(named)) if named else np.empty(0, dtype=np.int64)
    pulls = np.zeros((len(X), len(rows), ensemble.n_classes))
    for own, added in shares.pulls:
        pulls[:, np.searchsorted(rows, own)] += added
    return Contributions(
        shares.baseline,
        shares.features,
        rows,
        pulls,
        shares.others,
        shares.rules,
        tuple(shares.comparisons),
    )
