"""Comparisons with training samples as arrays: "more like this one than like that one" [LOCAL, Sec. 5].

The comparisons of an object share one space, in which distances are measured; those without a space are
constants. The training samples that they refer to, the examples, are stored once each.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    COMPARISONS,
    ByClass,
    BySample,
    Bytes,
    ComparedPoints,
    ComparisonArrays,
    Floats,
    Indices,
    Ints,
    Outputs,
    Regions,
    Scores,
    Values,
)
from rebelboost.base.cached import cached_property
from rebelboost.base.checks import TensorReader, require
from rebelboost.base.fixed_point import is_multiple, spacing
from rebelboost.base.hashing import n_distinct_values
from rebelboost.base.kernel_arrays import CONSTANT as CONSTANT_LEVEL
from rebelboost.base.kernel_arrays import LEVELS
from rebelboost.base.text import counted
from rebelboost.data.exact_space import ExactSpace
from rebelboost.data.spaces import Embedding, Space
from rebelboost.model.exact_responses import exact_response
from rebelboost.model.shares import ComparisonVotes, Shares, add_at, slices
from rebelboost.model.terms import (
    Placed,
    Queries,
    Separated,
    StoredTerms,
    Surroundings,
    furthest_apart,
)

KINDS = (*COMPARISONS, "constant")
"""Kinds of comparisons; a kind's code is its position."""
CONSTANT = KINDS.index("constant")
ONE_POINT = [KINDS.index("one_point"), KINDS.index("inside")]
TWO_POINTS = [KINDS.index("two_points"), KINDS.index("nearer")]
HARD = [KINDS.index("nearer"), KINDS.index("inside")]
"""Those that respond with ±1."""
NONE = -1
"""Stands for a missing anchor, rival or space."""
AT_ONCE = 1 << 18
"""Number of distances computed at a time by each thread: more would not stay in the cache."""
FINEST_LEVEL = spacing(LEVELS)
"""Power of two that divides all levels of a response."""
FIRST, SECOND, NO_PLACE = (np.array([i], dtype=np.int32) for i in (0, 1, NONE))


