"""The strong classifier: terms, and their sum H(x) = Σ_t f_t(x)·a_t."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Ints, Outputs, Regions, Scores, Values
from rebelboost.model.packing import Group, groups
from rebelboost.model.queries import Queries
from rebelboost.model.trees import Hypothesis

MOST_RUNS = 32
"""Terms whose kinds change more often are added kind by kind, which is faster."""


class Term(NamedTuple):
    """A hypothesis, and what each of its regions adds to the scores."""

    hypothesis: Hypothesis
    outputs: Outputs
    """(L, K), or (2, K) a and b where regions differ by their response only: f·a + b."""

    @property
    def by_region(self) -> Outputs:
        """What each region adds to the scores, (L, K)."""
        return self.hypothesis.by_region(self.outputs)

    def regions(self, queries: Queries, n_threads: int = 1) -> Regions:
        """Find the region of each sample."""
        (group,) = groups([self.hypothesis], [self.outputs])
        return group.regions(queries, n_threads)


@dataclass(frozen=True)
class Ensemble:
    """Terms in the order of their rounds."""

    terms: tuple[Term, ...]
    n_classes: int
    unavoidable_cost: float = 0.0
    """Mean cost of training samples that lie at one point and have different labels."""

    def __repr__(self) -> str:
        return f"Ensemble({len(self)} terms, {self.n_classes} classes)"

    def __len__(self) -> int:
        return len(self.terms)

    def truncate(self, n_terms: int) -> "Ensemble":
        """Keep the first terms only."""
        return Ensemble(self.terms[:n_terms], self.n_classes, self.unavoidable_cost)

    @cached_property
    def groups(self) -> list[Group]:
        """The terms as arrays, by their kind."""
        hypotheses = [term.hypothesis for term in self.terms]
        return groups(hypotheses, [term.outputs for term in self.terms])

    def scores(self, X: Values, n_threads: int = 1) -> Scores:
        """H(x) of each sample."""
        scores = np.zeros((len(X), self.n_classes))
        self.add_scores(Queries(X), scores, 0, len(self), n_threads)
        return scores

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int = 1
    ) -> None:
        """Add what terms [first, last) say to the scores, in their order where kinds rarely change."""
        ends = self._ends[(self._ends > first) & (self._ends < last)]
        runs = [first, *map(int, ends), last] if len(ends) < MOST_RUNS else [first, last]
        for begin, end in pairwise(runs):
            for group in self.groups:
                group.add_scores(queries, scores, begin, end, n_threads)

    @cached_property
    def _ends(self) -> Ints:
        """Where a term is of another group than the one before it."""
        of_term = np.empty(len(self), dtype=np.int64)
        for g, group in enumerate(self.groups):
            of_term[group.positions] = g
        return np.flatnonzero(np.diff(of_term)) + 1

    def staged_scores(self, X: Values, n_threads: int = 1) -> Iterator[Scores]:
        """H(x) after each term; each yield is an array of its own."""
        queries = Queries(X)
        scores = np.zeros((len(X), self.n_classes))
        for t in range(len(self)):
            self.add_scores(queries, scores, t, t + 1, n_threads)
            yield scores.copy()
