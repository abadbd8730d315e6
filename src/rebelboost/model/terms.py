"""Interface of all kinds of terms, and the samples that they score.

A term is a response f_t(x) with the outputs that its regions add to the scores. All terms of a kind are
stored as arrays in one object; a learner returns the same kind of object with a single term.
To add a kind, subclass `Terms` in its own file; what others ask of a kind has a default here. To store it in
model files, subclass `StoredTerms`, and add it to `rebelboost.files.terms.KINDS`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    BySample,
    ComparedPoints,
    Floats,
    Indices,
    Ints,
    Outputs,
    Regions,
    Scores,
    Values,
)
from rebelboost.base.checks import TensorReader
from rebelboost.data.level_means import LevelMeans
from rebelboost.data.spaces import Space
from rebelboost.model.shares import Shares

NONE: Mapping[Hashable, BySample] = MappingProxyType({})


class Queries:
    """Samples to be scored. Caches their points in each space, and means of their levels, for repeated calls.

    `known_means` (by `LevelMeans.key`) are those that the samples were trained with, over other rows.
    """

    def __init__(
        self,
        X: Values,
        placed: dict[int, tuple[Space, NDArray[Any]]] | None = None,
        known_means: Mapping[Hashable, BySample] = NONE,
    ) -> None:
        self.X = X
        self._known_means = known_means
        self._placed = {} if placed is None else placed
        self._laid: dict[int, tuple[Space, NDArray[Any]]] = {}
        self._means: dict[int, tuple[LevelMeans, BySample]] = {}
        self._beside: tuple[tuple[LevelMeans, ...], Values] | None = None

    def __len__(self) -> int:
        return len(self.X)

    def placed(self, space: Space) -> NDArray[Any]:
        """Points of the samples in a space."""
        if id(space) not in self._placed:
            self._placed[id(space)] = space, space.place(self.X)
        return self._placed[id(space)][1]

    def laid(self, space: Space) -> NDArray[Any]:
        """The points in the memory layout that `Space.distances` needs."""
        if id(space) not in self._laid:
            self._laid[id(space)] = space, space.lay_out(self.placed(space))
        return self._laid[id(space)][1]

    def beside(self, means: tuple[LevelMeans, ...]) -> Values:
        """(N, d + m) the samples, with the means of their levels beside."""
        if not means:
            return self.X
        if self._beside is None or self._beside[0] is not means:
            columns = [self._column(each) for each in means]
            wider: Values = np.empty((len(self.X), self.X.shape[1] + len(means)), self.X.dtype)
            wider[:, : self.X.shape[1]] = self.X
            wider[:, self.X.shape[1] :] = np.transpose(columns)
            self._beside = means, wider
        return self._beside[1]

    def _column(self, means: LevelMeans) -> BySample:
        if id(means) not in self._means:
            known = self._known_means.get(means.key) if self._known_means else None
            self._means[id(means)] = means, means.column(self.X) if known is None else known
        return self._means[id(means)][1]

    def take(self, rows: Ints) -> "Queries":
        """Some of the samples, with their points."""
        placed = {key: (space, points[rows]) for key, (space, points) in self._placed.items()}
        return Queries(self.X[rows], placed)


class Terms(ABC):
    """Terms of one kind, as arrays. Methods that refer to "the term" require a single term."""

    rank: ClassVar[int] = 2
    """Kinds with a lower rank come first in summaries."""
    is_expensive: ClassVar[bool] = False
    """Whether cascades add the terms last."""
    merges_equal: ClassVar[bool] = False
    """Whether training merges samples that coincide, so that guarantees count distinct ones."""
    credits_features: ClassVar[bool] = False
    """Whether the terms have feature importances (`add_importances`)."""
    makes_statements: ClassVar[bool] = False
    """Whether explanations state rules or comparisons; otherwise terms are called by their descriptions."""
    outputs: Outputs
    """Outputs of the terms; the last axis is K, the first depends on the kind."""

    @property
    def key(self) -> Hashable:
        """Terms with equal keys can be joined."""
        return type(self)

    @abstractmethod
    def __len__(self) -> int: ...

    @classmethod
    @abstractmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All terms of the parts, in order. The parts have equal keys."""

    @abstractmethod
    def take(self, chosen: Ints) -> Self:
        """Select terms, in the given order."""

    @abstractmethod
    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add the outputs of terms [first, last) to (N, K) scores, term by term."""

    def scaled(self, factor: float) -> Self:
        """The same terms with their outputs multiplied by a factor."""
        return self.with_outputs(factor * self.outputs)

    def with_outputs(self, outputs: Outputs) -> Self:
        """The same terms with other outputs."""
        return replace(self, outputs=outputs)  # type: ignore[type-var]  # kinds are dataclasses

    @property
    def constant_outputs(self) -> Outputs | None:
        """(T, K) what each term adds to the scores of all samples; None if it depends on the sample."""
        return None

    # ---- cascades

    @property
    def is_compared(self) -> bool:
        """Whether the terms compare points, in the way that the kernel of cascades knows."""
        return False

    def compared_points(self, X: Values) -> ComparedPoints:
        """Samples as points, with the terms' comparisons, if `is_compared`."""
        raise NotImplementedError

    # ---- exact sums

    @property
    def bound(self) -> float:
        """Limit of the absolute scores that the terms add up to."""
        return math.inf

    def fits(self, unit: float) -> bool:
        """Whether all that a term adds to a score is a multiple of `unit`, a power of two."""
        del unit
        return False

    def on_grid(self, unit: float) -> Self:
        """The same terms with outputs rounded, so that they add multiples of `unit`, if the kind can."""
        del unit
        return self

    def all_outputs(self) -> Iterator[Outputs]:
        """Yield arrays of all outputs, whose absolute values limit the scores."""
        yield self.outputs

    # ---- one term

    @property
    def is_bounded(self) -> bool:
        """Whether no round left a higher loss than the best hard isolating learner [LOCAL, Sec. 5]."""
        return False

    @property
    def has_regions(self) -> bool:
        """Whether the response takes few values, each in a region of its own; else see `response`."""
        return True

    def response(self, queries: Queries, n_threads: int = 1) -> BySample:
        """(N,) f of each sample, of a term without regions. It adds f times `by_region[0]`."""
        raise NotImplementedError

    @property
    @abstractmethod
    def responses(self) -> NDArray[Any] | None:
        """(regions,) f of each region of the term; None if each region has its own output."""

    @property
    @abstractmethod
    def by_region(self) -> Outputs:
        """(regions, K) contribution of each region of the term to the scores."""

    @abstractmethod
    def regions(self, queries: Queries, n_threads: int = 1) -> Regions:
        """(N,) the region of the term that contains each sample."""

    @abstractmethod
    def describe(self, names: Sequence[str] | None = None) -> str:
        """The term in one line; `names` are the names of the features."""

    @property
    def used_features(self) -> NDArray[np.int32]:
        """The features that the term uses, sorted, each once."""
        return np.empty(0, dtype=np.int32)

    def covered(self, regions: Regions, weight: BySample | None) -> Self:
        """Record the training weight in each region, if explanations need it."""
        del regions, weight
        return self

    # ---- explanations

    @property
    def example_rows(self) -> Indices:
        """Rows of the user's table that the terms compare samples with, each once."""
        return np.empty(0, dtype=np.int32)

    def share_out(self, queries: Queries, shares: Shares, n_threads: int) -> None:
        """Add the contributions of the terms to `shares`; by default, under the terms' descriptions."""
        for t in range(len(self)):
            term = self.take(np.array([t]))
            shares.add_other(term.describe(), term.by_region[term.regions(queries, n_threads)])

    def add_importances(self, sizes: Floats) -> None:
        """Add to (d,) sizes how much each feature changes the scores, if the kind `credits_features`."""
        del sizes

    def n_splitting(self, n_features: int) -> Ints:
        """(d,) number of terms that split on each feature."""
        return np.zeros(n_features, dtype=np.int64)

    def is_additive(self, feature: int) -> bool:
        """Whether every term that uses a feature uses no other."""
        del feature
        return len(self.example_rows) == 0 and len(self.used_features) == 0

    def steps(self, feature: int) -> Floats:
        """Values of a feature at which the scores jump."""
        del feature
        return np.empty(0)

    def row_pulls(self) -> tuple[Ints, Outputs]:
        """(E,) training rows that samples are compared with, and their largest contributions (E, K)."""
        return np.empty(0, dtype=np.int64), np.empty((0, self.outputs.shape[-1]))

    @classmethod
    def heading(cls, tables: Sequence[Self]) -> list[str]:
        """Description of all terms of the kind, for a summary: "3 × LogisticRegression"."""
        names = [
            table.take(np.array([t])).describe() for table in tables for t in range(len(table))
        ]
        return [f"{names.count(name)} × {name}" for name in sorted(set(names))]

    def separated(self) -> "Separated":
        """The two classes that each term separates most; by default, in its first region."""
        first = [self.take(np.array([t])).by_region[0] for t in range(len(self))]
        return furthest_apart(np.array(first))


