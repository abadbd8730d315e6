"""Trees without the nodes and leaves that no sample reaches.

Trees have complete layers. Below a node without a split all samples go left, so deep trees consist mostly of
nodes and leaves that no sample reaches. A large file leaves them out, and says which nodes have splits.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import require
from rebelboost.base.distinct import distinct

Arrays = dict[str, NDArray[Any]]
OF_NODES, OF_LEAVES = ("features", "thresholds", "missing_right"), ("outputs", "cover")
IDLE = {"features": -1, "thresholds": np.inf, "missing_right": 0}
"""What nodes without a split have."""
BY_SPLIT = ("splits", "with_table", "table_of_node")
"""Arrays that packed trees have in addition."""
MOST_DEPTH = 12
BYTES_OF_TABLE = 32


def pack_trees(arrays: Arrays) -> Arrays | None:
    """The arrays of all trees, by name, without idle nodes; None if something would be lost."""
    splits = arrays["features"] >= 0
    reached = _reached(arrays["depths"], splits)
    idle = [(arrays[name][~splits] == IDLE[name]).all() for name in OF_NODES]
    empty = [not arrays[name][~reached].any() for name in OF_LEAVES if name in arrays]
    if not all([*idle, *empty, not arrays["signed"].any()]):
        return None
    tables, places = np.unique(arrays["tables"], axis=0, return_inverse=True)
    kept = {name: array for name, array in arrays.items() if name != "table_nodes"}
    kept |= {name: arrays[name][splits] for name in OF_NODES}
    kept |= {name: arrays[name][reached] for name in OF_LEAVES if name in arrays}
    kept |= {"tables": tables, "table_of_node": places.ravel().astype(np.int64)}
    with_table = np.isin(np.flatnonzero(splits), arrays["table_nodes"])
    flags = {"splits": splits, "with_table": with_table, "missing_right": kept["missing_right"]}
    return kept | {name: np.packbits(each, bitorder="little") for name, each in flags.items()}


def unpack_trees(arrays: Arrays, room: int) -> Arrays:
    """All nodes and leaves, of at most `room` bytes.

    Lengths are checked here, and contents where the trees are read.
    """
    needed = {"depths", "tables", *OF_NODES, *BY_SPLIT}
    require(needed <= arrays.keys(), f"no {sorted(needed - arrays.keys())[:1]} of packed trees")
    depths, features, thresholds = (arrays[name] for name in ("depths", "features", "thresholds"))
    fine = depths.dtype == np.uint8 and depths.ndim == 1 and (depths <= MOST_DEPTH).all()
    require(fine, f"a tree deeper than {MOST_DEPTH} layers")
    of_type = features.dtype == np.int32 and thresholds.dtype == np.float64
    require(of_type and features.ndim == thresholds.ndim == 1, "splits of an unknown type")
    places, tables = arrays["table_of_node"], arrays["tables"]
    inside = places.dtype == np.int64 and places.ndim == 1 and tables.shape[1:] == (BYTES_OF_TABLE,)
    require(inside and ((places >= 0) & (places < len(tables))).all(), "unknown tables")
    n_splits, n_nodes = len(features), int(((1 << depths.astype(np.int64)) - 1).sum())
    fits = _n_bytes(arrays, n_nodes, n_nodes + len(depths)) <= room
    require(fits, "trees that are too large for the size of the file")
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
    whole["tables"] = tables[places]
    whole["table_nodes"] = np.flatnonzero(splits)[_bits(arrays["with_table"], n_splits)]
    return whole


def _n_bytes(arrays: Arrays, n_nodes: int, n_leaves: int) -> int:
    """Size of the unpacked trees."""
    rows = dict.fromkeys(OF_NODES, n_nodes) | dict.fromkeys(OF_LEAVES, n_leaves)
    rows["tables"] = len(arrays["table_of_node"])
    return sum(
        n * math.prod(arrays[name].shape[1:]) * arrays[name].itemsize
        for name, n in rows.items()
        if name in arrays
    )


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
    for depth in distinct(depths).tolist():
        own = np.flatnonzero(depths == depth)
        found = np.ones((len(own), 1), dtype=bool)
        for layer in range(depth):
            nodes = first_node[own][:, np.newaxis] + np.arange(2**layer - 1, 2 ** (layer + 1) - 1)
            found = np.stack([found, found & splits[nodes]], axis=2).reshape(len(own), -1)
        reached[first_leaf[own][:, np.newaxis] + np.arange(2**depth)] = found
    return reached
