"""What every kind of term offers.

A term is a response f_t(x) with the outputs that its regions add to the scores. All terms of a kind are
kept as arrays, one object for many terms; what a learner finds is the same object with one term in it.
To add a kind: subclass `Terms` in a file of its own. To let model files hold it, add a line to
`rebelboost.files.terms.KINDS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Indices, Ints, Outputs, Regions, Scores
from rebelboost.model.queries import Queries
from rebelboost.model.shares import Shares


class Terms(ABC):
    """Terms of one kind, as arrays. Methods that speak of "the term" are for one term."""

    rank: ClassVar[int] = 2
    """Kinds of a lower rank come first in summaries."""
    outputs: Outputs
    """What the terms add to the scores; the last axis is K, the first is the kind's own."""

    @property
    def key(self) -> Hashable:
        """Terms with equal keys can be joined."""
        return type(self)

    @abstractmethod
    def __len__(self) -> int: ...

    @classmethod
    @abstractmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All terms of the parts, in their order; the parts have equal keys."""

    @abstractmethod
    def take(self, chosen: Ints) -> Self:
        """Some of the terms, in the given order."""

    @abstractmethod
    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add the outputs of terms [first, last) to (N, K) scores, one term after the other."""

    def scaled(self, factor: float) -> Self:
        """The same terms with their outputs multiplied."""
        return self.with_outputs(factor * self.outputs)

    def with_outputs(self, outputs: Outputs) -> Self:
        """The same terms with other outputs."""
        return replace(self, outputs=outputs)  # type: ignore[type-var]  # kinds are dataclasses

    # ---- one term

    @property
    @abstractmethod
    def responses(self) -> NDArray[Any] | None:
        """(regions,) f of each region of the term; None where each has an output of its own."""

    @property
    @abstractmethod
    def by_region(self) -> Outputs:
        """(regions, K) what each region of the term adds to the scores."""

    @abstractmethod
    def regions(self, queries: Queries, n_threads: int = 1) -> Regions:
        """(N,) the region of the term that each sample falls into."""

    @abstractmethod
    def describe(self, names: Sequence[str] | None = None) -> str:
        """The term in one line; `names` are those of the features."""

    @property
    def used_features(self) -> NDArray[np.int32]:
        """The features that the term tests, rising, each once."""
        return np.empty(0, dtype=np.int32)

    def covered(self, regions: Regions, weight: BySample | None) -> Self:
        """Record the training weight in each region, where explanations need it."""
        del regions, weight
        return self

    # ---- explanations

    @property
    def example_rows(self) -> Indices:
        """Rows of the user's table that the terms compare samples with, each once."""
        return np.empty(0, dtype=np.int32)

    def share_out(self, queries: Queries, shares: Shares, n_threads: int) -> None:
        """Add what the terms say of the samples to its shares; by default under their own names."""
        for t in range(len(self)):
            term = self.take(np.array([t]))
            shares.add_other(term.describe(), term.by_region[term.regions(queries, n_threads)])

    @classmethod
    def heading(cls, tables: Sequence[Self]) -> list[str]:
        """What all terms of the kind are, for a summary: "3 × LogisticRegression"."""
        names = [
            table.take(np.array([t])).describe() for table in tables for t in range(len(table))
        ]
        return [f"{names.count(name)} × {name}" for name in sorted(set(names))]

    def separated(self) -> "Separated":
        """Which two classes each term moves furthest apart; by default by its first region."""
        first = [self.take(np.array([t])).by_region[0] for t in range(len(self))]
        return furthest_apart(np.array(first))


class Separated(NamedTuple):
    """Which two classes each term separates most."""

    first: Ints
    """(T,) code of one."""
    second: Ints
    """(T,) code of the other, which is higher."""
    distance: Floats
    """(T,) in scores: root mean square over the training samples; for ±1 responses |a_k − a_l|."""


def furthest_apart(outputs: Floats) -> Separated:
    """The two classes with the lowest and the highest output, for each row of (T, K)."""
    ends = np.sort(np.stack([outputs.argmin(axis=1), outputs.argmax(axis=1)]), axis=0)
    return Separated(ends[0], ends[1], np.ptp(outputs, axis=1))