class Placed(NamedTuple):
    """A space in a model file, and its examples."""

    space: Space
    rows: Indices
    """(E,) rows of the examples in the user's table."""
    points: NDArray[Any]
    """(E, …) the examples as points."""


class Surroundings(NamedTuple):
    """What the terms of a model file refer to."""

    categorical: NDArray[np.bool_]
    """(d,) whether each feature is categorical."""
    spaces: Sequence[Placed]
    n_classes: int


class StoredTerms(Terms):
    """Terms of a kind that model files can store."""

    stored_as: ClassVar[str]
    """Beginning of the names of the arrays."""

    @property
    def placed(self) -> list[Placed]:
        """Spaces that the terms refer to."""
        return []

    @classmethod
    @abstractmethod
    def to_arrays(
        cls, groups: Sequence[tuple[Ints, Self]], first_space: int, n_classes: int
    ) -> dict[str, NDArray[Any]]:
        """Arrays of a model file, for terms and their positions; spaces are numbered from `first_space`."""

    @classmethod
    @abstractmethod
    def from_arrays(
        cls, reader: TensorReader, positions: Ints, around: Surroundings
    ) -> list[tuple[Ints, Self]]:
        """Read terms with these positions, and check all that prediction relies on."""

    @abstractmethod
    def plain(self, first_space: int, n_levels: Mapping[int, int]) -> list[dict[str, Any]]:
        """Every term as plain JSON data; the terms' spaces are numbered from `first_space`.

        `n_levels`: categorical feature → number of its categories.
        """


class Separated(NamedTuple):
    """The two classes that each term separates most."""

    first: Ints
    """(T,) code of the first class."""
    second: Ints
    """(T,) code of the second class, which is higher."""
    distance: Floats
    """(T,) root mean square difference of their outputs over the training samples; |a_k − a_l| for ±1."""


def furthest_apart(outputs: Floats) -> Separated:
    """The classes with the lowest and the highest output, for each row of (T, K)."""
    ends = np.sort(np.stack([outputs.argmin(axis=1), outputs.argmax(axis=1)]), axis=0)
    return Separated(ends[0], ends[1], np.ptp(outputs, axis=1))
