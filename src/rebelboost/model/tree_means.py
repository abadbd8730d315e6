"""Average outputs of the nodes of trees, weighted by the training samples in each leaf.

On the path from the root to a leaf, the value changes at every split. The change is the contribution of the
split's feature [Saabas 2014]. The values of the roots are the same for every sample.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints
from rebelboost.model.shares import CHUNK, size


@dataclass(frozen=True)
class TreeMeans:
    """Trees of equal depth; nodes in level order, followed by the leaves."""

    depth: int
    places: Ints
    """(T,) positions among all trees."""
    features: NDArray[np.int32]
    """(T, 2^depth − 1) features of the splits; −1: no split."""
    values: Floats
    """(T, 2^(depth+1) − 1, K): average output of each node."""
    cover: Floats
    """(T, 2^(depth+1) − 1): share of the training weight in each node."""

    def layers(self) -> Iterator[tuple[slice, slice]]:
        """Yield the nodes of each layer, and their children, as slices."""
        for layer in range(self.depth):
            first, middle, last = 2**layer - 1, 2 ** (layer + 1) - 1, 2 ** (layer + 2) - 1
            yield slice(first, middle), slice(middle, last)

    @property
    def leaves(self) -> tuple[Floats, Floats]:
        """(T, leaves, K) outputs of the leaves, and (T, leaves) their shares of the training weight."""
        first = 2**self.depth - 1
        return self.values[:, first:], self.cover[:, first:]

    def changes(self, leaves: Ints) -> Iterator[tuple[Ints, Floats]]:
        """Yield, for each layer on the paths to (n, T) leaves, the features and the changes of the values."""
        trees = np.arange(len(self.places))
        said = np.broadcast_to(self.values[:, 0], (*leaves.shape, self.values.shape[2]))
        for layer in range(self.depth):
            node = 2**layer - 1 + (leaves >> (self.depth - layer))
            child = 2 ** (layer + 1) - 1 + (leaves >> (self.depth - layer - 1))
            then = self.values[trees, child]
            # A node without a split has the value of its left child: the change is 0 for any feature.
            yield np.maximum(self.features[trees, node], 0), then - said
            said = then

    def add_importances(self, sizes: Floats) -> None:
        """Add the size of the change by each split, averaged over the training samples, to its feature's."""
        for nodes, children in self.layers():
            before = np.repeat(self.values[:, nodes], 2, axis=1)
            changed = size(self.values[:, children] - before) * self.cover[:, children]
            by_node = changed[:, 0::2] + changed[:, 1::2]
            tested = self.features[:, nodes]
            tests = tested >= 0
            sizes += np.bincount(tested[tests], by_node[tests], len(sizes))

    def separated(self) -> tuple[Ints, Ints, Floats]:
        """(T,) the two classes whose outputs differ most, by root mean square over the samples."""
        said, cover = self.leaves
        weighed = np.matmul((said * cover[:, :, np.newaxis]).transpose(0, 2, 1), said)
        own = np.diagonal(weighed, axis1=1, axis2=2)
        squares = own[:, :, np.newaxis] + own[:, np.newaxis] - 2 * weighed
        flat = squares.reshape(len(squares), -1)
        first, second = np.sort(np.divmod(flat.argmax(axis=1), own.shape[1]), axis=0)
        return first, second, np.sqrt(np.maximum(flat.max(axis=1), 0.0))


def means_by_depth(trees: Any) -> list[TreeMeans]:
    """`TreeMeans` of all trees, in chunks of equal depth, in order of first occurrence."""
    found = []
    for depth in dict.fromkeys(trees.depths.tolist()):
        chosen = np.flatnonzero(trees.depths == depth)
        step = max(1, CHUNK // (2 ** (depth + 1) * max(1, trees.outputs.shape[1])))
        starts = range(0, len(chosen), step)
        found += [_means(trees, depth, chosen[first : first + step]) for first in starts]
    return found


def _means(trees: Any, depth: int, places: Ints) -> TreeMeans:
    n_leaves = 2**depth
    nodes = trees.node_offsets[places][:, np.newaxis] + np.arange(n_leaves - 1)
    leaves = trees.leaf_offsets[places][:, np.newaxis] + np.arange(n_leaves)
    features = trees.features[nodes]
    values = [trees.outputs[leaves]]
    # Model files may omit the cover: then all leaves count the same.
    cover = [np.where(np.isnan(trees.cover[leaves]), 1.0, trees.cover[leaves])]
    for layer in reversed(range(depth)):
        below, weight = values[0], cover[0]
        left, right = weight[:, 0::2], weight[:, 1::2]
        total = left + right
        share = np.divide(left, total, out=np.full_like(total, 0.5), where=total > 0)
        share[features[:, 2**layer - 1 : 2 ** (layer + 1) - 1] < 0] = 1.0  # no split: all go left
        share = share[:, :, np.newaxis]
        values.insert(0, share * below[:, 0::2] + (1 - share) * below[:, 1::2])
        cover.insert(0, total)
    shares = np.concatenate(cover, axis=1)
    return TreeMeans(
        depth,
        places,
        features,
        np.concatenate(values, axis=1),
        shares / np.maximum(shares[:, :1], np.finfo(np.float64).tiny),
    )
