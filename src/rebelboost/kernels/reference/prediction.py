"""Scores of new samples, from their values."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

import numpy as np

from rebelboost.base.arrays import Regions, Scores, TreeArrays, Values


def predict(
    X: Values, trees: TreeArrays, first: int, last: int, scores: Scores, n_threads: int
) -> None:
    """Add the outputs of trees [first, last) to the scores, one tree after the other."""
    regions = np.empty(len(X), dtype=np.uint16)
    for tree in range(first, last):
        apply(X, trees, tree, regions, n_threads)
        scores += trees.outputs[trees.leaf_offsets[tree] + regions.astype(np.int64)]


def apply(X: Values, trees: TreeArrays, tree: int, regions: Regions, n_threads: int) -> None:
    """Find the leaf of one tree that each sample falls into."""
    at = np.zeros(len(X), dtype=np.int64)
    rows = np.arange(len(X))
    for layer in range(trees.depths[tree]):
        node = trees.node_offsets[tree] + 2**layer - 1 + at
        x = X[rows, trees.features[node]].astype(np.float64)
        goes_right = x > trees.thresholds[node]
        category = trees.category[node]
        known = (category >= 0) & (x >= 0) & (x < 256)
        goes_right[category >= 0] = False
        goes_right[known] = trees.right[category[known], x[known].astype(np.int64)] != 0
        unknown = np.where(category >= 0, ~known, np.isnan(x))
        goes_right[unknown] = trees.missing_right[node[unknown]] != 0
        at = 2 * at + goes_right
    regions[:] = at
