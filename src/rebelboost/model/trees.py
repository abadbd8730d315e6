"""What learners find: hypotheses, ready to respond to new samples."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Bytes, Floats, Layer, Outputs, Regions
from rebelboost.data.binning import Binner


class Hypothesis(Protocol):
    """What a learner found: a response, or the leaves of a tree."""

    @property
    def responses(self) -> NDArray[Any] | None:
        """(regions,) f of each region; None where each has an output vector of its own."""

    @property
    def n_regions(self) -> int:
        """Number of regions."""

    @property
    def used_features(self) -> NDArray[np.int32]:
        """The features that are asked, rising, each once."""

    def by_region(self, outputs: Outputs) -> Outputs:
        """(regions, K): what each region adds to the scores."""

    def describe(self, names: Sequence[str] | None = None) -> str:
        """One line."""


@dataclass(frozen=True)
class GrownTree:
    """A tree of complete layers, nodes in level order. Its leaves are its regions, left to right.

    A node sends x right if x > threshold, a missing value if missing_right. A node of a categorical
    feature sends the codes marked in its table. A node that asks nothing (feature −1) sends all left.
    """

    features: NDArray[np.int32]
    """(nodes,)"""
    thresholds: Floats
    missing_right: Bytes
    tables: dict[int, Bytes]
    """Node of a categorical feature → (256,) codes that go right."""
    signs: NDArray[np.int8] | None = None
    """(leaves,) responses ±1 where all leaves share one output vector, else None."""
    cover: Floats | None = field(default=None, repr=False)
    """(leaves,) weight of the training samples in each: what a node says on average, for reasons."""

    @classmethod
    def from_bins(
        cls, nodes: Layer, binner: Binner, signs: NDArray[np.int8] | None = None
    ) -> "GrownTree":
        """Turn splits of bins into splits of values."""
        asked = np.maximum(nodes.features, 0)
        missing = nodes.right[np.arange(len(asked)), binner.n_bins[asked] - 1]
        categorical = np.flatnonzero((nodes.features >= 0) & (binner.categorical[asked] != 0))
        # Codes that these samples did not have, though others may, are as good as missing.
        beyond = np.arange(nodes.right.shape[1]) >= binner.n_bins[asked][categorical, np.newaxis]
        tables = np.where(beyond, missing[categorical, np.newaxis], nodes.right[categorical])
        return cls(
            nodes.features,
            binner.thresholds(asked, nodes.right),
            missing,
            {int(node): table for node, table in zip(categorical, tables, strict=True)},
            signs,
        )

    @property
    def responses(self) -> NDArray[np.int8] | None:
        """(leaves,) f of each leaf; None where each has an output vector of its own."""
        return self.signs

    def by_region(self, outputs: Outputs) -> Outputs:
        """(leaves, K): what each leaf adds to the scores."""
        return outputs

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.features).bit_length()

    @property
    def n_regions(self) -> int:
        """Number of leaves."""
        return len(self.features) + 1

    @property
    def used_features(self) -> NDArray[np.int32]:
        """The features that are asked, rising, each once."""
        return np.unique(self.features[self.features >= 0])

    def describe(self, names: Sequence[str] | None = None) -> str:
        """One line: the root's question and what else is asked."""
        used = self.used_features
        if len(used) == 0:
            return "constant"
        name = [names[f] if names is not None else f"x{f}" for f in used]
        if self.depth > 1:
            return f"tree on {', '.join(name)}"
        return (
            f"{name[0]} in {{…}}" if 0 in self.tables else f"{name[0]} > {self.thresholds[0]:.6g}"
        )


def covered(hypothesis: Hypothesis, regions: Regions, weight: BySample | None) -> Hypothesis:
    """Let a tree remember how many training samples, by weight, each of its leaves has."""
    if not isinstance(hypothesis, GrownTree):
        return hypothesis
    unit = 1.0
    if (
        weight is not None
    ):  # in units whose sums are exact, so that the order of samples does not matter
        unit = float(np.ldexp(1.0, int(np.frexp(weight.max() * len(weight))[1]) - 52))
        weight = np.rint(weight / unit)
    cover = np.bincount(regions, weight, hypothesis.n_regions).astype(np.float64)
    return replace(hypothesis, cover=cover * unit)
