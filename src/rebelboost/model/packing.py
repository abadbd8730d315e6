"""Terms as arrays for prediction: all trees together, and all similarities of one space."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    COMPARISONS,
    Comparisons,
    Ints,
    Outputs,
    Regions,
    Samples,
    Scores,
    Trees,
)
from rebelboost.data.spaces import Space
from rebelboost.losses.levels import CONSTANT, LEVELS
from rebelboost.model.comparisons import Comparison, Example
from rebelboost.model.queries import Queries
from rebelboost.model.trees import GrownTree, Hypothesis
from rebelboost.model.wrapped import Wrapped

CHUNK = 1 << 24
"""Distances that are kept at a time."""


class Group(Protocol):
    """Terms of one kind."""

    @property
    def positions(self) -> Ints:
        """Their places among all terms."""

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add what those among terms [first, last) say to the scores."""

    def regions(self, queries: Queries, n_threads: int) -> Regions:
        """Find the region of each sample, of a group of one term."""


def groups(hypotheses: Sequence[Hypothesis], outputs: Sequence[Outputs]) -> list[Group]:
    """Sort terms into groups."""
    kinds: dict[Any, list[int]] = {}
    for t, hypothesis in enumerate(hypotheses):
        kinds.setdefault(_kind(hypothesis), []).append(t)
    return [
        _group([hypotheses[t] for t in chosen], [outputs[t] for t in chosen], chosen)
        for chosen in kinds.values()
    ]


def _kind(hypothesis: Hypothesis) -> Any:
    return (type(hypothesis), id(getattr(hypothesis, "space", None)))


def _group(hypotheses: Sequence[Any], outputs: Sequence[Outputs], chosen: Sequence[int]) -> Group:
    positions = np.array(chosen, dtype=np.int64)
    if isinstance(hypotheses[0], GrownTree):
        return TreeGroup(positions, pack_trees(hypotheses, outputs))
    if isinstance(hypotheses[0], Wrapped):
        return WrappedGroup(positions, list(hypotheses), list(outputs))
    if hypotheses[0].space is None:
        return ConstantGroup(positions, np.stack([each.sum(axis=0) for each in outputs]))
    return ComparisonGroup(positions, hypotheses[0].space, *pack_comparisons(hypotheses, outputs))


# ---- trees


class TreeGroup(NamedTuple):
    """All trees."""

    positions: Ints
    trees: Trees

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add what those among terms [first, last) say to the scores."""
        begin, end = np.searchsorted(self.positions, [first, last])
        kernels.active.predict(queries.X, self.trees, int(begin), int(end), scores, n_threads)

    def regions(self, queries: Queries, n_threads: int) -> Regions:
        """Find the leaf of each sample, of a group of one tree."""
        regions = np.zeros(len(queries), dtype=np.uint16)
        kernels.active.apply(queries.X, self.trees, 0, regions, n_threads)
        return regions


def pack_trees(found: Sequence[GrownTree], outputs: Sequence[Outputs]) -> Trees:
    """Lay trees out for prediction."""
    n_nodes = np.array([len(tree.features) for tree in found], dtype=np.int64)
    node_offsets = np.cumsum(n_nodes) - n_nodes
    features = np.concatenate([tree.features for tree in found])
    tables = {
        int(first) + node: table
        for first, tree in zip(node_offsets, found, strict=True)
        for node, table in tree.tables.items()
    }
    category = np.full(len(features), -1, dtype=np.int32)
    category[list(tables)] = np.arange(len(tables), dtype=np.int32)
    return Trees(
        np.array([tree.depth for tree in found], dtype=np.int32),
        node_offsets,
        np.cumsum(n_nodes + 1) - (n_nodes + 1),
        np.maximum(features, 0),  # a node that asks nothing has an infinite threshold
        np.concatenate([tree.thresholds for tree in found]),
        np.concatenate([tree.missing_right for tree in found]),
        category,
        np.stack(list(tables.values())) if tables else np.empty((0, 256), dtype=np.uint8),
        np.concatenate(outputs),
    )


# ---- classifiers of other libraries


class WrappedGroup(NamedTuple):
    """Classifiers that were binarised for."""

    positions: Ints
    wrapped: list[Wrapped]
    outputs: list[Outputs]

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add what those among terms [first, last) say to the scores."""
        begin, end = np.searchsorted(self.positions, [first, last])
        for t in range(begin, end):
            scores += self.outputs[t][self.wrapped[t].regions(queries.X, n_threads)]

    def regions(self, queries: Queries, n_threads: int) -> Regions:
        """Find the region of each sample, of a group of one."""
        return self.wrapped[0].regions(queries.X, n_threads)


