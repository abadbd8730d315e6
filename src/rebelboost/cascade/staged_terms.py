"""The terms of an ensemble in the order of a cascade: stage by stage, and by kind within a stage."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import ComparedPoints, Ints, Scores, Values
from rebelboost.base.cached import cached_property
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.terms import Queries, Terms
from rebelboost.model.trees import Trees

FIRST_SHARE, N_STAGES = 1 / 128, 22
"""Without other information: share of the terms in the first stage, and number of stages."""


def spaced_stages(ensemble: Ensemble, every: int | None = None, first: int = 1) -> Ints:
    """(T,) stage of each term, for stages whose ends are spaced geometrically.

    Or a check follows every so many terms [THESIS 2.2], from the one that does so after `first` terms.
    Expensive terms, such as smooth functions of the similarity to many training rows, are added last.
    """
    n_terms = len(ensemble)
    if every is None:
        ends = np.geomspace(max(1.0, FIRST_SHARE * n_terms), max(1, n_terms), N_STAGES)
        ends = ends[ends >= min(first, n_terms)]
        ends = np.append(first, ends) if 1 < first < n_terms else ends
    else:
        ends = np.append(np.arange(-(-first // every) * every, n_terms, every), n_terms)
    stages = np.searchsorted(np.unique(np.rint(ends)), np.arange(n_terms), side="right")
    for positions, terms in ensemble.groups:
        if terms.is_expensive:
            stages[positions] = stages.max()
    numbered: Ints = np.unique(stages, return_inverse=True)[1]  # some may have lost all terms
    return numbered


class StagedTable(NamedTuple):
    """Terms of one kind, by stage."""

    terms: Terms
    stops: Ints
    """(S,) number of terms up to the end of each stage."""
    group: int
    """Place among the groups of the ensemble."""
    order: Ints
    """Place of each term in this group."""

    def add(self, stage: int, queries: Queries, scores: Scores, n_threads: int = 1) -> None:
        """Add the terms of a stage to the scores."""
        first = int(self.stops[stage - 1]) if stage else 0
        self.terms.add_scores(queries, scores, first, int(self.stops[stage]), n_threads)


@dataclass(frozen=True, eq=False)
class StagedTerms:
    """All terms of an ensemble, by stage: trees first, then constants, then comparisons in each space."""

    ensemble: Ensemble
    stage_of_term: Ints
    """(T,) stage at which each term is added."""

    @cached_property
    def n_stages(self) -> int:
        """Number of stages; the last one ends with all terms."""
        return int(self.stage_of_term.max(initial=0)) + 1

    @cached_property
    def tables(self) -> tuple[StagedTable, ...]:
        """Terms of each kind, in the order in which they are added within a stage."""
        found = []
        for group, (positions, terms) in enumerate(self.ensemble.groups):
            stages = self.stage_of_term[positions]
            order = np.argsort(stages, kind="stable")
            sorted_terms = terms if np.all(np.diff(stages) >= 0) else terms.take(order)
            stops = np.searchsorted(stages[order], np.arange(self.n_stages), side="right")
            found.append(StagedTable(sorted_terms, stops, group, order))
        return tuple(sorted(found, key=lambda table: _place(table.terms)))

    @cached_property
    def n_terms(self) -> Ints:
        """(S,) number of terms up to the end of each stage."""
        counts: Ints = np.cumsum(np.bincount(self.stage_of_term, minlength=self.n_stages))
        return counts

    @cached_property
    def same_order(self) -> bool:
        """Whether the ensemble adds its terms in this order too, so that sums have the same bits."""
        return len(self.tables) == 1 and bool(np.all(np.diff(self.stage_of_term) >= 0))

    def staged(self, X: Values, n_threads: int = 1) -> Iterator[Scores]:
        """Yield the (N, K) scores at the end of each stage: the same array, with more terms each time."""
        queries, scores = Queries(X), np.zeros((len(X), self.ensemble.n_classes))
        for stage in range(self.n_stages):
            for table in self.tables:
                table.add(stage, queries, scores, n_threads)
            yield scores

    @cached_property
    def compiled(self) -> "CompiledTables | None":
        """The tables for the kernel; None if there are terms that it does not know."""
        return CompiledTables.of(self)


class CompiledTables(NamedTuple):
    """Trees, comparisons in scaled spaces, and the stops of both, for the kernel."""

    trees: Trees
    spaces: tuple[Terms, ...]
    stops: Ints
    """(S, 1 + spaces)"""

    @classmethod
    def of(cls, staged: StagedTerms) -> "CompiledTables | None":
        """Collect the tables; constants become trees without a split."""
        n_classes = staged.ensemble.n_classes
        trees, stages_of_trees = Trees.none(n_classes), np.empty(0, dtype=np.int64)
        spaces, stops = [], []
        for terms, ends, _, _ in staged.tables:
            if not ends[:-1].any() and len(staged.tables) > 1:
                continue  # only in the last stage, which the kernel leaves to the ensemble
            stages = np.repeat(np.arange(staged.n_stages), np.diff(ends, prepend=0))
            more = _as_trees(terms)
            if terms.is_compared:
                spaces.append(terms)
                stops.append(ends)
            elif more is None:
                return None
            else:
                stages_of_trees = np.concatenate([stages_of_trees, stages])
                trees = Trees.joined([trees, more]) if len(trees) else more
        order = np.argsort(stages_of_trees, kind="stable")
        if not np.array_equal(order, np.arange(len(order))):
            trees = trees.take(order)
        ends = np.searchsorted(stages_of_trees[order], np.arange(staged.n_stages), side="right")
        return cls(trees, tuple(spaces), np.ascontiguousarray(np.stack([ends, *stops], axis=1)))

    def placed(self, X: Values) -> list[ComparedPoints]:
        """The samples as points of each space, with its comparisons."""
        return [terms.compared_points(X) for terms in self.spaces]


def _as_trees(terms: Terms) -> Trees | None:
    """Trees, or constants as trees of depth 0; None for others."""
    if isinstance(terms, Trees):
        return terms
    constants = terms.constant_outputs
    return None if constants is None else Trees.constants(constants)


def _place(terms: Terms) -> int:
    """Trees come first and constants next, since the kernel adds these with the trees."""
    if isinstance(terms, Trees):
        return 0
    return 2 if terms.constant_outputs is None else 1
