"""What an ensemble says of samples, shared out: H(x) = baseline + features + training rows + others."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Ints, Outputs, Scores

CHUNK = 1 << 22
"""Numbers that are worked on at a time."""


class RuleVotes(NamedTuple):
    """Which leaf of each tree the samples fall into."""

    trees: Any
    """`Trees`"""
    leaves: Ints
    """(n, trees)"""
    roots: Outputs
    """(trees, K) what each tree says on average."""

    def said(self, sample: int) -> Outputs:
        """(trees, K) what each tree says of a sample, beyond what it says on average."""
        trees = self.trees
        said: Outputs = trees.outputs[trees.leaf_offsets + self.leaves[sample]] - self.roots
        return said


class ComparisonVotes(NamedTuple):
    """How the comparisons of one space respond to the samples."""

    comparisons: Any
    """`Comparisons`"""
    responses: Floats
    """(n, T), from 0 for those of one point."""

    def said(self, sample: int) -> Outputs:
        """(T, K) what each comparison says of a sample, without its constant part."""
        said: Outputs = self.responses[sample][:, np.newaxis] * self.comparisons.slopes
        return said

    def pairs(self, sample: int) -> Ints:
        """(T, 2) rows of the example that a sample is nearer to, and of the other; −1: no other."""
        pairs: Ints = self.comparisons.named_rows
        keeps = self.comparisons.of_one_point | (self.responses[sample] > 0)
        return np.where(keeps[:, np.newaxis], pairs, pairs[:, ::-1])


@dataclass
class Shares:
    """Collects what the kinds of terms say of n samples with d features."""

    baseline: ByClass
    """(K,) what is said of every sample."""
    features: Floats
    """(n, d, K)"""
    pulls: list[tuple[Ints, Floats]] = field(default_factory=list)
    """(E,) rows of the training table, and (n, E, K) what each adds."""
    others: dict[str, Scores] = field(default_factory=dict)
    """Name → (n, K)."""
    rules: RuleVotes | None = None
    comparisons: list[ComparisonVotes] = field(default_factory=list)

    @classmethod
    def none(cls, n_samples: int, n_features: int, n_classes: int) -> "Shares":
        """Nothing said yet."""
        return cls(np.zeros(n_classes), np.zeros((n_samples, n_features, n_classes)))

    def add_other(self, name: str, said: Scores) -> None:
        """Add what terms of that name say."""
        self.others[name] = self.others.get(name, 0.0) + said


def add_at(sums: Floats, places: Ints, summands: Floats) -> None:
    """sums[n, places[n, t]] += summands[n, t], for (n, m, K) sums and (n, T, K) summands."""
    n_samples, width, n_classes = sums.shape
    flat = (np.arange(n_samples)[:, np.newaxis] * width + places).ravel()
    for k in range(n_classes if width else 0):
        added = np.bincount(flat, summands[:, :, k].ravel(), n_samples * width)
        sums[:, :, k] += added.reshape(n_samples, width)


def slices(n_samples: int, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of samples, so small that `width` numbers for each of them fit in memory."""
    step = max(1, CHUNK // max(1, width))
    for first in range(0, n_samples, step):
        yield first, min(first + step, n_samples)
