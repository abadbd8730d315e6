"""Trees in a form that is walked faster on many samples: every test looks at a byte of the sample.

For each feature, the thresholds of all trees are sorted; the number of them that a value exceeds is its
code. The code of a category is the category, and the sets of categories that go right are stored once each.
A node takes four bytes, and a sample is looked up among thresholds once, not in every node. Scores are the
same to the last bit.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import Bytes, Ints, Scores, Values
from rebelboost.base.kernel_arrays import CodedColumns, CodedTrees

if TYPE_CHECKING:
    from rebelboost.model.trees import Trees

MOST_CODES = 254
"""Maximum number of thresholds of a column; further ones have a column of their own."""
HIGHEST = 255
"""Code of missing values that go right, and of missing categories. No code is above it."""
FIRST_SET = 256
"""Test of the first set of categories; lower ones are codes to be exceeded."""
MOST_SETS = (1 << 16) - FIRST_SET
MOST_COLUMNS = 4096
"""With more, the codes of some samples would not stay in the cache."""
MOST_TESTED = 1 << 16
"""Maximum number of columns that a node can name."""


class Coded(NamedTuple):
    """Trees, and how samples are coded for them."""

    columns: CodedColumns
    trees: CodedTrees

    def add_scores(self, X: Values, scores: Scores, first: int, last: int, n_threads: int) -> None:
        """Add the outputs of trees [first, last)."""
        kernels.active.predict_coded(X, self.columns, self.trees, first, last, scores, n_threads)


def coded(trees: "Trees") -> Coded | None:
    """The same trees with tests on bytes; None if they need too many columns or sets."""
    found = with_codes(trees)
    return found if found and 0 < len(found.columns.features) <= MOST_COLUMNS else None


def with_codes(trees: "Trees") -> Coded | None:
    """The same with any number of columns; None if nodes cannot name all columns and sets."""
    nodes = np.zeros((len(trees.features), 2), dtype=np.uint16)
    nodes[:, 1] = HIGHEST  # a node without a split
    of_numbers = np.flatnonzero((trees.features >= 0) & (trees.category < 0))
    of_sets = np.flatnonzero(trees.category >= 0)
    numbers = _number_columns(trees, of_numbers)
    sets = _set_columns(trees, of_sets)
    n_numbers, n_categorical = len(numbers.features), len(sets.features)
    if n_numbers + n_categorical > MOST_TESTED or not sets.fit:
        return None
    nodes[of_numbers] = np.stack([numbers.of_node, numbers.cuts], axis=1)
    nodes[of_sets] = np.stack([n_numbers + sets.of_node, FIRST_SET + sets.set_of_node], axis=1)
    columns = CodedColumns(
        np.concatenate([numbers.features, sets.features]).astype(np.int32),
        np.append(numbers.starts, np.full(n_categorical, numbers.starts[-1])).astype(np.int64),
        numbers.thresholds,
        np.append(
            np.where(numbers.missing_right, HIGHEST, 0), np.full(n_categorical, HIGHEST)
        ).astype(np.uint8),
        np.repeat(np.array([0, 1], dtype=np.uint8), [n_numbers, n_categorical]),
    )
    walked = trees.walked
    offsets = walked.node_offsets, walked.leaf_offsets
    return Coded(columns, CodedTrees(walked.depths, *offsets, nodes, sets.bits, walked.outputs))


class _Numbers(NamedTuple):
    features: Ints
    missing_right: Ints
    starts: Ints
    thresholds: np.ndarray[tuple[int], np.dtype[np.float64]]
    of_node: Ints
    """Column of each node."""
    cuts: Ints
    """Code that a sample must exceed, for each node."""


def _number_columns(trees: "Trees", nodes: Ints) -> _Numbers:
    """A column for each feature and side of missing values, or several if it has many thresholds."""
    owner = 2 * trees.columns[nodes].astype(np.int64) + trees.missing_right[nodes]
    order = np.lexsort((trees.thresholds[nodes], owner))
    owners, thresholds = owner[order], trees.thresholds[nodes][order]
    new_owner = np.diff(owners, prepend=-1) != 0
    new = new_owner.copy()
    new[1:] |= thresholds[1:] != thresholds[:-1]
    rank = np.cumsum(new) - 1
    begins = np.flatnonzero(new_owner)
    place = rank - np.repeat(rank[begins], np.diff(np.append(begins, len(order))))
    first_of_column = new & (place % MOST_CODES == 0)
    column = np.cumsum(first_of_column) - 1
    heads = np.flatnonzero(first_of_column)
    of_node, cuts = np.empty_like(column), np.empty_like(column)
    of_node[order], cuts[order] = column, place % MOST_CODES
    return _Numbers(
        owners[heads] // 2,
        owners[heads] % 2,
        np.append(rank[heads], np.count_nonzero(new)),
        thresholds[new],
        of_node,
        cuts,
    )


class _Sets(NamedTuple):
    features: Ints
    bits: Bytes
    """(sets, 32) the categories of each set; the last bit is that of missing values."""
    of_node: Ints
    """Feature of each node, as a place in `features`."""
    set_of_node: Ints
    fit: bool
    """Whether the nodes can be coded: category 255, which no encoder gives, goes where missing values go."""


def _set_columns(trees: "Trees", nodes: Ints) -> _Sets:
    """A column for each categorical feature, and the sets of categories that go right, each once."""
    right = trees.right[trees.category[nodes]]
    fit = np.array_equal(right[:, HIGHEST], trees.missing_right[nodes])
    packed = np.packbits(right, axis=1, bitorder="little")
    as_one = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, set_of_node = np.unique(as_one, return_index=True, return_inverse=True)
    features, of_node = np.unique(trees.features[nodes].astype(np.int64), return_inverse=True)
    return _Sets(features, packed[first], of_node, set_of_node, fit and len(first) <= MOST_SETS)