@dataclass(frozen=True, eq=False)
class Comparisons(StoredTerms):
    """Responses f_ij(x) or f_i(x) of many terms in one space, or constant responses of 1."""

    rank: ClassVar[int] = 1
    merges_equal: ClassVar[bool] = True
    makes_statements: ClassVar[bool] = True
    stored_as: ClassVar[str] = "similarities"

    space: Space | None = field(repr=False)
    """Space of the distances; None for constants."""
    rows: Indices
    """(E,) rows of the examples in the user's table, in the order in which terms refer to them."""
    points: NDArray[Any] = field(repr=False)
    """(E, …) the examples as points."""
    kinds: Bytes
    """(T,) codes of `KINDS`."""
    anchors: NDArray[np.int32]
    """(T,) indices of examples; −1 for a constant."""
    rivals: NDArray[np.int32]
    """(T,) indices of examples; −1 if there is no rival."""
    apart: Floats
    """(T,) squared distance between anchor and rival; with one point, the τ at which f is 0."""
    outputs: Floats
    """(T, 2, K) a and b of f·a + b."""

    @classmethod
    def one(
        cls,
        kind: int,
        space: Space,
        rows: Indices,
        points: NDArray[Any],
        apart: float,
        outputs: Outputs,
    ) -> "Comparisons":
        """One comparison of a kind (by code) with an anchor and optionally a rival, by rows and points."""
        kinds = np.array([kind], dtype=np.uint8)
        rivals = SECOND if len(rows) > 1 else NO_PLACE
        at = np.array([apart])
        return cls(space, rows, points, kinds, FIRST, rivals, at, outputs[np.newaxis])

    @classmethod
    def constants(cls, outputs: Floats) -> "Comparisons":
        """Constants, for (T, 2, K) outputs."""
        n_terms = len(outputs)
        kinds, nothing = np.full(n_terms, CONSTANT, dtype=np.uint8), np.repeat(NO_PLACE, n_terms)
        no_rows, no_points = np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=np.float32)
        return cls(None, no_rows, no_points, kinds, nothing, nothing, np.ones(n_terms), outputs)

    @classmethod
    def constant(cls, outputs: Outputs) -> "Comparisons":
        """One constant."""
        return cls.constants(outputs[np.newaxis])

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def key(self) -> Hashable:
        """Comparisons in the same space have equal keys."""
        return type(self), id(self.space) if self.space is not None else None

    @cached_property
    def compared(self) -> ComparisonArrays:
        """The arrays in the form that the kernels take; the anchor replaces a missing rival."""
        return ComparisonArrays(
            self.anchors,
            np.where(self.rivals == NONE, self.anchors, self.rivals),
            self.kinds.astype(np.int32),
            self.apart,
            self.slopes,
            np.ascontiguousarray(self.outputs[:, 1]),
        )

    @cached_property
    def slopes(self) -> Outputs:
        """(T, K) a of f·a + b."""
        return np.ascontiguousarray(self.outputs[:, 0])

    @property
    def of_one_point(self) -> NDArray[np.bool_]:
        """(T,) comparisons with an anchor only."""
        return np.isin(self.kinds, ONE_POINT)

    @cached_property
    def named_rows(self) -> Ints:
        """(T, 2) rows of anchor and rival in the user's table; −1 if there is none."""
        rows = np.append(self.rows.astype(np.int64), NONE)
        return np.stack([rows[self.anchors], rows[self.rivals]], axis=1)

    # ---- tables of terms

    @classmethod
    def joined(cls, parts: Sequence["Comparisons"]) -> "Comparisons":
        """All comparisons of the parts, which share one space."""
        shift = np.cumsum([0, *(len(part.rows) for part in parts)])
        named = [
            np.where(places == NONE, NONE, places + n)
            for part, n in zip(parts, shift[:-1], strict=True)
            for places in (part.anchors, part.rivals)
        ]
        whole = cls(
            parts[0].space,
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.points for part in parts]),
            np.concatenate([part.kinds for part in parts]),
            np.concatenate(named[0::2]).astype(np.int32),
            np.concatenate(named[1::2]).astype(np.int32),
            np.concatenate([part.apart for part in parts]),
            np.concatenate([part.outputs for part in parts]),
        )
        return _renumbered(whole)

    def take(self, chosen: Ints) -> "Comparisons":
        """Select comparisons, with the examples that they refer to."""
        part = replace(
            self,
            kinds=self.kinds[chosen],
            anchors=self.anchors[chosen],
            rivals=self.rivals[chosen],
            apart=self.apart[chosen],
            outputs=self.outputs[chosen],
        )
        return _renumbered(part)

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add the outputs of comparisons [first, last), some samples at a time."""
        if self.space is None:
            for output in self.outputs[first:last].sum(axis=1):
                scores += output
            return
        part = self if (first, last) == (0, len(self)) else self.take(np.arange(first, last))
        if len(part) == 0:
            return
        placed = queries.placed(self.space)
        step = max(16, n_threads * AT_ONCE // len(part.rows))
        for start in range(0, len(queries), step):
            stop = min(start + step, len(queries))
            laid = self.space.lay_out(placed[start:stop])
            distances = part.distances(laid, stop - start, n_threads)
            part.add_outputs(distances, scores[start:stop], n_threads)

    def add_outputs(self, distances: NDArray[Any], scores: Scores, n_threads: int) -> None:
        """Add f·a + b of all terms to the scores of some samples."""
        if self.has_regions:
            kernels.active.add_comparisons(
                distances, self.compared, LEVELS, 0, len(self), scores, n_threads
            )
            return
        for f, (a, b) in zip(self._exactly(distances), self.outputs, strict=True):
            scores += f[:, np.newaxis] * a + b

    def distances(self, laid: NDArray[Any], n_samples: int, n_threads: int) -> NDArray[Any]:
        """(E, N) squared distances from all examples to laid-out samples."""
        assert self.space is not None
        found = self.space.distances(laid, self.points, self.rows, n_threads)
        return np.ascontiguousarray(found[:, :n_samples])

    @property
    def constant_outputs(self) -> Outputs | None:
        """(T, K) what each term adds to the scores of all samples; None if they are compared."""
        return self.outputs.sum(axis=1) if self.space is None else None

    # ---- cascades

    @property
    def is_compared(self) -> bool:
        """Whether distances are measured in a scaled space."""
        return isinstance(self.space, Embedding)

    def compared_points(self, X: Values) -> ComparedPoints:
        """Samples as points of the space, with the comparisons."""
        assert self.space is not None
        placed = np.ascontiguousarray(self.space.place(X))
        return ComparedPoints(placed, np.ascontiguousarray(self.points), self.compared)

    # ---- exact sums

    @property
    def bound(self) -> float:
        """Limit of the absolute scores that the comparisons add up to."""
        return float(np.abs(self.outputs).sum(axis=1).max(axis=1, initial=0.0).sum())

    def fits(self, unit: float) -> bool:
        """Whether f·a + b is a multiple of `unit` for all levels f."""
        if not self.has_regions:
            return False
        a, b = self.outputs[:, 0], self.outputs[:, 1]
        return is_multiple(a, unit / FINEST_LEVEL) and is_multiple(b, unit)

    def on_grid(self, unit: float) -> "Comparisons":
        """The same comparisons with f·a + b rounded to multiples of `unit`; not those that are exact."""
        if not self.has_regions:
            return self
        units = np.array([[unit / FINEST_LEVEL], [unit]])
        return replace(self, outputs=np.rint(self.outputs / units) * units)

    # ---- one comparison

    @property
    def kind(self) -> str:
        """Kind of the comparison, one of `KINDS`."""
        return KINDS[self.kinds[0]]

    @property
    def is_bounded(self) -> bool:
        """Whether rounds were compared with the hard isolating learner: not with exact, real responses."""
        return self.has_regions or bool(np.isin(self.kinds, HARD).all())

    @property
    def has_regions(self) -> bool:
        """Whether responses are rounded to levels. In an exact space they are not."""
        return not isinstance(self.space, ExactSpace)

    @property
    def responses(self) -> Floats:
        """(levels,) possible values of a response."""
        return LEVELS

    @property
    def by_region(self) -> Outputs:
        """(levels, K) contribution of each level to the scores: f·a + b; (1, K) a, if f is exact."""
        a, b = self.outputs[0]
        if not self.has_regions:
            return a[np.newaxis]
        added: Outputs = LEVELS[:, np.newaxis] * a + b
        return added

    def regions(self, queries: Queries, n_threads: int = 1) -> Regions:
        """(N,) the level of each sample's response."""
        if self.space is None:
            return np.full(len(queries), CONSTANT_LEVEL, dtype=np.uint16)
        if not isinstance(self.space, Embedding):
            return self._levels(queries, n_threads)[0]
        levels = np.empty(len(queries), dtype=np.uint16)
        laid, kind, apart = queries.laid(self.space), int(self.kinds[0]), float(self.apart[0])
        kernels.active.compare_points(laid, self.points, kind, apart, levels, n_threads)
        return levels

    def response(self, queries: Queries, n_threads: int = 1) -> BySample:
        """(N,) the exact response of each sample."""
        return self._of_samples(queries, n_threads)[:, 0]

    def _of_samples(self, queries: Queries, n_threads: int) -> Floats:
        """(N, T) the responses."""
        if self.has_regions:
            return LEVELS[self._levels(queries, n_threads).T]
        assert self.space is not None
        distances = self.distances(queries.laid(self.space), len(queries), n_threads)
        return np.stack(list(self._exactly(distances)), axis=1)

    def _exactly(self, distances: Floats) -> Iterator[BySample]:
        """(N,) the exact response of each term in turn, given (E, N) distances."""
        columns = (column.tolist() for column in self.compared[:4])
        for i, j, kind, apart in zip(*columns, strict=True):
            yield exact_response(KINDS[kind], distances[i], distances[j], apart)

    def _levels(self, queries: Queries, n_threads: int) -> NDArray[np.uint16]:
        """(T, N) the levels of all responses."""
        assert self.space is not None
        distances = self.distances(queries.laid(self.space), len(queries), n_threads)
        levels = np.empty((len(self), len(queries)), dtype=np.uint16)
        columns = (column.tolist() for column in self.compared[:4])
        for t, (i, j, kind, apart) in enumerate(zip(*columns, strict=True)):
            kernels.active.compare(distances[i], distances[j], kind, apart, levels[t], n_threads)
        return levels

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Text such as "more like row 12 than row 57"."""
        del names
        anchor, rival = self.named_rows[0].tolist()
        if anchor == NONE:
            return "constant"
        return f"near row {anchor}" if rival == NONE else f"more like row {anchor} than row {rival}"

    # ---- explanations

    @property
    def example_rows(self) -> Indices:
        """Rows of the examples in the user's table."""
        return self.rows

    def share_out(self, queries: Queries, shares: Shares, n_threads: int) -> None:
        """Credit f·a to the example nearer to the sample, and b to the baseline.

        With one point, f goes to −1 far away: −a belongs to the baseline, and (1 + f)·a, which fades with
        distance, is the contribution of the anchor.
        """
        if self.space is None:
            shares.baseline += self.outputs.sum(axis=1).sum(axis=0)
            return
        alone = self.of_one_point
        responses = self._of_samples(queries, n_threads) + alone
        constants: ByClass = (self.compared.offsets - alone[:, np.newaxis] * self.slopes).sum(
            axis=0
        )
        shares.baseline += constants
        pulling = np.where(responses > 0, self.anchors, self.compared.rivals)
        n_classes = self.outputs.shape[2]
        pulls = np.zeros((len(queries), len(self.rows), n_classes))
        for first, last in slices(len(queries), len(self) * n_classes):
            said = responses[first:last, :, np.newaxis] * self.slopes
            add_at(pulls[first:last], pulling[first:last], said)
        shares.pulls.append((self.rows.astype(np.int64), pulls))
        shares.comparisons.append(ComparisonVotes(self, responses))

    def row_pulls(self) -> tuple[Ints, Outputs]:
        """Rows and their largest contributions: a of the anchor (2a without a rival), −a of the rival."""
        if self.space is None:
            return super().row_pulls()
        two = ~self.of_one_point
        rows = self.named_rows[:, 0], self.named_rows[two, 1]
        pulls = self.slopes * (1 + ~two[:, np.newaxis]), -self.slopes[two]
        return np.concatenate(rows), np.concatenate(pulls)

    @classmethod
    def heading(cls, tables: Sequence["Comparisons"]) -> list[str]:
        """Text such as "120 comparisons with 35 training rows", over all spaces."""
        n_rows = n_distinct_values(np.concatenate([table.rows for table in tables]))
        n_comparisons = counted(sum(map(len, tables)), "comparison")
        return [f"{n_comparisons} with {counted(n_rows, 'training row')}"]

    def separated(self) -> Separated:
        """The two classes that each term separates most, by the outputs a."""
        return furthest_apart(self.slopes)

    # ---- model files

    @property
    def placed(self) -> list[Placed]:
        """The space and the examples, if there are any."""
        return [] if self.space is None else [Placed(self.space, self.rows, self.points)]

    @classmethod
    def to_arrays(
        cls, groups: Sequence[tuple[Ints, "Comparisons"]], first_space: int, n_classes: int
    ) -> dict[str, NDArray[Any]]:
        """Comparisons of all spaces in one table, in the order of their positions."""
        tables = [table for _, table in groups]
        places = np.concatenate([np.empty(0, np.int64), *(places for places, _ in groups)])
        order = np.argsort(places, kind="stable")
        with_space = [table for table in tables if table.space is not None]
        number = {id(table): first_space + i for i, table in enumerate(with_space)}
        columns = {
            "kinds": [table.kinds for table in tables],
            "spaces": [np.full(len(table), number.get(id(table), NONE)) for table in tables],
            "anchors": [table.anchors for table in tables],
            "rivals": [table.rivals for table in tables],
            "apart": [table.apart for table in tables],
            "outputs": [table.outputs for table in tables],
        }
        types = {"kinds": np.uint8, "apart": np.float64, "outputs": np.float64}
        empty = {"outputs": np.empty((0, 2, n_classes))}
        return {
            name: np.concatenate([empty.get(name, np.empty(0)), *parts])[order].astype(
                types.get(name, np.int32)
            )
            for name, parts in columns.items()
        }

    @classmethod
    def from_arrays(
        cls, reader: TensorReader, positions: Ints, around: Surroundings
    ) -> list[tuple[Ints, "Comparisons"]]:
        """Read and check comparisons: those of each space become a table."""
        found = _from_tensors(reader, len(positions), around.spaces, around.n_classes)
        return [(positions[own], table) for own, table in found]

    def plain(self, first_space: int, n_levels: Mapping[int, int]) -> list[dict[str, Any]]:
        """Every comparison as plain JSON data."""
        del n_levels
        columns = (self.kinds, self.anchors, self.rivals, self.apart, self.outputs)
        terms = zip(*(column.tolist() for column in columns), strict=True)
        if self.space is None:
            return [{"kind": KINDS[kind], "a": a, "b": b} for kind, *_, (a, b) in terms]
        return [
            {
                "kind": KINDS[kind],
                "space": first_space,
                "anchor": anchor,
                "rival": None if rival == NONE else rival,
                "apart": apart,
                "a": a,
                "b": b,
            }
            for kind, anchor, rival, apart, (a, b) in terms
        ]


