"""Terms ↔ flat arrays, for files: all trees one after the other, all similarities, and their examples."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    COMPARISONS,
    Bytes,
    Comparisons,
    Floats,
    Ints,
    Outputs,
    Samples,
    Trees,
)
from rebelboost.data.spaces import Space
from rebelboost.exceptions import ModelFileError
from rebelboost.model.comparisons import Comparison, Example
from rebelboost.model.ensemble import Ensemble, Term
from rebelboost.model.packing import ComparisonGroup, ConstantGroup, Group, TreeGroup
from rebelboost.model.trees import GrownTree
from rebelboost.model.wrapped import Wrapped

KINDS = (*COMPARISONS, "constant")
TREE, SIMILARITY = 0, 1
NONE = -1


class FlatTrees(NamedTuple):
    """Trees of complete layers, nodes in level order, one tree after the other."""

    depths: Bytes
    """(trees,)"""
    signed: Bytes
    """(trees,) whether leaves have signs"""
    features: NDArray[np.int32]
    """(nodes,) −1: asks nothing."""
    thresholds: Floats
    missing_right: Bytes
    table_nodes: Ints
    """(tables,) the nodes of categorical features, rising."""
    tables: Bytes
    """(tables, 32) a bit for each code that goes right, the lowest first."""
    signs: NDArray[np.int8]
    """(leaves of trees with signs,)"""
    outputs: Outputs
    """(leaves, K)"""
    cover: Floats | None = None
    """(leaves,) weight of the training samples in each, where it is known; for reasons."""

    @property
    def nodes(self) -> Ints:
        """(trees,) the number of nodes of each."""
        return (1 << self.depths.astype(np.int64)) - 1

    @property
    def right(self) -> Bytes:
        """(tables, 256)."""
        return np.unpackbits(self.tables, axis=1, bitorder="little")


class FlatSimilarities(NamedTuple):
    """Similarities, by the numbers of their spaces and of the spaces' examples."""

    kinds: Bytes
    """(terms,) see `KINDS`."""
    spaces: NDArray[np.int32]
    """(terms,) −1 of a constant."""
    anchors: NDArray[np.int32]
    """(terms,) −1 of a constant."""
    rivals: NDArray[np.int32]
    """(terms,) −1 where there is none."""
    apart: Floats
    outputs: Floats
    """(terms, 2, K)"""


class Examples(NamedTuple):
    """A space, and the training samples that similarities name in it, each once."""

    space: Space
    rows: Samples
    """(m,) in the user's table."""
    points: NDArray[Any]
    """(m, …)"""


class FlatTerms(NamedTuple):
    """All terms of an ensemble."""

    kinds: Bytes
    """(terms,) TREE or SIMILARITY; those of a kind keep their order."""
    trees: FlatTrees
    similarities: FlatSimilarities
    spaces: tuple[Examples, ...]


# ---- terms → arrays


def flatten(ensemble: Ensemble) -> FlatTerms:
    """Lay out the terms of an ensemble."""
    if isinstance(ensemble, FlatEnsemble):
        return ensemble.flat
    terms, n_classes = ensemble.terms, ensemble.n_classes
    foreign = [term.hypothesis for term in terms if isinstance(term.hypothesis, Wrapped)]
    if foreign:
        raise ModelFileError(
            f"a term is a {type(foreign[0].estimator).__name__}, which only its own library knows how "
            "to store: keep the model with pickle or skops, or train with Tree, Stump or Similarity"
        )
    trees = [term for term in terms if isinstance(term.hypothesis, GrownTree)]
    compared = [term for term in terms if isinstance(term.hypothesis, Comparison)]
    similarities, spaces = _flat_similarities(compared, n_classes)
    kinds = [TREE if isinstance(term.hypothesis, GrownTree) else SIMILARITY for term in terms]
    return FlatTerms(
        np.array(kinds, dtype=np.uint8), _flat_trees(trees, n_classes), similarities, spaces
    )


def _flat_trees(terms: Sequence[Term], n_classes: int) -> FlatTrees:
    found: list[Any] = [term.hypothesis for term in terms]
    sizes = np.array([len(tree.features) for tree in found], dtype=np.int64)
    first = np.cumsum(sizes) - sizes
    tables = {
        int(at) + node: table
        for at, tree in zip(first, found, strict=True)
        for node, table in sorted(tree.tables.items())
    }
    flags = np.stack(list(tables.values())) if tables else np.empty((0, 256), dtype=np.uint8)
    return FlatTrees(
        np.array([tree.depth for tree in found], dtype=np.uint8),
        np.array([tree.signs is not None for tree in found], dtype=np.uint8),
        _joined([tree.features for tree in found], np.int32),
        _joined([tree.thresholds for tree in found], np.float64),
        _joined([tree.missing_right for tree in found], np.uint8),
        np.array(list(tables), dtype=np.int64),
        np.packbits(flags, axis=1, bitorder="little"),
        _joined([tree.signs for tree in found if tree.signs is not None], np.int8),
        np.concatenate([np.empty((0, n_classes)), *(term.outputs for term in terms)]),
        _joined([tree.cover for tree in found], np.float64)
        if all(tree.cover is not None for tree in found)
        else None,
    )


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=dtype), *parts]).astype(dtype, copy=False)


