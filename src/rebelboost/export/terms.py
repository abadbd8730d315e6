"""The terms of a model as plain arrays, by kind. `KINDS` lists what can be exported."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Floats, Ints, Points
from rebelboost.base.fixed_point import product_factors, spacing
from rebelboost.data.exact_space import ExactSpace
from rebelboost.data.level_means import LevelMeans
from rebelboost.data.spaces import Embedding
from rebelboost.exceptions import ExportError
from rebelboost.model.coded_trees import with_codes
from rebelboost.model.comparisons import Comparisons
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.smooth import SmoothFunction, SmoothSimilarities
from rebelboost.model.terms import Terms
from rebelboost.model.trees import Trees

Integers = NDArray[np.integer[Any]]
LARGEST_INTEGER = 32767
"""Of an output in units of its tree."""
REMEDY = (
    'train with learner="auto", Tree, Stump, Similarity or SmoothSimilarity with a Euclidean metric'
)


class TreeTable(NamedTuple):
    """Trees whose tests look at a byte of the sample, as in `model.coded_trees`."""

    features: Integers
    """(C,) feature of each column of codes, or d + i for means of levels; those of numbers come first."""
    starts: Integers
    """(columns of numbers + 1,) where the thresholds of each begin."""
    thresholds: Floats
    """The code of a number is how many of its column's thresholds it exceeds."""
    missing: Integers
    """(C,) code of missing values."""
    mean_features: Integers
    """(M,) categorical features whose codes stand for numbers."""
    mean_starts: Integers
    """(M + 1,) where these numbers begin: of each code, of other codes, and of missing values."""
    mean_values: Floats
    mean_pairs: Integers
    """(M,) place of the pairs of categories that have numbers instead, or −1; empty if there are none."""
    pair_features: Integers
    """(P,) the second feature of the pairs; `mean_features` has the first."""
    pair_starts: Integers
    """(P + 1,) where their keys begin."""
    pair_keys: Integers
    """Sorted: 65,536 times the first code plus the second. All other pairs have the number after them."""
    sizes: Integers
    """(T,) number of splits of each tree; it has one leaf more."""
    nodes: Integers
    """(splits, 3) column, test, and number of splits to the left.

    A split is followed by those to its left, then those to its right. The test is a code that must be exceeded
    to go right, or 256 + a set of codes that go right.
    """
    sets: Bytes
    """(sets, 32) a bit for each code."""
    units: Floats
    """(T,) unit of each tree's outputs; empty if these are no small integers."""
    outputs: Floats
    """(leaves, K) in these units, if there are any."""


class SpaceTable(NamedTuple):
    """A mapping of samples to points, and the points of the examples."""

    numeric: Integers
    """Features that are numbers."""
    indicated: Integers
    """Features that have an indicator of missing values."""
    leveled: Integers
    """Features that are categories."""
    counts: Integers
    """Number of categories of each."""
    fill: Floats
    """(d,) values that replace missing numbers."""
    offset: Floats
    """(D,)"""
    factor: Floats
    """(D,)"""
    turn: Integers
    """(D, D) integers of the whitening matrix; empty if there is none."""
    turn_unit: float
    points: Points
    """(E, D)"""


class ComparisonTable(NamedTuple):
    """Comparisons in one space."""

    space: SpaceTable
    kinds: Integers
    anchors: Integers
    rivals: Integers
    """The anchor where there is no rival."""
    apart: Floats
    slopes: Floats
    """(T, K) a of f·a + b."""
    offsets: Floats
    """(T, K) b."""


class SmoothTable(NamedTuple):
    """A smooth function."""

    space: SpaceTable
    tau: float
    outputs: Floats
    """(E, K)"""
    offset: Floats
    """(K,)"""
    unit: float
    """To which values are rounded before they are added; 0: not at all."""


class ConstantTable(NamedTuple):
    """Constants that are added to the scores."""

    outputs: Floats
    """(T, K)"""


Table = TreeTable | ComparisonTable | SmoothTable | ConstantTable


class Step(NamedTuple):
    """Terms [first, last) of a table, which are added next."""

    table: int
    first: int
    last: int


class Sum(NamedTuple):
    """A sum of terms."""

    n_outputs: int
    tables: tuple[Table, ...]
    steps: tuple[Step, ...]
    is_exact: bool
    """Whether nothing is rounded in the sum, so that its order does not matter."""


def sum_arrays(ensemble: Ensemble) -> Sum:
    """The terms of an ensemble, and the order in which they are added.

    The order changes nothing if the sums are exact. Those of a single fit that was not averaged are not.
    """
    first_table = first_tables(ensemble)
    tables = [table for _, terms in ensemble.groups for table in _tables(terms)]
    n_terms = len(ensemble)
    whole = [(g, 0, len(group.terms)) for g, group in enumerate(ensemble.groups)]
    runs = whole if ensemble.is_exact else list(ensemble.runs(0, n_terms))
    steps = []
    for group, first, last in runs:
        if isinstance(ensemble.groups[group].terms, SmoothSimilarities):  # a table each
            steps += [Step(first_table[group] + t, 0, 1) for t in range(first, last)]
        else:
            steps.append(Step(first_table[group], first, last))
    return Sum(ensemble.n_classes, tuple(tables), tuple(steps), ensemble.is_exact)


def first_tables(ensemble: Ensemble) -> list[int]:
    """Place of the first table of each group of terms: a smooth function has a table of its own."""
    sizes = [len(t) if isinstance(t, SmoothSimilarities) else 1 for _, t in ensemble.groups]
    return [sum(sizes[:g]) for g in range(len(sizes))]


