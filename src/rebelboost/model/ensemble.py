"""The ensemble: terms, and their sum H(x) = Σ_t f_t(x)·a_t."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeVar, overload

import numpy as np

from rebelboost.base.arrays import ByClass, Ints, Scores, Values
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import coarsest, unit_of
from rebelboost.base.hashing import distinct
from rebelboost.model.merged import Merged, merged
from rebelboost.model.terms import Queries, Terms
from rebelboost.model.trees import Trees

MOST_RUNS = 32
"""If the kind of term changes more often than this, terms are added kind by kind, which is faster."""

Kind = TypeVar("Kind", bound=Terms)


class Group(NamedTuple):
    """Terms of one kind, and their positions among all terms."""

    positions: Ints
    terms: Terms


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Terms in the order of their rounds. `ensemble[t]` is a view of one term."""

    groups: tuple[Group, ...]
    """Groups of terms, in the order of their first terms."""
    n_classes: int
    """Number of classes, K."""
    unavoidable_cost: float = 0.0
    """Mean cost due to training samples that coincide but have different labels."""

    @classmethod
    def of(
        cls, terms: Sequence[Terms], n_classes: int, unavoidable_cost: float = 0.0
    ) -> "Ensemble":
        """Create an ensemble from terms, each of them one or several in a row, grouped by kind."""
        ends = np.cumsum([len(each) for each in terms])
        groups = [
            Group(np.arange(end - len(each), end), each)
            for each, end in zip(terms, ends.tolist(), strict=True)
        ]
        return cls(_joined(groups), n_classes, unavoidable_cost)

    def __repr__(self) -> str:
        return f"Ensemble({len(self)} terms, {self.n_classes} classes)"

    def __len__(self) -> int:
        return sum(len(group.terms) for group in self.groups)

    @overload
    def __getitem__(self, t: int) -> Terms: ...
    @overload
    def __getitem__(self, t: slice) -> list[Terms]: ...
    def __getitem__(self, t: int | slice) -> Terms | list[Terms]:
        if isinstance(t, slice):
            return [self[i] for i in range(*t.indices(len(self)))]
        if not -len(self) <= t < len(self):
            raise IndexError(f"term {t} is out of range: the ensemble has {len(self)} terms")
        group, place = self._places[:, t]
        return self.groups[group].terms.take(np.array([place]))

    def __iter__(self) -> Iterator[Terms]:
        return (self[t] for t in range(len(self)))

    @cached_property
    def _places(self) -> Ints:
        """(2, T) the group of each term, and its position there."""
        places = np.empty((2, len(self)), dtype=np.int64)
        for g, group in enumerate(self.groups):
            places[0, group.positions] = g
            places[1, group.positions] = np.arange(len(group.terms))
        return places

    def of_kind(self, kind: type[Kind]) -> list[tuple[Ints, Kind]]:
        """The groups of one kind: their positions among all terms, and the terms."""
        return [
            (group.positions, group.terms) for group in self.groups if type(group.terms) is kind
        ]

    @property
    def example_rows(self) -> list[int]:
        """Rows of the user's table that terms compare samples with, sorted."""
        rows = [group.terms.example_rows for group in self.groups]
        return distinct(np.concatenate([np.empty(0, dtype=np.int32), *rows])).tolist()

    def truncate(self, n_terms: int) -> "Ensemble":
        """Keep only the first terms."""
        if n_terms >= len(self):
            return self
        kept = [(group, int(np.searchsorted(group.positions, n_terms))) for group in self.groups]
        groups = tuple(
            Group(group.positions[:n], group.terms.take(np.arange(n))) for group, n in kept if n
        )
        return Ensemble(groups, self.n_classes, self.unavoidable_cost)

    def extended(self, more: "Ensemble") -> "Ensemble":
        """Append the terms of another ensemble."""
        shifted = tuple(Group(group.positions + len(self), group.terms) for group in more.groups)
        groups = _joined((*self.groups, *shifted))
        return Ensemble(groups, self.n_classes, more.unavoidable_cost)

    def plus(self, constant: ByClass) -> "Ensemble":
        """Append a term that adds the same to the scores of all samples."""
        last = Group(np.array([len(self)]), Trees.constant(constant))
        return replace(self, groups=_joined((*self.groups, last)))

    # ---- scores

    def scores(self, X: Values, n_threads: int = 1) -> Scores:
        """H(x) of each sample."""
        scores = np.zeros((len(X), self.n_classes))
        if self.is_exact:
            self.merged.add_scores(Queries(X), scores, n_threads)
        else:
            self.add_scores(Queries(X), scores, 0, len(self), n_threads)
        return scores

    @cached_property
    def is_exact(self) -> bool:
        """Whether the order in which terms are added changes no bit: all that they add is on a grid."""
        bound = self._bound
        if not 0 < bound < math.inf:
            return bound == 0
        return all(group.terms.fits(coarsest(bound)) for group in self.groups)

    @cached_property
    def _bound(self) -> float:
        """Limit of the absolute scores."""
        return sum(group.terms.bound for group in self.groups)

    @cached_property
    def merged(self) -> Merged:
        """The sum in a faster form; it must be exact."""
        return merged([group.terms for group in self.groups], self.n_classes)

    def on_grid(self) -> "Ensemble":
        """The same terms with outputs rounded, so that sums are exact, as far as the kinds of terms can."""
        if self.is_exact or not self._bound < math.inf:
            return self
        unit = unit_of(self._bound)
        groups = tuple(group._replace(terms=group.terms.on_grid(unit)) for group in self.groups)
        return replace(self, groups=groups)

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int = 1
    ) -> None:
        """Add terms [first, last) to the scores, in order unless the kind changes often."""
        for group, own, past in self.runs(first, last):
            self.groups[group].terms.add_scores(queries, scores, own, past, n_threads)

    def runs(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """The order in which terms [first, last) are added: a group, and a range of its own terms."""
        ends = self._ends[(self._ends > first) & (self._ends < last)]
        runs = [first, *map(int, ends), last] if len(ends) < MOST_RUNS else [first, last]
        for begin, end in pairwise(runs):
            for group, (positions, _) in enumerate(self.groups):
                own, past = np.searchsorted(positions, [begin, end]).tolist()
                if own < past:
                    yield group, own, past

    @cached_property
    def _ends(self) -> Ints:
        """Positions where a term belongs to another group than the one before it."""
        return np.flatnonzero(np.diff(self._places[0])) + 1

    def staged_scores(self, X: Values, n_threads: int = 1) -> Iterator[Scores]:
        """Yield H(x) after each term, as a new array each time."""
        queries = Queries(X)
        scores = np.zeros((len(X), self.n_classes))
        for t in range(len(self)):
            self.add_scores(queries, scores, t, t + 1, n_threads)
            yield scores.copy()


def weighted_sum(
    ensembles: Sequence[Ensemble], factors: Sequence[float]
) -> tuple[Ensemble, list[Ints]]:
    """Sum ensembles with factors: the scores of the result are the weighted sum of their scores.

    The terms of all ensembles alternate, round by round. Also returns the new position of each term of each
    ensemble; −1 for ensembles with a factor of 0, which are omitted.
    """
    rounds = np.concatenate([np.arange(len(e)) for e in ensembles])
    owner = np.repeat(np.arange(len(ensembles)), [len(e) for e in ensembles])
    counts = np.asarray(factors)[owner] > 0
    order = np.lexsort((owner, rounds))
    order = order[counts[order]]
    place = np.full(len(rounds), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    places = np.split(place, np.cumsum([len(e) for e in ensembles])[:-1])
    groups = [
        Group(new[group.positions], group.terms.scaled(factor))
        for ensemble, factor, new in zip(ensembles, factors, places, strict=True)
        if factor > 0
        for group in ensemble.groups
    ]
    return Ensemble(_joined(groups), ensembles[0].n_classes), places


def _joined(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Merge groups with equal keys, with terms in order of position; groups in order of their first terms."""
    by_key: dict[object, list[Group]] = {}
    for group in groups:
        by_key.setdefault(group.terms.key, []).append(group)
    merged = []
    for own in by_key.values():
        positions = np.concatenate([group.positions for group in own])
        terms = own[0].terms
        if len(own) > 1:
            terms = type(terms).joined([group.terms for group in own])
            if np.any(positions[1:] < positions[:-1]):
                order = np.argsort(positions, kind="stable")
                terms, positions = terms.take(order), positions[order]
        merged.append(Group(positions, terms))
    return tuple(sorted(merged, key=lambda group: int(group.positions[0])))


def _rank(kind: type[Terms]) -> tuple[int, str]:
    return kind.rank, kind.__name__


def headings(ensemble: Ensemble) -> list[str]:
    """Descriptions by kind, such as "40 trees of depth 3" and "12 comparisons with 9 training rows"."""
    kinds = sorted({type(group.terms) for group in ensemble.groups}, key=_rank)
    return [
        text
        for kind in kinds
        for text in kind.heading([terms for _, terms in ensemble.of_kind(kind)])
    ]
