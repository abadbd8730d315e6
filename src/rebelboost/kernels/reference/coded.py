"""The scores of new samples by trees whose tests look at bytes."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

import numpy as np

from rebelboost.base.arrays import ByClass, BySample, Bytes, Scores, Values
from rebelboost.base.kernel_arrays import CodedColumns, CodedTrees

N_CODES = 256


def predict_coded(
    X: Values,
    columns: CodedColumns,
    trees: CodedTrees,
    first: int,
    last: int,
    scores: Scores,
    n_threads: int,
) -> None:
    """Add the outputs of trees [first, last) to the scores, in this order."""
    codes = np.stack(
        [np.zeros(len(X), np.uint8)] + [_codes(X, columns, c) for c in range(len(columns.features))]
    )[1:]
    above = np.arange(N_CODES)[:, np.newaxis] < np.arange(N_CODES)
    answers = np.concatenate([above, np.unpackbits(trees.sets, axis=1, bitorder="little")])
    rows = np.arange(len(X))
    for tree in range(first, last):
        at = np.zeros(len(X), dtype=np.int64)
        for layer in range(trees.depths[tree]):
            column, test = trees.nodes[trees.node_offsets[tree] + 2**layer - 1 + at].T
            at = 2 * at + answers[test, codes[column, rows]]
        scores += trees.outputs[trees.leaf_offsets[tree] + at]


def score_row(
    x: BySample,
    columns: CodedColumns,
    trees: CodedTrees,
    first: int,
    last: int,
    scores: ByClass,
) -> None:
    """Add the outputs of trees [first, last) to the (K,) scores of a single (d,) sample."""
    predict_coded(x[np.newaxis], columns, trees, first, last, scores[np.newaxis], 1)


def _codes(X: Values, columns: CodedColumns, c: int) -> Bytes:
    """(N,) the codes of one column."""
    x = X[:, columns.features[c]].astype(np.float64)
    if columns.categorical[c]:
        known = (x >= 0) & (x < N_CODES - 1)
        return np.where(known, np.where(known, x, 0).astype(np.uint8), columns.missing[c])
    thresholds = columns.thresholds[columns.starts[c] : columns.starts[c + 1]]
    counts = np.searchsorted(thresholds, x).astype(np.uint8)
    return np.where(np.isnan(x), columns.missing[c], counts)
