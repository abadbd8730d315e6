"""Smooth similarities as terms: Σ_i f_i(x)·a_i + b over the examples i of a function, in one space.

Each term is a whole function: f_i(x) = (τ − r_i)/(τ + r_i), where r_i is the squared distance to example i. The
outputs of a smooth function cancel one another widely, so explanations credit features. Those of a kernel
machine pull towards the classes of the examples, so explanations credit these rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    ByClass,
    Floats,
    Indices,
    Ints,
    Outputs,
    Points,
    Regions,
    Scores,
)
from rebelboost.base.cached import cached_property
from rebelboost.base.checks import TensorReader, require
from rebelboost.base.fixed_point import SMALL_ENOUGH, rounded, spacing
from rebelboost.base.hashing import distinct
from rebelboost.data.spaces import Embedding
from rebelboost.model.comparisons import AT_ONCE
from rebelboost.model.shares import RowVotes, Shares, size, slices
from rebelboost.model.terms import Placed, Queries, Separated, StoredTerms, Surroundings

N_NODES = 8
"""Of the integrals from the mean of the training samples to a sample."""
SOME_EXAMPLES = 50
"""Number of examples over which contributions are averaged, for importances."""


@dataclass(frozen=True, eq=False)
class SmoothFunction:
    """One term."""

    space: Embedding
    """Where distances are measured."""
    rows: Indices
    """(E,) rows of the examples in the user's table."""
    points: Points
    """(E, D) the examples as points."""
    tau: float
    """Squared distance at which a similarity is 0."""
    a: Outputs
    """(E, K) outputs of the similarities."""
    b: ByClass
    """(K,) the constant."""
    names_rows: bool = False
    """Whether explanations credit examples, as in a kernel machine, instead of features."""

    def add_scores(self, placed: Points, scores: Scores, n_threads: int) -> None:
        """Add Σ f·a + b of points to (N, K) scores, some points at a time.

        If the outputs are on a grid, the sum is rounded to it, so that sums of terms are exact.
        """
        step = max(16, n_threads * AT_ONCE // len(self.rows))
        added = np.zeros_like(scores) if self.is_on_grid else scores
        for start in range(0, len(placed), step):
            here = placed[start : start + step]
            laid = self.space.lay_out(here)
            found = self.space.distances(laid, self.points, self.rows, n_threads)
            distances = np.ascontiguousarray(found[:, : len(here)])
            part = added[start : start + step]
            kernels.active.add_similarities(distances, self.tau, self.a, self.b, part, n_threads)
        if self.is_on_grid:
            scores += rounded(added, self.unit)

    @cached_property
    def is_on_grid(self) -> bool:
        """Whether values are rounded to the grid of the outputs: it is coarse enough for exact sums."""
        return 0 < self.bound <= SMALL_ENOUGH * self.unit

    @cached_property
    def bound(self) -> float:
        """Limit of the absolute scores."""
        return float((np.abs(self.a).sum(axis=0) + np.abs(self.b)).max(initial=0.0))

    @cached_property
    def unit(self) -> float:
        """Power of two that divides all outputs."""
        return min(spacing(self.a), spacing(self.b))

    def similarities(self, placed: Points) -> Floats:
        """(N, E) f of points."""
        laid = self.space.lay_out(placed)
        distances = self.space.distances(laid, self.points, self.rows, 1)[:, : len(placed)].T
        return (self.tau - distances.astype(np.float64)) / (self.tau + distances)

    def by_row(self, placed: Points, n_threads: int) -> tuple[ByClass, Floats, Floats]:
        """(K,) the mean scores of the examples, and (N, E, K) what each example adds to them.

        That is its output times (N, E) how much more similar it is than to an average example, which comes
        second. The rounding error of the sum is spread in proportion, so that the sum is exact.
        """
        middle = self.b + (self.mean_similarities[:, np.newaxis] * self.a).sum(axis=0)
        at_points = np.zeros((len(placed), len(self.b)))
        self.add_scores(placed, at_points, n_threads)
        beyond = self.similarities(placed) - self.mean_similarities
        return middle, beyond, _summing_to(at_points - middle, beyond[:, :, np.newaxis] * self.a)

    @cached_property
    def mean_similarities(self) -> Floats:
        """(E,) mean f of each example over all examples."""
        return np.asarray(self.similarities(self.points).mean(axis=0))

    def slopes(self, placed: Floats) -> Floats:
        """(N, D, K) derivatives of the scores with respect to the coordinates of points."""
        apart = placed[:, np.newaxis] - self.points
        squared = (apart**2).sum(axis=2)
        fading = -4 * self.tau / (self.tau + squared) ** 2
        found: Floats = np.einsum("ne,ned,ek->ndk", fading, apart, self.a, optimize=True)
        return found

    def by_column(self, placed: Points, n_threads: int) -> tuple[ByClass, Floats]:
        """(K,) the scores at the mean of the training samples, and (N, D, K) what each coordinate adds.

        Derivatives are integrated along the line from the mean [Sundararajan et al. 2017]. The small error
        of the numerical integral is spread in proportion, so that the sum is exact.
        """
        origin, at_origin = np.zeros_like(placed[:1]), np.zeros((1, len(self.b)))
        self.add_scores(origin, at_origin, n_threads)
        at_points = np.zeros((len(placed), len(self.b)))
        self.add_scores(placed, at_points, n_threads)
        points = placed.astype(np.float64)
        added = np.zeros((*placed.shape, len(self.b)))
        for first, last in slices(len(points), self.points.size):
            for node, weight in zip(*nodes_and_weights(), strict=True):
                here = points[first:last]
                added[first:last] += weight * here[:, :, np.newaxis] * self.slopes(node * here)
        return at_origin[0], _summing_to(at_points - at_origin, added)


def nodes_and_weights() -> tuple[Floats, Floats]:
    """Of the integrals, on [0, 1]. Not at the top: NumPy imports polynomials when they are first used."""
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    return (nodes + 1) / 2, weights / 2


def _summing_to(total: Scores, parts: Floats) -> Floats:
    """(N, P, K) parts, changed in proportion to their sizes so that they sum to the (N, K) total."""
    missing = total - parts.sum(axis=1)
    sizes = np.abs(parts) + np.finfo(np.float64).tiny
    found: Floats = parts + missing[:, np.newaxis] * sizes / sizes.sum(axis=1, keepdims=True)
    return found


@dataclass(frozen=True, eq=False)
class SmoothSimilarities(StoredTerms):
    """Smooth functions of the features. Each term is one of them."""

    rank: ClassVar[int] = 1
    is_expensive: ClassVar[bool] = True
    stored_as: ClassVar[str] = "smooth"

    functions: tuple[SmoothFunction, ...]

    @classmethod
    def one(
        cls,
        space: Embedding,
        rows: Indices,
        points: Points,
        tau: float,
        outputs: tuple[Outputs, ByClass],
        *,
        names_rows: bool = False,
    ) -> "SmoothSimilarities":
        """One function, from its outputs a and b."""
        a, b = outputs
        a = np.ascontiguousarray(a)
        return cls((SmoothFunction(space, rows, points, tau, a, b, names_rows),))

    @property
    def credits_features(self) -> bool:  # type: ignore[override]  # kernel machines credit rows
        """Whether the terms have feature importances."""
        return not all(function.names_rows for function in self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    @property
    def outputs(self) -> Outputs:  # type: ignore[override]  # computed: functions differ in size
        """(T, K) the constants of the functions."""
        return np.stack([function.b for function in self.functions])

    @classmethod
    def joined(cls, parts: Sequence["SmoothSimilarities"]) -> "SmoothSimilarities":
        """All functions of the parts."""
        return cls(tuple(function for part in parts for function in part.functions))

    def take(self, chosen: Ints) -> "SmoothSimilarities":
        """Select functions."""
        return SmoothSimilarities(tuple(self.functions[t] for t in chosen.tolist()))

    def scaled(self, factor: float) -> "SmoothSimilarities":
        """The same functions, multiplied by a factor."""
        scaled = (replace(f, a=factor * f.a, b=factor * f.b) for f in self.functions)
        return replace(self, functions=tuple(scaled))

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add functions [first, last)."""
        for function in self.functions[first:last]:
            function.add_scores(queries.placed(function.space), scores, n_threads)

    # ---- exact sums

    @property
    def bound(self) -> float:
        """Limit of the absolute scores that the functions add up to."""
        return sum(function.bound for function in self.functions)

    def fits(self, unit: float) -> bool:
        """Whether all values of the functions are multiples of `unit`."""
        return all(f.bound == 0 or (f.is_on_grid and f.unit >= unit) for f in self.functions)

    def on_grid(self, unit: float) -> "SmoothSimilarities":
        """The same functions with outputs, and so values, rounded to multiples of `unit`."""
        rounder = (replace(f, a=rounded(f.a, unit), b=rounded(f.b, unit)) for f in self.functions)
        return replace(self, functions=tuple(rounder))

    def all_outputs(self) -> Iterator[Outputs]:
        """Yield the outputs of the similarities of each function, and the constants."""
        yield from (function.a for function in self.functions)
        yield self.outputs

    # ---- one function

    @property
    def responses(self) -> None:
        """None: a function has no regions with common responses."""
        return

    @property
    def by_region(self) -> Outputs:
        """(2, K) bounds of the function: all similarities with one sign at −1 and with the other at 1."""
        (function,) = self.functions
        size = np.abs(function.a).sum(axis=0)
        return np.stack([function.b - size, function.b + size])

    def regions(self, queries: Queries, n_threads: int = 1) -> Regions:
        """Raise an error: every sample is a region of its own."""
        raise NotImplementedError("a smooth function of the features has no regions")

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Text such as "a smooth function of the similarity to 400 training rows"."""
        del names
        (function,) = self.functions
        n_examples = len(function.rows)
        if function.names_rows:
            return f"a kernel machine with {n_examples} training rows"
        return f"a smooth function of the similarity to {n_examples} training rows"

    # ---- explanations

    @property
    def example_rows(self) -> Indices:
        """Rows of the examples in the user's table."""
        rows = np.concatenate([function.rows for function in self.functions])
        return distinct(rows).astype(np.int32)

    def share_out(self, queries: Queries, shares: Shares, n_threads: int) -> None:
        """Credit features with what their values add to the scores at the mean of the training samples.

        Kernel machines credit the examples with what they add to the mean scores of all of them.
        """
        for function in self.functions:
            placed = queries.placed(function.space)
            rows = function.rows.astype(np.int64)
            shares.near.append((rows, function.similarities(placed)))
            if function.names_rows:
                middle, beyond, pulls = function.by_row(placed, n_threads)
                shares.baseline += middle
                shares.pulls.append((rows, pulls))
                shares.comparisons.append(RowVotes(rows, beyond, pulls))
                continue
            at_mean, added = function.by_column(placed, n_threads)
            shares.baseline += at_mean
            name = SmoothSimilarities((function,)).describe()
            shares.functions[name] = shares.functions.get(name, 0.0) + added.sum(axis=1)
            for column, feature in enumerate(function.space.feature_of_column.tolist()):
                shares.features[:, feature] += added[:, column]

    def row_pulls(self) -> tuple[Ints, Outputs]:
        """The examples of kernel machines, and what they add to the scores of samples that equal them."""
        named = [function for function in self.functions if function.names_rows]
        if not named:
            return super().row_pulls()
        rows = np.concatenate([function.rows for function in named]).astype(np.int64)
        pulls = [(1 - each.mean_similarities)[:, np.newaxis] * each.a for each in named]
        return rows, np.concatenate(pulls)

    def add_importances(self, sizes: Floats) -> None:
        """Add the size of each feature's contribution, averaged over some of the examples."""
        for function in self.functions:
            if function.names_rows:
                continue
            _, added = function.by_column(function.points[:SOME_EXAMPLES], 1)
            columns = function.space.feature_of_column
            sizes += np.bincount(columns, size(added).mean(axis=0), len(sizes))

    @classmethod
    def heading(cls, tables: Sequence["SmoothSimilarities"]) -> list[str]:
        """Descriptions of all functions, each once."""
        found = [SmoothSimilarities((f,)).describe() for each in tables for f in each.functions]
        return sorted(set(found))

    def separated(self) -> Separated:
        """The two classes whose scores differ most over the examples of each function."""
        pairs = list(combinations(range(self.outputs.shape[1]), 2)) or [(0, 0)]
        found = []
        for function in self.functions:
            scores = function.similarities(function.points) @ function.a + function.b
            apart = [float(np.sqrt(np.mean((scores[:, i] - scores[:, j]) ** 2))) for i, j in pairs]
            best = int(np.argmax(apart))
            found.append((*pairs[best], apart[best]))
        first, second, distance = np.array(found).T
        return Separated(first.astype(np.int64), second.astype(np.int64), distance)

    # ---- model files

    @property
    def placed(self) -> list[Placed]:
        """The space and the examples of each function."""
        return [Placed(each.space, each.rows, each.points) for each in self.functions]

    @classmethod
    def to_arrays(
        cls, groups: Sequence[tuple[Ints, "SmoothSimilarities"]], first_space: int, n_classes: int
    ) -> dict[str, NDArray[Any]]:
        """Arrays of a model file; each function has a space of its own. None without functions."""
        functions = [function for _, table in groups for function in table.functions]
        if not functions:
            return {}
        empty = np.empty((0, n_classes))
        named = np.array([function.names_rows for function in functions], dtype=np.uint8)
        return {
            **({"names_rows": named} if named.any() else {}),
            "spaces": np.arange(first_space, first_space + len(functions), dtype=np.int32),
            "taus": np.array([function.tau for function in functions], dtype=np.float64),
            "outputs": np.concatenate([empty, *(function.a for function in functions)]),
            "offsets": np.concatenate([empty, *(function.b[np.newaxis] for function in functions)]),
        }

    @classmethod
    def from_arrays(
        cls, reader: TensorReader, positions: Ints, around: Surroundings
    ) -> list[tuple[Ints, "SmoothSimilarities"]]:
        """Read and check functions."""
        n = len(positions)
        if n == 0:
            return []
        of_space = reader.indices("smooth.spaces", len(around.spaces), n)
        taus = reader.numbers("smooth.taus", n)
        inside = ((taus > 1e-38) & (taus < 1e38)).all()  # as squared distances, of 32 bits
        require(inside, "a smooth function with a width of 0, or a huge one")
        placed = [around.spaces[i] for i in of_space.tolist()]
        fits = all(isinstance(each.space, Embedding) and len(each.rows) for each in placed)
        require(fits, "a smooth function without examples in a scaled space")
        named = np.zeros(n, dtype=np.uint8)
        if reader.has("smooth.names_rows"):
            named = reader.take("smooth.names_rows", np.uint8, n)
            require((named <= 1).all(), "smooth.names_rows with a value other than 0 and 1")
        counts = [len(each.rows) for each in placed]
        outputs = reader.numbers("smooth.outputs", sum(counts), around.n_classes)
        offsets = reader.numbers("smooth.offsets", n, around.n_classes)
        split = np.split(outputs, np.cumsum(counts)[:-1])
        functions = [
            SmoothFunction(
                each.space, each.rows, each.points, tau, np.ascontiguousarray(a), b, names
            )
            for each, tau, a, b, names in zip(
                placed, taus.tolist(), split, offsets, (named == 1).tolist(), strict=True
            )
        ]
        return [(positions, cls(tuple(functions)))]

    def plain(self, first_space: int, n_levels: Mapping[int, int]) -> list[dict[str, Any]]:
        """Every function as plain JSON data."""
        del n_levels
        return [
            {
                "kind": "smooth",
                "space": first_space + i,
                "tau": function.tau,
                "a": function.a.tolist(),
                "b": function.b.tolist(),
            }
            for i, function in enumerate(self.functions)
        ]