# ---- similarities


class ConstantGroup(NamedTuple):
    """Similarities that compare with nothing."""

    positions: Ints
    outputs: Outputs
    """(T, K)"""

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add what those among terms [first, last) say to the scores."""
        del queries, n_threads
        begin, end = np.searchsorted(self.positions, [first, last])
        for output in self.outputs[begin:end]:
            scores += output

    def regions(self, queries: Queries, n_threads: int) -> Regions:
        """One region for all."""
        del n_threads
        return np.full(len(queries), CONSTANT, dtype=np.uint16)


class ComparisonGroup(NamedTuple):
    """Similarities of one space, and the training samples that they name, each once."""

    positions: Ints
    space: Space
    comparisons: Comparisons
    rows: Samples
    points: NDArray[Any]

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add what those among terms [first, last) say to the scores, some samples at a time."""
        begin, end = np.searchsorted(self.positions, [first, last])
        if begin == end:
            return
        chosen, used = self._only(int(begin), int(end))
        placed = queries.placed(self.space)
        step = max(16, CHUNK // len(used))
        for start in range(0, len(queries), step):
            stop = min(start + step, len(queries))
            distances = self._distances(placed[start:stop], used, n_threads)
            kernels.active.add_comparisons(
                distances, chosen, LEVELS, 0, len(chosen.kinds), scores[start:stop], n_threads
            )

    def regions(self, queries: Queries, n_threads: int) -> Regions:
        """Find the level of each sample's response, of a group of one similarity."""
        regions = np.empty(len(queries), dtype=np.uint16)
        distances = self.distances(queries, n_threads)
        one = self.comparisons
        kernels.active.compare(
            distances[one.anchors[0]],
            distances[one.rivals[0]],
            int(one.kinds[0]),
            float(one.apart[0]),
            regions,
            n_threads,
        )
        return regions

    def _only(self, begin: int, end: int) -> tuple[Comparisons, Ints]:
        """Comparisons [begin, end), and the points that they name."""
        if (begin, end) == (0, len(self.positions)):
            return self.comparisons, np.arange(len(self.rows))
        whole = self.comparisons
        named = np.stack([whole.anchors[begin:end], whole.rivals[begin:end]])
        used, place = np.unique(named, return_inverse=True)
        anchors, rivals = place.reshape(2, -1).astype(np.int32)
        cut = Comparisons(
            anchors,
            rivals,
            whole.kinds[begin:end],
            whole.apart[begin:end],
            whole.outputs[begin:end],
            whole.offsets[begin:end],
        )
        return cut, used.astype(np.int64)

    def distances(self, queries: Queries, n_threads: int) -> NDArray[np.float32]:
        """(points, N) squared distances from all points."""
        laid = queries.laid(self.space)
        distances = self.space.distances(laid, self.points, self.rows, n_threads)
        return np.ascontiguousarray(distances[:, : len(queries)])

    def _distances(self, placed: NDArray[Any], used: Ints, n_threads: int) -> NDArray[np.float32]:
        laid = self.space.lay_out(placed)
        points, rows = self.points[used], self.rows[used]
        distances = self.space.distances(laid, points, rows, n_threads)
        return np.ascontiguousarray(distances[:, : len(placed)])


def pack_comparisons(
    found: Sequence[Comparison], outputs: Sequence[Outputs]
) -> tuple[Comparisons, Samples, NDArray[Any]]:
    """Lay similarities of one space out for prediction; the rows and points of all their examples."""
    examples: dict[int, Example] = {}
    for comparison in found:
        examples |= {example.row: example for example in comparison.examples}
    place = {row: i for i, row in enumerate(examples)}
    # With one point, the anchor stands in for the rival, which nobody looks at.
    named = [[place[c.examples[0].row], place[c.examples[-1].row]] for c in found]
    anchors, rivals = np.array(named, dtype=np.int32).T
    comparisons = Comparisons(
        np.ascontiguousarray(anchors),
        np.ascontiguousarray(rivals),
        np.array([COMPARISONS[c.kind] for c in found], dtype=np.int32),
        np.array([c.apart for c in found]),
        np.stack([output[0] for output in outputs]),
        np.stack([output[1] for output in outputs]),
    )
    points = np.stack([example.point for example in examples.values()])
    return comparisons, np.array(list(examples), dtype=np.int32), points
