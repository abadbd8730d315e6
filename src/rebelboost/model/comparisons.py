"""Hypotheses that compare a sample with training samples: more like this one than like that one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Outputs
from rebelboost.data.spaces import Space
from rebelboost.losses.levels import LEVELS


class Example(NamedTuple):
    """A training sample that others are compared with."""

    row: int
    """Where it is in the table that the user gave."""
    point: NDArray[Any]


@dataclass(frozen=True)
class Comparison:
    """f_ij(x) or f_i(x) [LOCAL, Sec. 5], or a constant response of 1."""

    kind: str
    """One of `shapes.COMPARISONS`, or "constant"."""
    space: Space | None = field(default=None, repr=False)
    anchor: Example | None = None
    rival: Example | None = None
    """None with one point."""
    apart: float = 1.0
    """Squared distance of the two; with one point, the squared distance τ at which f is 0."""

    responses = LEVELS

    @property
    def n_regions(self) -> int:
        """Number of levels."""
        return len(LEVELS)

    @property
    def used_features(self) -> NDArray[np.int32]:
        """None by itself: distances are of all features together."""
        return np.empty(0, dtype=np.int32)

    @property
    def examples(self) -> tuple[Example, ...]:
        """The anchor and the rival, as far as there are."""
        return tuple(e for e in (self.anchor, self.rival) if e is not None)

    def by_region(self, outputs: Outputs) -> Outputs:
        """(levels, K): what each level adds to the scores: f·a + b for the (2, K) outputs a, b."""
        return LEVELS[:, np.newaxis] * outputs[0] + outputs[1]

    def describe(self, names: Sequence[str] | None = None) -> str:
        """One line."""
        del names
        if self.anchor is None:
            return "constant"
        if self.rival is None:
            return f"near row {self.anchor.row}"
        return f"more like row {self.anchor.row} than row {self.rival.row}"