def _renumbered(table: Comparisons) -> Comparisons:
    """Keep each example once, in the order in which the terms refer to it."""
    named = np.stack([table.anchors, table.rivals], axis=1).ravel()
    there = named != NONE
    _, first, place = np.unique(table.rows[named[there]], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    renamed = np.full(len(named), NONE, dtype=np.int32)
    renamed[there] = rank[place]
    kept = named[there][first[order]]
    anchors, rivals = np.ascontiguousarray(renamed.reshape(-1, 2).T)
    return replace(
        table, rows=table.rows[kept], points=table.points[kept], anchors=anchors, rivals=rivals
    )


def _from_tensors(
    reader: TensorReader, n: int, spaces: Sequence[Placed], n_classes: int
) -> list[tuple[Ints, Comparisons]]:
    """Read and check `n` comparisons: for each space, their places and a table."""
    kinds = reader.take("similarities.kinds", np.uint8, n)
    require((kinds < len(KINDS)).all(), "a similarity of an unknown kind")
    of_space = reader.indices("similarities.spaces", len(spaces), n, least=NONE)
    anchors = reader.indices("similarities.anchors", 2**31 - 1, n, least=NONE)
    rivals = reader.indices("similarities.rivals", 2**31 - 1, n, least=NONE)
    apart = reader.numbers("similarities.apart", n)
    outputs = reader.numbers("similarities.outputs", n, 2, n_classes)
    constant = kinds == CONSTANT
    named = np.array_equal(constant, of_space == NONE) and np.array_equal(constant, anchors == NONE)
    require(named, "a similarity without an anchor, or a constant with one")
    most = np.array([*(len(each.rows) for each in spaces), 0])[of_space]
    known = (anchors < np.maximum(most, 1)).all() and (rivals < np.maximum(most, 1)).all()
    require(known and (most[~constant] > 0).all(), "a similarity to an example that does not exist")
    pairs = np.isin(kinds, TWO_POINTS)
    require(np.array_equal(pairs, rivals != NONE), "a pair without a rival, or an extra rival")
    require((rivals != anchors)[pairs].all(), "a similarity with its anchor as rival")
    require((apart > 0).all(), "a distance that is not positive")
    found = []
    order = np.argsort(of_space, kind="stable")
    numbers = of_space[order]
    first = np.flatnonzero(np.diff(numbers, prepend=NONE - 1))
    for number, own in zip(numbers[first].tolist(), np.split(order, first[1:]), strict=False):
        none = Placed(None, np.empty(0, np.int32), np.empty((0, 0), np.float32))  # type: ignore[arg-type]
        space, rows, points = spaces[number] if number != NONE else none
        terms = kinds[own], anchors[own], rivals[own], apart[own], outputs[own]
        found.append((own, Comparisons(space, rows, points, *terms)))
    return found
