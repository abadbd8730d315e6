"""The region of a term that contains each sample of a part."""

from typing import Protocol

from rebelboost import kernels
from rebelboost.base.arrays import Layer
from rebelboost.distributed.parts import RowPart


class Routing(Protocol):
    """Finds the region of each sample."""

    def route(self, part: RowPart) -> None:
        """Write the regions of a part's samples."""


def route(part: RowPart, term: Layer | Routing) -> None:
    """Find the leaf of each sample, or the region of another term than a tree."""
    if not isinstance(term, Layer):
        term.route(part)
        return
    regions = part.scored(held=False).regions
    assert part.bins is not None
    regions[:] = 0
    if len(term.features) > 0:
        kernels.active.route(part.bins, term, regions, part.n_threads)
    part.routed = True
