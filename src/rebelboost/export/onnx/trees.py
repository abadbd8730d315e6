"""Trees as nodes of ONNX: one operator finds the leaves, whose outputs are then looked up and added.

Sets of categories become columns that are 0 or 1, since few programs compute with sets in double precision.
"""

from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.exceptions import ExportError
from rebelboost.export.onnx.graph import Graph, Value
from rebelboost.export.terms import TreeTable

FIRST_SET = 256
"""Tests from here on are sets of codes."""
MOST_LEAVES = 1 << 24
"""The operator returns numbers of leaves in single precision."""
N_CODES = 255
"""Codes of categories are below this."""


def leaves_of(graph: Graph, table: TreeTable, X: Value, n_features: int) -> Value:
    """(N, T) the leaf of each tree that a sample reaches, numbered over all trees."""
    if int((table.sizes + 1).sum()) > MOST_LEAVES:
        raise ExportError(
            f"the trees have more than {MOST_LEAVES:,} leaves, which ONNX's trees cannot number: train fewer"
        )
    n_numbers = len(table.starts) - 1
    nodes = table.nodes.reshape(-1, 3)
    is_set = nodes[:, 0] >= n_numbers
    sets, set_of_node = np.unique(nodes[is_set, :2], axis=0, return_inverse=True)
    columns = [_number(graph, table, X, int(f), n_features) for f in table.features[:n_numbers]]
    columns += [_membership(graph, table, X, column, test) for column, test in sets.tolist()]
    features, thresholds = nodes[:, 0].astype(np.int64), np.full(len(nodes), 0.5)
    thresholds[~is_set] = table.thresholds[
        table.starts[features[~is_set]] + nodes[~is_set, 1].astype(np.int64)
    ]
    missing = table.missing[features] > nodes[:, 1]
    features[is_set] = n_numbers + set_of_node.ravel()
    values = graph.joined(columns, 1) if columns else X
    found = graph.node(
        "TreeEnsembleRegressor",
        values,
        domain="ai.onnx.ml",
        **_attributes(table, _Tests(features, thresholds, ~missing)),
    )
    return found.cast(np.int64)


def _number(graph: Graph, table: TreeTable, X: Value, feature: int, n_features: int) -> Value:
    """(N, 1) a feature, or the number that a category stands for."""
    if feature < n_features:
        return X.take([feature], 1)
    own = feature - n_features
    means = table.mean_values[int(table.mean_starts[own]) : int(table.mean_starts[own + 1])]
    if len(table.mean_pairs) and (pair := int(table.mean_pairs[own])) >= 0:
        return graph.constant(means).take(_place_of_pair(graph, table, X, own, pair), 0)
    code = _code(graph, X, int(table.mean_features[own]), len(means) - 2)
    return graph.constant(means).take(code, 0)


def _place_of_pair(graph: Graph, table: TreeTable, X: Value, own: int, pair: int) -> Value:
    """(N, 1) place of a pair of categories among those that have numbers of their own, or that after them."""
    keys = table.pair_keys[int(table.pair_starts[pair]) : int(table.pair_starts[pair + 1])]
    first, second = (
        X.take([int(f)], 1) for f in (table.mean_features[own], table.pair_features[pair])
    )
    inside = [(x >= 0.0) & (x < 65536.0) for x in (first, second)]
    key = graph.where(inside[0] & inside[1], first * 65536.0 + second, -1.0)
    before = np.arange(len(keys), dtype=np.float64)[np.newaxis] - len(keys)
    hits = graph.where(key.equals(keys[np.newaxis].astype(np.float64)), before, 0.0)
    return (hits.least(1) + float(len(keys))).cast(np.int64)


def _membership(graph: Graph, table: TreeTable, X: Value, column: int, test: int) -> Value:
    """(N, 1) 1 where the category goes right, 0 elsewhere."""
    right = np.unpackbits(table.sets.reshape(-1, 32)[test - FIRST_SET], bitorder="little")
    others = right[table.missing[column]]
    outputs = np.append(right[:N_CODES], [others, others]).astype(np.float64)
    return graph.constant(outputs).take(_code(graph, X, int(table.features[column]), N_CODES), 0)


def _code(graph: Graph, X: Value, feature: int, n: int) -> Value:
    """(N, 1) code of a category; n for others, and n + 1 where it is missing."""
    x = X.take([feature], 1)
    code = graph.where((x >= 0.0) & (x < float(n)), x, float(n))
    return graph.where(x.is_nan(), float(n + 1), code).cast(np.int64)


class _Tests(NamedTuple):
    features: Any
    thresholds: Floats
    """Larger numbers go right."""
    missing_left: Any


def _attributes(table: TreeTable, tests: _Tests) -> dict[str, Any]:
    """Of the operator: each tree has a target of its own, to which it adds the number of the leaf."""
    from onnx import numpy_helper

    nodes = _Nodes(table)
    source = np.array(nodes.split, dtype=np.int64)
    is_split = source >= 0
    features, thresholds = np.zeros(len(source), dtype=np.int64), np.zeros(len(source))
    left = np.zeros(len(source), dtype=np.int64)
    features[is_split] = tests.features[source[is_split]]
    thresholds[is_split] = tests.thresholds[source[is_split]]
    left[is_split] = tests.missing_left[source[is_split]]
    leaves = np.flatnonzero(~is_split)
    return {
        "n_targets": len(table.sizes),
        "nodes_treeids": nodes.tree,
        "nodes_nodeids": nodes.place,
        "nodes_featureids": features.tolist(),
        "nodes_values_as_tensor": numpy_helper.from_array(thresholds),
        "nodes_modes": ["BRANCH_LEQ" if split else "LEAF" for split in is_split.tolist()],
        "nodes_missing_value_tracks_true": left.tolist(),
        "nodes_truenodeids": nodes.left,
        "nodes_falsenodeids": nodes.right,
        "target_treeids": [nodes.tree[i] for i in leaves],
        "target_nodeids": [nodes.place[i] for i in leaves],
        "target_ids": [nodes.tree[i] for i in leaves],
        "target_weights_as_tensor": numpy_helper.from_array(
            np.arange(len(leaves), dtype=np.float64)
        ),
    }


class _Nodes:
    """Splits and leaves, tree by tree; a split is followed by its left side, then by its right side."""

    def __init__(self, table: TreeTable) -> None:
        self.skips = table.nodes.reshape(-1, 3)[:, 2].tolist()
        self.split: list[int] = []
        """−1: a leaf."""
        self.tree: list[int] = []
        self.place: list[int] = []
        """Number of the node within its tree."""
        self.left: list[int] = []
        self.right: list[int] = []
        first = 0
        for tree, size in enumerate(table.sizes.tolist()):
            self._visit(first, size, tree, 0)
            first += size

    def _visit(self, split: int, size: int, tree: int, place: int) -> None:
        """Add a branch with so many splits."""
        skip = int(self.skips[split]) if size else 0
        left, right = (place + 1, place + 2 * skip + 2) if size else (0, 0)
        self.split.append(split if size else -1)
        self.tree.append(tree)
        self.place.append(place)
        self.left.append(left)
        self.right.append(right)
        if size:
            self._visit(split + 1, skip, tree, left)
            self._visit(split + 1 + skip, size - skip - 1, tree, right)
