"""The strong classifier: terms, and their sum H(x) = Σ_t f_t(x)·a_t."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rebelboost import kernels
from rebelboost.learners import GrownTree, Hypothesis, Responding
from rebelboost.shapes import Ints, Outputs, Regions, Scores, Trees, Values


@dataclass(frozen=True)
class Term:
    """A hypothesis, and what each of its regions adds to the scores."""

    hypothesis: Hypothesis
    outputs: Outputs
    """(L, K)"""

    def regions(self, X: Values, n_threads: int = 1) -> Regions:
        """Find the region of each sample."""
        if isinstance(self.hypothesis, Responding):
            return self.hypothesis.regions(X, n_threads)
        regions = np.zeros(len(X), dtype=np.uint16)
        kernels.active.apply(X, pack([self]), 0, regions, n_threads)
        return regions


@dataclass(frozen=True)
class Ensemble:
    """Terms in the order of their rounds."""

    terms: tuple[Term, ...]
    n_classes: int

    def __repr__(self) -> str:
        return f"Ensemble({len(self)} terms, {self.n_classes} classes)"

    def __len__(self) -> int:
        return len(self.terms)

    def truncate(self, n_terms: int) -> "Ensemble":
        """Keep the first terms only."""
        return Ensemble(self.terms[:n_terms], self.n_classes)

    @cached_property
    def trees(self) -> Trees:
        """The trees among the terms, as arrays."""
        return pack([term for term in self.terms if _is_tree(term)], self.n_classes)

    @cached_property
    def _n_trees(self) -> Ints:
        """(terms + 1,) how many trees are among the first so many terms."""
        return np.cumsum([0, *map(_is_tree, self.terms)])

    def scores(self, X: Values, n_threads: int = 1) -> Scores:
        """H(x) of each sample."""
        scores = np.zeros((len(X), self.n_classes))
        self.add_scores(X, scores, 0, len(self), n_threads)
        return scores

    def add_scores(
        self, X: Values, scores: Scores, first: int, last: int, n_threads: int = 1
    ) -> None:
        """Add what terms [first, last) say to the scores, in their order; trees by the kernel."""
        for t in range(first, last):
            term = self.terms[t]
            if isinstance(term.hypothesis, Responding):
                self._add_trees(X, scores, first, t, n_threads)
                scores += term.hypothesis.respond(X)[:, np.newaxis] * term.outputs[0]
                first = t
        self._add_trees(X, scores, first, last, n_threads)

    def _add_trees(self, X: Values, scores: Scores, first: int, last: int, n_threads: int) -> None:
        first, last = (int(n) for n in self._n_trees[[first, last]])
        if last > first:
            kernels.active.predict(X, self.trees, first, last, scores, n_threads)

    def staged_scores(self, X: Values, n_threads: int = 1) -> Iterator[Scores]:
        """H(x) after each term; each yield is an array of its own."""
        scores = np.zeros((len(X), self.n_classes))
        for t in range(len(self)):
            self.add_scores(X, scores, t, t + 1, n_threads)
            yield scores.copy()


def _is_tree(term: Term) -> bool:
    return isinstance(term.hypothesis, GrownTree)


def pack(terms: "tuple[Term, ...] | list[Term]", n_classes: int = 0) -> Trees:
    """Lay trees out for prediction."""
    if not terms:
        none = np.empty(0, dtype=np.int32)
        nowhere = np.empty(0, dtype=np.int64)
        unknown = np.empty(0, dtype=np.uint8)
        right, outputs = np.empty((0, 256), dtype=np.uint8), np.empty((0, n_classes))
        return Trees(none, nowhere, nowhere, none, np.empty(0), unknown, none, right, outputs)
    found = [term.hypothesis for term in terms if isinstance(term.hypothesis, GrownTree)]
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
        np.concatenate([term.outputs for term in terms]),
    )
