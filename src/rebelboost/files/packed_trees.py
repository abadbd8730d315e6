"""Trees without the nodes and leaves that no sample reaches.

Trees have complete layers. Below a node without a split all samples go left, so deep trees consist mostly of
nodes and leaves that no sample reaches. A large file leaves them out, and says which nodes have splits.
Outputs that were rounded to few bits (`Trees.on_grid`) are stored as 16-bit integers, with a power of two
for each tree. The thresholds of a feature are stored once each.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Room, require
from rebelboost.base.hashing import distinct

Arrays = dict[str, NDArray[Any]]
OF_NODES, OF_LEAVES = ("features", "thresholds", "missing_right"), ("outputs", "cover")
IDLE = {"features": -1, "thresholds": np.inf, "missing_right": 0}
"""What nodes without a split have."""
BY_SPLIT = ("splits", "with_table", "table_of_node")
"""Arrays that packed trees have in addition."""
COUNTS, BALANCED, EXPONENTS = "counts", "balanced_counts", "exponents"
"""Outputs as integers; without the last column where rows sum to 0; and the powers of two of the trees."""
LARGEST_COUNT = (1 << 15) - 1
CUTS, N_CUTS, RANKS = "cuts", "n_cuts", "ranks"
"""Thresholds of each feature; how many it has; and the place of each split's threshold among them."""
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
    kept |= {name: np.packbits(each, bitorder="little") for name, each in flags.items()}
    counted = _counted(
        kept["outputs"],
        np.repeat(np.arange(len(arrays["depths"])), _n_leaves(arrays["depths"]))[reached],
    )
    if counted is not None:
        del kept["outputs"]
        kept |= counted
    return kept | _ranked(kept["features"], kept.pop("thresholds"))


def _ranked(features: NDArray[np.int32], thresholds: NDArray[np.float64]) -> Arrays:
    """The thresholds of each feature, and the rank of each split's threshold among them, by their bits."""
    bits = np.ascontiguousarray(thresholds).view(np.int64)
    order = np.lexsort((bits, features))
    owner, sorted_bits = features[order], bits[order]
    new = (np.diff(owner, prepend=-1) != 0) | (np.diff(sorted_bits, prepend=0) != 0)
    n_cuts = np.bincount(owner[new]).astype(np.int32)
    place = np.cumsum(new) - 1
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = place - (np.cumsum(n_cuts) - n_cuts)[owner]
    return {CUTS: sorted_bits[new].view(np.float64), N_CUTS: n_cuts, RANKS: ranks}


def _with_thresholds(arrays: Arrays) -> Arrays:
    """The arrays with a threshold for each split."""
    there = {"features", CUTS, N_CUTS, RANKS} <= arrays.keys() and "thresholds" not in arrays
    require(there, "splits without a threshold")
    features, cuts, n_cuts, ranks = (arrays[name] for name in ("features", CUTS, N_CUTS, RANKS))
    whole = all(a.dtype == np.int32 and a.ndim == 1 for a in (features, n_cuts, ranks))
    require(whole and cuts.dtype == np.float64 and cuts.ndim == 1, "splits of an unknown type")
    known = len(ranks) == len(features) and ((features >= 0) & (features < len(n_cuts))).all()
    counted = (n_cuts >= 0).all() and n_cuts.sum(dtype=np.int64) == len(cuts)
    require(known and counted, "splits without a threshold")
    require(((ranks >= 0) & (ranks < n_cuts[features])).all(), "splits without a threshold")
    first = np.cumsum(n_cuts, dtype=np.int64) - n_cuts
    kept = {name: a for name, a in arrays.items() if name not in {CUTS, N_CUTS, RANKS}}
    return kept | {"thresholds": cuts[first[features] + ranks]}


def _counted(outputs: NDArray[np.float64], tree: NDArray[np.int64]) -> Arrays | None:
    """Outputs of leaves as 16-bit integers; None if they have more bits. `tree` is that of each leaf."""
    if not len(outputs) or not outputs.shape[1]:
        return None
    first = np.flatnonzero(np.diff(tree, prepend=-1))
    largest = np.maximum(outputs.max(axis=1), -outputs.min(axis=1))
    exponents = (
        np.frexp(np.maximum.reduceat(largest, first))[1] - 15
    )  # the largest is below 2¹⁵ units
    if not _are_units(exponents):
        return None
    counts = np.rint(np.ldexp(outputs, -exponents[tree][:, np.newaxis])).astype(np.int16)
    if not _same_bits(_as_outputs(counts, exponents[tree]), outputs):
        return None
    balanced = counts.shape[1] > 1 and not counts.sum(axis=1, dtype=np.int64).any()
    named = {BALANCED: np.ascontiguousarray(counts[:, :-1])} if balanced else {COUNTS: counts}
    return named | {EXPONENTS: exponents.astype(np.int16)}


