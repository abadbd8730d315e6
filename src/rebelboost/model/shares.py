"""Accumulators for explanations: H(x) = baseline + features + training rows + others."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Ints, Outputs, Scores

ALONE, FAR = -1, -2
"""In place of a second row, where there is none: the sample is near the first one, or far from it."""
CHUNK = 1 << 22
"""Maximum number of values processed at a time."""


class RuleVotes(NamedTuple):
    """The leaf of each tree that each sample reaches."""

    trees: Any
    """`Trees`"""
    leaves: Ints
    """(n, trees) leaf reached."""
    roots: Outputs
    """(trees, K) value of each tree's root."""

    def said(self, sample: int) -> Outputs:
        """(trees, K) output of each tree for a sample, minus the value of its root."""
        trees = self.trees
        said: Outputs = trees.outputs[trees.leaf_offsets + self.leaves[sample]] - self.roots
        return said


class ComparisonVotes(NamedTuple):
    """Responses of the comparisons of one space to the samples."""

    comparisons: Any
    """`Comparisons`"""
    responses: Floats
    """(n, T) responses; plus 1 for those of one point, which then start at 0."""

    def said(self, sample: int) -> Outputs:
        """(T, K) contribution of each comparison for a sample, without its constant part."""
        said: Outputs = self.responses[sample][:, np.newaxis] * self.comparisons.slopes
        return said

    def pairs(self, sample: int) -> Ints:
        """(T, 2) rows of the nearer example and of the other one; `ALONE`: no other."""
        pairs: Ints = self.comparisons.named_rows
        keeps = self.comparisons.of_one_point | (self.responses[sample] > 0)
        return np.where(keeps[:, np.newaxis], pairs, pairs[:, ::-1])


class RowVotes(NamedTuple):
    """What the examples of a kernel machine add to the scores of the samples."""

    rows: Ints
    """(E,) rows of the training table."""
    beyond: Floats
    """(n, E) how much more similar they are to the samples than to one another."""
    pulls: Floats
    """(n, E, K) contributions."""

    def said(self, sample: int) -> Outputs:
        """(E, K) contribution of each example for a sample."""
        said: Outputs = self.pulls[sample]
        return said

    def pairs(self, sample: int) -> Ints:
        """(E, 2) the rows, which are compared with no other, and whether the sample is near or far."""
        return np.stack([self.rows, np.where(self.beyond[sample] < 0, FAR, ALONE)], axis=1)


@dataclass
class Shares:
    """Accumulates the contributions of all kinds of terms for n samples with d features."""

    baseline: ByClass
    """(K,) part that is the same for every sample."""
    features: Floats
    """(n, d, K) contributions of features."""
    pulls: list[tuple[Ints, Floats]] = field(default_factory=list)
    """(E,) rows of the training table, and (n, E, K) their contributions."""
    others: dict[str, Scores] = field(default_factory=dict)
    """Name → (n, K) contributions of other terms."""
    near: list[tuple[Ints, Floats]] = field(default_factory=list)
    """(E,) rows of the training table that smooth functions compare with, and (n, E) similarities to them."""
    functions: dict[str, Scores] = field(default_factory=dict)
    """Name → (n, K) what smooth functions add in all, which is credited to features too."""
    rules: RuleVotes | None = None
    comparisons: list[ComparisonVotes | RowVotes] = field(default_factory=list)

    @classmethod
    def none(cls, n_samples: int, n_features: int, n_classes: int) -> "Shares":
        """Empty accumulators."""
        return cls(np.zeros(n_classes), np.zeros((n_samples, n_features, n_classes)))

    def add_other(self, name: str, said: Scores) -> None:
        """Add the contributions of terms of that name."""
        self.others[name] = self.others.get(name, 0.0) + said


def size(said: Floats) -> Floats:
    """Size of contributions, (…, K) → (…): half their range, or the absolute value of numbers."""
    if said.shape[-1] == 1:
        return np.abs(said[..., 0])
    return np.asarray((said.max(axis=-1) - said.min(axis=-1)) / 2)


def add_at(sums: Floats, places: Ints, summands: Floats) -> None:
    """sums[n, places[n, t]] += summands[n, t], for (n, m, K) sums and (n, T, K) summands."""
    n_samples, width, n_classes = sums.shape
    flat = (np.arange(n_samples)[:, np.newaxis] * width + places).ravel()
    for k in range(n_classes if width else 0):
        added = np.bincount(flat, summands[:, :, k].ravel(), n_samples * width)
        sums[:, :, k] += added.reshape(n_samples, width)


def slices(n_samples: int, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of samples small enough that `width` values for each fit in memory."""
    step = max(1, CHUNK // max(1, width))
    for first in range(0, n_samples, step):
        yield first, min(first + step, n_samples)
