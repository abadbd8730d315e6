"""Terms that a block adds to its scores at once, when it is made again.

What blocks hold follows from the scores: slopes always, and weights whenever they are computed anew from the
scores, every 64 rounds. So a block that is lost adds all terms up to then to its scores, which is a small part
of the work of their rounds, and only then goes on round by round.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Layer, Outputs
from rebelboost.data.binning import Binner
from rebelboost.model.terms import Queries
from rebelboost.model.trees import Trees
from rebelboost.rows.base import Merge, added
from rebelboost.rows.block import Block, in_memory

AT_ONCE = 1 << 14
"""Rows whose bins are copied at a time."""


class PackedTree(NamedTuple):
    """Splits on bins, with a bit for each bin."""

    features: NDArray[np.int32]
    right: NDArray[np.uint8]

    def unpacked(self) -> Layer:
        """The splits."""
        return Layer(self.features, np.unpackbits(self.right, axis=1))


def packed_tree(term: Any) -> Any:
    """What finds the region of each row, as small as possible."""
    if isinstance(term, Layer):
        return PackedTree(term.features, np.packbits(term.right, axis=1))
    return term


@dataclass(frozen=True)
class AddTerms:
    """Add terms to the scores."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = True
    terms: tuple[tuple[Any, Outputs], ...]
    """What finds the region of each sample, and the outputs of the regions."""
    held: bool

    def apply(self, block: Block) -> tuple[int]:
        """Answer the number of terms."""
        scored = block.scored(held=self.held)
        trees = [(term, own) for term, own in self.terms if isinstance(term, PackedTree)]
        if trees:
            add_trees(block, trees)
        queries = Queries(in_memory(scored.rows.X))
        for term, outputs in self.terms[len(trees) :]:
            scored.scores += outputs[term.regions(queries, block.n_threads)]
        if len(scored.rows) and scored.scores.shape[1] > 1:
            scored.decided[:] = np.argmax(scored.scores, axis=1)
        if scored.loss is not None:
            scored.odds = None
            scored.signed[:], scored.mass[:] = scored.loss.derivatives(scored.scores)
        return (len(self.terms),)


def add_trees(block: Block, trees: Sequence[tuple[PackedTree, Outputs]]) -> None:
    """Add trees to the scores in one call for some rows at a time, whose bins stand for values."""
    bins, scores = block.bins, block.scored(held=False).scores
    assert bins is not None
    n_bins = np.diff(bins.offsets)
    # The last bin is for missing values, and one less than the others are the edges between them.
    edges = tuple(np.arange(max(0, n - 2), dtype=np.float64) + 0.5 for n in n_bins.tolist())
    binner = Binner(edges, bins.categorical)
    terms = Trees.joined([Trees.grown(t.unpacked(), binner, None, own) for t, own in trees])
    for first in range(0, len(scores), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        codes = np.concatenate(list(bins.blocks[:, some]), axis=1)[:, : len(n_bins)]
        values = codes.astype(np.float32)
        values[codes == n_bins - 1] = np.nan
        terms.add_scores(Queries(values), scores[some], 0, len(terms), block.n_threads)