def _are_units(exponents: NDArray[Any]) -> bool:
    """Whether outputs in such units are neither infinite nor too small for all their bits."""
    return bool(((exponents > -1000) & (exponents < 1000)).all())


def _as_outputs(counts: NDArray[np.int16], exponents: NDArray[Any]) -> NDArray[np.float64]:
    outputs: NDArray[np.float64] = counts * np.ldexp(1.0, exponents)[:, np.newaxis]
    return outputs


def _same_bits(found: NDArray[np.float64], outputs: NDArray[np.float64]) -> bool:
    return np.array_equal(found.view(np.int64), np.ascontiguousarray(outputs).view(np.int64))


def unpack_trees(arrays: Arrays, room: Room) -> Arrays:
    """All nodes and leaves.

    Lengths are checked here, and contents where the trees are read.
    """
    arrays = _with_thresholds(arrays)
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
    room.take(_n_bytes(arrays, n_nodes, n_nodes + len(depths)), "trees that are")
    splits = _bits(arrays["splits"], n_nodes)
    nodes = np.flatnonzero(splits)
    require(len(nodes) == n_splits, "trees with other splits than they say")
    leaves = np.flatnonzero(_reached(depths, splits))
    missing_right = _bits(arrays["missing_right"], n_splits).astype(np.uint8)
    arrays = _with_outputs(arrays, leaves) | {"missing_right": missing_right}
    names = [name for name in (*OF_NODES, *OF_LEAVES) if name in arrays]
    lengths = dict.fromkeys(OF_NODES, n_splits) | dict.fromkeys(OF_LEAVES, len(leaves))
    require(
        all(arrays[name].ndim > 0 and len(arrays[name]) == lengths[name] for name in names),
        "trees whose arrays differ in length",
    )
    whole = {"table_nodes": nodes[_bits(arrays["with_table"], n_splits)], "tables": tables[places]}
    for name in names:  # each is freed when it is in its place
        found = arrays.pop(name)
        n, at = (n_nodes, nodes) if name in OF_NODES else (n_nodes + len(depths), leaves)
        whole[name] = np.full((n, *found.shape[1:]), IDLE.get(name, 0), dtype=found.dtype)
        whole[name][at] = found
    return whole | {n: a for n, a in arrays.items() if n not in (*BY_SPLIT, "tables")}


def _with_outputs(arrays: Arrays, leaves: NDArray[np.int64]) -> Arrays:
    """The arrays with outputs in place of counts. `leaves` are those that samples reach."""
    if EXPONENTS not in arrays:
        return arrays
    exponents, n_leaves = arrays[EXPONENTS], _n_leaves(arrays["depths"])
    fits = exponents.dtype == np.int16 and exponents.shape == n_leaves.shape
    require(fits and _are_units(exponents), "trees in an unknown unit")
    (name,) = {COUNTS, BALANCED} & arrays.keys()
    counts = arrays[name]
    require(len(counts) == len(leaves), "trees whose arrays differ in length")
    if name == BALANCED:
        last = -counts.sum(axis=1, dtype=np.int64)
        require((np.abs(last) <= LARGEST_COUNT).all(), "trees whose outputs are out of range")
        counts = np.concatenate([counts, last[:, np.newaxis].astype(np.int16)], axis=1)
    kept = {name: a for name, a in arrays.items() if name not in {EXPONENTS, COUNTS, BALANCED}}
    tree = np.searchsorted(np.cumsum(n_leaves), leaves, side="right")
    return kept | {"outputs": _as_outputs(counts, exponents[tree])}


def _n_leaves(depths: NDArray[np.uint8]) -> NDArray[np.int64]:
    return 1 << depths.astype(np.int64)


def _n_bytes(arrays: Arrays, n_nodes: int, n_leaves: int) -> int:
    """Size of the unpacked trees."""
    rows = dict.fromkeys(OF_NODES, n_nodes) | dict.fromkeys(OF_LEAVES, n_leaves)
    rows["tables"] = len(arrays["table_of_node"])
    size = sum(
        n * math.prod(arrays[name].shape[1:]) * arrays[name].itemsize
        for name, n in rows.items()
        if name in arrays
    )
    if EXPONENTS not in arrays:
        return size
    given = [arrays[name] for name in (COUNTS, BALANCED) if name in arrays]
    require(len(given) == 1 and "outputs" not in arrays, "trees with outputs in several forms")
    require(given[0].dtype == np.int16 and given[0].ndim == 2, "trees with outputs of unknown type")
    return size + 8 * n_leaves * (given[0].shape[1] + (BALANCED in arrays))


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