def _tables(terms: Terms) -> Sequence[Table]:
    if type(terms) not in KINDS:
        raise ExportError(
            f"the model has {terms.heading([terms])[0]}, which only Python can compute: {REMEDY}"
        )
    return KINDS[type(terms)](terms)


# ---- trees


def _trees(trees: Trees) -> list[Table]:
    found = with_codes(trees)
    if found is None:
        raise ExportError(
            "the trees split categories into more than 65,000 different sets, or test more than 65,000 "
            "columns: train fewer trees"
        )
    columns, means = found.columns, trees.level_means
    n_numbers = int(np.count_nonzero(columns.categorical == 0))
    sizes, nodes, skips, leaves = splits_in_order(trees)
    outputs = trees.outputs[leaves]
    units = tree_units(outputs, sizes)
    return [
        TreeTable(
            columns.features,
            columns.starts[: n_numbers + 1],
            columns.thresholds,
            columns.missing,
            _ints([each.feature for each in means]),
            np.cumsum([0, *(len(each.values) for each in means)]),
            np.concatenate([np.empty(0), *(each.values for each in means)]),
            *_pairs(means),
            sizes,
            np.column_stack([found.trees.nodes[nodes], skips]),
            found.trees.sets,
            units,
            outputs / np.repeat(units, sizes + 1)[:, np.newaxis] if len(units) else outputs,
        )
    ]


def _pairs(means: Sequence[LevelMeans]) -> tuple[Integers, Integers, Integers, Integers]:
    """The pairs of categories that means refer to, each once; see `TreeTable`."""
    crossings = {(e.feature, e.crossing.key): e.crossing for e in means if e.crossing}
    number = {key: i for i, key in enumerate(crossings)}
    found = crossings.values()
    places = [number[e.feature, e.crossing.key] if e.crossing else -1 for e in means]
    return (
        _ints(places if crossings else []),
        _ints([each.other for each in found]),
        np.cumsum([0, *(len(each.keys) for each in found)]),
        np.concatenate([np.empty(0, dtype=np.uint32), *(each.keys for each in found)]),
    )


def splits_in_order(trees: Trees) -> tuple[Ints, Ints, Ints, Ints]:
    """Number of splits of each tree, the splits, the number of them to the left of each, and the leaves.

    Nodes without a split are left out, with all that is to their right.
    """
    nodes, skips, leaves = list[int](), list[int](), list[int]()
    is_split = (trees.features >= 0).tolist()

    def visit(root: int, n_nodes: int, place: int) -> int:
        while place < n_nodes and not is_split[root + place]:
            place = 2 * place + 1
        if place >= n_nodes:
            leaves.append(place - n_nodes)
            return 0
        nodes.append(root + place)
        own = len(skips)
        skips.append(0)
        skips[own] = visit(root, n_nodes, 2 * place + 1)
        return 1 + skips[own] + visit(root, n_nodes, 2 * place + 2)

    roots = zip(trees.node_offsets.tolist(), trees.n_nodes.tolist(), strict=True)
    sizes = np.array([visit(root, n_nodes, 0) for root, n_nodes in roots], dtype=np.int64)
    first_leaf = np.repeat(trees.leaf_offsets, sizes + 1)
    return sizes, _ints(nodes), _ints(skips), first_leaf + _ints(leaves)


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def tree_units(outputs: Floats, sizes: Ints) -> Floats:
    """(T,) powers of two of which each tree's outputs are small multiples; empty if one has none."""
    units = np.empty(len(sizes))
    for t, own in enumerate(np.split(outputs, np.cumsum(sizes + 1)[:-1])):
        unit = spacing(own)
        units[t] = unit if np.isfinite(unit) else 1.0
        if np.abs(own).max(initial=0.0) > LARGEST_INTEGER * units[t]:
            return np.empty(0)
    return units


# ---- similarities


def _comparisons(table: Comparisons) -> list[Table]:
    if table.space is None:
        return [ConstantTable(table.outputs.sum(axis=1))]
    compared = table.compared
    return [
        ComparisonTable(
            _space(table.space, table.points),
            table.kinds,
            compared.anchors,
            compared.rivals,
            table.apart,
            compared.outputs,
            compared.offsets,
        )
    ]


def _smooth(table: SmoothSimilarities) -> list[Table]:
    return [_function(function) for function in table.functions]


def _function(function: SmoothFunction) -> Table:
    unit = function.unit if function.is_on_grid else 0.0
    space = _space(function.space, function.points)
    return SmoothTable(space, float(function.tau), function.a, function.b, unit)


def _space(space: Any, points: NDArray[Any]) -> SpaceTable:
    if isinstance(space, ExactSpace):
        raise ExportError(
            "the model compares points in double precision, to the letter of the papers, which only Python "
            "can compute: train with Similarity, whose responses are rounded"
        )
    if not isinstance(space, Embedding):
        raise ExportError(
            f"the model measures distances by {type(space).__name__.lower()} values or a metric other than "
            f"the Euclidean one, which only Python can compute: {REMEDY}"
        )
    numeric = np.ones(len(space.fill), dtype=bool)
    numeric[list(space.levels)] = False
    turn, exponent = np.empty((0, 0)), 0
    if space.turn is not None:
        turn, exponent = product_factors(space.turn)
    return SpaceTable(
        np.flatnonzero(numeric),
        space.indicated,
        np.array(list(space.levels), dtype=np.int64),
        np.array(list(space.levels.values()), dtype=np.int64),
        space.fill,
        space.offset,
        space.factor,
        turn.astype(np.int64),
        float(np.ldexp(1.0, exponent)),
        points,
    )


KINDS: dict[type[Terms], Callable[[Any], Sequence[Table]]] = {
    Trees: _trees,
    Comparisons: _comparisons,
    SmoothSimilarities: _smooth,
}
"""How the terms of each kind become tables."""