def _flat_similarities(
    terms: Sequence[Term], n_classes: int
) -> tuple[FlatSimilarities, tuple[Examples, ...]]:
    found: list[Any] = [term.hypothesis for term in terms]
    spaces: dict[int, Space] = {}
    kept: dict[int, dict[int, Example]] = {}
    for each in found:
        if each.space is not None:
            spaces[id(each.space)] = each.space
            examples = kept.setdefault(id(each.space), {})
            examples |= {e.row: e for e in each.examples if e.row not in examples}
    number = {key: i for i, key in enumerate(spaces)}
    place = {key: {row: i for i, row in enumerate(examples)} for key, examples in kept.items()}

    def places(each: Comparison) -> list[int]:
        at = [place[id(each.space)][e.row] for e in each.examples]
        return [*at, NONE, NONE][:2]

    anchors, rivals = np.array([places(each) for each in found], dtype=np.int32).reshape(-1, 2).T
    flat = FlatSimilarities(
        np.array([KINDS.index(each.kind) for each in found], dtype=np.uint8),
        np.array([number.get(id(each.space), NONE) for each in found], dtype=np.int32),
        np.ascontiguousarray(anchors),
        np.ascontiguousarray(rivals),
        np.array([each.apart for each in found], dtype=np.float64),
        np.array([term.outputs for term in terms], dtype=np.float64).reshape(-1, 2, n_classes),
    )
    return flat, tuple(_examples(spaces[key], kept[key]) for key in spaces)


def _examples(space: Space, examples: dict[int, Example]) -> Examples:
    points = np.stack([example.point for example in examples.values()])
    return Examples(space, np.array(list(examples), dtype=np.int32), points)


# ---- arrays → terms


class FlatEnsemble(Ensemble):
    """An ensemble that was read from a file: predicts from its arrays, makes terms of them if asked."""

    flat: FlatTerms

    def __init__(self, flat: FlatTerms, n_classes: int, unavoidable_cost: float) -> None:
        for name, value in (
            ("flat", flat),
            ("n_classes", n_classes),
            ("unavoidable_cost", unavoidable_cost),
        ):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.flat.kinds)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms."""
        trees, similarities = iter(_terms_of_trees(self.flat)), iter(_terms_compared(self.flat))
        return tuple(next(trees if kind == TREE else similarities) for kind in self.flat.kinds)

    @cached_property
    def groups(self) -> list[Group]:
        """The terms as arrays, by their kind."""
        found: list[Group] = []
        if len(self.flat.trees.depths):
            places = np.flatnonzero(self.flat.kinds == TREE)
            found.append(TreeGroup(places, packed_trees(self.flat.trees)))
        found += _groups_compared(self.flat)
        return sorted(found, key=lambda group: int(group.positions[0]))


def _terms_of_trees(flat: FlatTerms) -> list[Term]:
    trees = flat.trees
    right = trees.right
    ends = np.cumsum(trees.nodes)
    first_sign, found = 0, []
    for t, (n, last) in enumerate(zip(trees.nodes.tolist(), ends.tolist(), strict=True)):
        own, leaves = slice(last - n, last), slice(last - n + t, last + t + 1)
        tables = range(*np.searchsorted(trees.table_nodes, [last - n, last]).tolist())
        signs = None
        if trees.signed[t]:
            signs = trees.signs[first_sign : first_sign + n + 1]
            first_sign += n + 1
        tree = GrownTree(
            trees.features[own],
            trees.thresholds[own],
            trees.missing_right[own],
            {int(trees.table_nodes[i]) - (last - n): right[i] for i in tables},
            signs,
            None if trees.cover is None else trees.cover[leaves],
        )
        found.append(Term(tree, trees.outputs[leaves]))
    return found


def packed_trees(flat: FlatTrees) -> Trees:
    """Trees for prediction; see `packing.pack_trees`."""
    category = np.full(len(flat.features), NONE, dtype=np.int32)
    category[flat.table_nodes] = np.arange(len(flat.table_nodes), dtype=np.int32)
    nodes = flat.nodes
    return Trees(
        flat.depths.astype(np.int32),
        np.cumsum(nodes) - nodes,
        np.cumsum(nodes + 1) - (nodes + 1),
        np.maximum(flat.features, 0),
        flat.thresholds,
        flat.missing_right,
        category,
        flat.right,
        flat.outputs,
    )


def _terms_compared(flat: FlatTerms) -> list[Term]:
    examples = [
        [Example(int(row), point) for row, point in zip(each.rows, each.points, strict=True)]
        for each in flat.spaces
    ]
    columns = (column.tolist() for column in flat.similarities[:5])
    return [
        Term(
            Comparison(KINDS[kind])
            if space == NONE
            else Comparison(
                KINDS[kind],
                flat.spaces[space].space,
                examples[space][anchor],
                examples[space][rival] if rival != NONE else None,
                apart,
            ),
            outputs,
        )
        for kind, space, anchor, rival, apart, outputs in zip(
            *columns, flat.similarities.outputs, strict=True
        )
    ]


def _groups_compared(flat: FlatTerms) -> list[Group]:
    all_of_them = flat.similarities
    positions = np.flatnonzero(flat.kinds == SIMILARITY)
    found: list[Group] = []
    for space in np.unique(all_of_them.spaces).tolist():
        chosen = np.flatnonzero(all_of_them.spaces == space)
        own = FlatSimilarities._make(column[chosen] for column in all_of_them)
        if space == NONE:
            found.append(ConstantGroup(positions[chosen], own.outputs.sum(axis=1)))
            continue
        comparisons = Comparisons(
            own.anchors,
            np.where(own.rivals == NONE, own.anchors, own.rivals),
            own.kinds.astype(np.int32),
            own.apart,
            np.ascontiguousarray(own.outputs[:, 0]),
            np.ascontiguousarray(own.outputs[:, 1]),
        )
        named = flat.spaces[space]
        found.append(
            ComparisonGroup(positions[chosen], named.space, comparisons, named.rows, named.points)
        )
    return found
