"""Trees without the nodes and leaves that no sample reaches.

Trees have complete layers. Below a node without a split all samples go left, so deep trees consist mostly of
nodes and leaves that no sample reaches. A large file leaves them out, and says which nodes have splits.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import require

Arrays = dict[str, NDArray[Any]]
OF_NODES, OF_LEAVES = ("features", "thresholds", "missing_right"), ("outputs", "cover")
IDLE = {"features": -1, "thresholds": np.inf, "missing_right": 0}
"""What nodes without a split have."""
BY_SPLIT = ("splits", "with_table", "table_of_node")
"""Arrays that packed trees have in addition."""
MOST_DEPTH = 12
FREE, MOST_TIMES = 1 << 14, 16
"""Limits of the number of nodes: so many are free, and beyond that so many times those with splits."""


def pack_trees(arrays: Arrays) -> Arrays | None:
    """The arrays of all trees, by name, without idle nodes; None if something would be lost."""
    splits = arrays["features"] >= 0
    reached = _reached(arrays["depths"], splits)
    idle = [(arrays[name][~splits] == IDLE[name]).all() for name in OF_NODES]
    empty = [not arrays[name][~reached].any() for name in OF_LEAVES if name in arrays]
    small = len(splits) <= FREE + MOST_TIMES * np.count_nonzero(splits)
    if not all([*idle, *empty, small, not arrays["signed"].any()]):
        return None
    tables, places = np.unique(arrays["tables"], axis=0, return_inverse=True)
    kept = {name: array for name, array in arrays.items() if name != "table_nodes"}
    kept |= {name: arrays[name][splits] for name in OF_NODES}
    kept |= {name: arrays[name][reached] for name in OF_LEAVES if name in arrays}
    kept |= {"tables": tables, "table_of_node": places.ravel().astype(np.int64)}
    with_table = np.isin(np.flatnonzero(splits), arrays["table_nodes"])
    flags = {"splits": splits, "with_table": with_table, "missing_right": kept["missing_right"]}
    return kept | {name: np.packbits(each, bitorder="little") for name, each in flags.items()}


def unpack_trees(arrays: Arrays) -> Arrays:
    """All nodes and leaves. Lengths are checked here, and contents where the trees are read."""
    needed = {"depths", "tables", *OF_NODES, *BY_SPLIT}
    require(needed <= arrays.keys(), f"no {sorted(needed - arrays.keys())[:1]} of packed trees")
    require(arrays["features"].ndim == 1, "trees whose arrays differ in length")
    depths, n_splits = arrays["depths"], len(arrays["features"])
    fine = depths.dtype == np.uint8 and depths.ndim == 1 and (depths <= MOST_DEPTH).all()
    require(fine, f"a tree deeper than {MOST_DEPTH} layers")
    n_nodes = int(((1 << depths.astype(np.int64)) - 1).sum())
    require(n_nodes <= FREE + MOST_TIMES * n_splits, "trees of more nodes than their splits allow")
    splits = _bits(arrays["splits"], n_nodes)
    require(np.count_nonzero(splits) == n_splits, "trees with other splits than they say")
    reached = _reached(depths, splits)
    missing_right = _bits(arrays["missing_right"], n_splits).astype(np.uint8)
    arrays = arrays | {"missing_right": missing_right}
    names = [name for name in (*OF_NODES, *OF_LEAVES) if name in arrays]
    n_reached = int(np.count_nonzero(reached))
    lengths = dict.fromkeys(OF_NODES, n_splits) | dict.fromkeys(OF_LEAVES, n_reached)
    require(
        all(arrays[name].ndim > 0 and len(arrays[name]) == lengths[name] for name in names),
        "trees whose arrays differ in length",
    )
    whole = {name: array for name, array in arrays.items() if name not in BY_SPLIT}
    for name in OF_NODES:
        whole[name] = np.full(n_nodes, IDLE[name], dtype=arrays[name].dtype)
        whole[name][splits] = arrays[name]
    for name in (name for name in OF_LEAVES if name in arrays):
        found = arrays[name]
        whole[name] = np.zeros((len(reached), *found.shape[1:]), dtype=found.dtype)
        whole[name][reached] = found
    places = arrays["table_of_node"]
    inside = places.dtype == np.int64 and places.ndim == 1 and arrays["tables"].ndim == 2
    require(inside and ((places >= 0) & (places < len(arrays["tables"]))).all(), "unknown tables")
    whole["tables"] = arrays["tables"][places]
    whole["table_nodes"] = np.flatnonzero(splits)[_bits(arrays["with_table"], n_splits)]
    return whole


def _bits(packed: NDArray[Any], n: int) -> NDArray[np.bool_]:
    fits = packed.dtype == np.uint8 and packed.shape == (-(-n // 8),)
    require(fits, "trees whose arrays differ in length")
    return np.unpackbits(packed, count=n, bitorder="little").astype(bool)


def _reached(depths: NDArray[np.uint8], splits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(leaves,) whether a sample can reach each leaf, given the nodes with splits."""
    n_nodes = (1 << depths.astype(np.int64)) - 1
    first_node = np.cumsum(n_nodes) - n_nodes
    first_leaf = first_node + np.arange(len(depths))
    reached = np.empty(int(n_nodes.sum()) + len(depths), dtype=bool)
    for depth in np.unique(depths).tolist():
        own = np.flatnonzero(depths == depth)
        found = np.ones((len(own), 1), dtype=bool)
        for layer in range(depth):
            nodes = first_node[own][:, np.newaxis] + np.arange(2**layer - 1, 2 ** (layer + 1) - 1)
            found = np.stack([found, found & splits[nodes]], axis=2).reshape(len(own), -1)
        reached[first_leaf[own][:, np.newaxis] + np.arange(2**depth)] = found
    return reached
