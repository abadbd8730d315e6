"""Exact decomposition of scores: H(x) = baseline + features + training rows + others.

Trees. The value of a node is the average output of its leaves, weighted by their training samples. On the
path from the root to a leaf, the value changes at every split, and the change is the contribution of the
split's feature [Saabas 2014]. The values of the roots, which are means over the training samples, are the
baseline.

Similarities. f·a + b: b is part of the baseline. With two points, f·a is the contribution of the point nearer
to the sample: the anchor where f > 0, else the rival. With one point, f goes to −1 far away, so −a is part
of the baseline and (1 + f)·a, which fades with distance, is the contribution of the anchor.

Smooth functions. The scores at the mean of the training samples are part of the baseline. What a feature adds
is the integral of the function's derivative along the line from there to the sample [Sundararajan et al. 2017].

Kernel machines. The mean scores of their training rows are part of the baseline. What a row adds to them is
(f − f̄)·a, where f̄ is the row's mean similarity to all of them.

Other kinds of terms are not decomposed: their output is credited to their name.
"""

from dataclasses import dataclass

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Ints, Scores, Values
from rebelboost.base.hashing import distinct
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.shares import ComparisonVotes, RowVotes, RuleVotes, Shares
from rebelboost.model.terms import Queries


@dataclass(frozen=True)
class Contributions:
    """Decomposition of the scores of n samples. The parts sum to the scores, up to rounding."""

    baseline: ByClass
    """(K,) part that is the same for every sample."""
    features: Floats
    """(n, d, K) contributions of features."""
    rows: Ints
    """(E,) training rows that samples are compared with, as row numbers in the user's table."""
    pulls: Floats
    """(n, E, K) contributions of those rows."""
    others: dict[str, Scores]
    """Name → (n, K) contributions of other terms."""
    near: tuple[tuple[Ints, Floats], ...]
    """(E,) training rows that smooth functions compare with, and (n, E) similarities to them, −1 to 1."""
    functions: dict[str, Scores]
    """Name → (n, K) what smooth functions add in all. The features' contributions contain it."""
    rules: RuleVotes | None
    """Outputs of the trees by leaf, or None without trees."""
    comparisons: tuple[ComparisonVotes | RowVotes, ...]
    """Outputs of the comparisons."""

    @property
    def total(self) -> Scores:
        """(n, K): the sum of all parts."""
        parts = self.baseline + self.features.sum(axis=1) + self.pulls.sum(axis=1)
        return parts + sum(self.others.values(), np.zeros_like(parts))


def contributions(ensemble: Ensemble, X: Values, n_threads: int = 1) -> Contributions:
    """Decompose the scores of each sample."""
    queries = Queries(X)
    shares = Shares.none(len(X), X.shape[1], ensemble.n_classes)
    for group in sorted(ensemble.groups, key=lambda group: len(group.terms.example_rows) > 0):
        group.terms.share_out(queries, shares, n_threads)
    named = [rows for rows, _ in shares.pulls]
    rows = distinct(np.concatenate(named)) if named else np.empty(0, dtype=np.int64)
    pulls = np.zeros((len(X), len(rows), ensemble.n_classes))
    for own, added in shares.pulls:
        pulls[:, np.searchsorted(rows, own)] += added
    return Contributions(
        shares.baseline,
        shares.features,
        rows,
        pulls,
        shares.others,
        tuple(shares.near),
        shares.functions,
        shares.rules,
        tuple(shares.comparisons),
    )
