"""Points in double precision: similarities to the letter of the papers round nothing [LOCAL, Sec. 5.1]."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import Floats, Indices, Values
from rebelboost.base.checks import TensorReader, require
from rebelboost.data.measured import Tensors
from rebelboost.data.spaces import LARGEST_SQUARABLE, Embedding

EXACT = "exact"
"""Kind of the space in a model file."""


@dataclass(frozen=True)
class ExactSpace:
    """Euclidean space of the values, scaled like an `Embedding` but not rounded."""

    embedding: Embedding

    @classmethod
    def of(cls, embedding: Embedding, scale: str) -> "ExactSpace":
        """The space of an embedding; with scale="none", values are not shifted either."""
        if scale != "none":
            return cls(embedding)
        return cls(replace(embedding, offset=np.zeros_like(embedding.offset)))

    def place(self, X: Values) -> Floats:
        """(N, D) points."""
        of = self.embedding
        with np.errstate(over="ignore"):  # values far beyond those of the training
            points = (of.spread(X) - of.offset) * of.factor
        points = np.clip(points, -LARGEST_SQUARABLE, LARGEST_SQUARABLE)
        return points if of.turn is None else _product(points, of.turn)

    def lay_out(self, placed: Floats) -> Floats:
        """Return the points unchanged."""
        return placed

    def keep(self, placed: Floats) -> Floats:
        """The whole points."""
        return placed

    def distances(self, laid: Floats, points: Floats, rows: Indices, n_threads: int) -> Floats:
        """(m, N) squared distances, in double precision."""
        del rows
        out = np.empty((len(points), len(laid)))
        kernels.active.exact_distances(laid, np.ascontiguousarray(points), out, n_threads)
        return out

    def to_tensors(self, points: NDArray[Any]) -> Tensors:
        """The points, and the mapping from values to points."""
        arrays, fields = self.embedding.to_tensors(points)
        return arrays, fields | {"kind": EXACT}


def _product(left: Floats, right: Floats) -> Floats:
    """Matrix product with sums in order: the same bits on any number of threads."""
    sums = np.zeros((len(left), right.shape[1]))
    for i, row in enumerate(right):
        sums += left[:, i, np.newaxis] * row
    return sums


def take_exact(reader: TensorReader, name: str, embedding: Embedding, n_points: int) -> Floats:
    """Read the points of an exact space."""
    points = reader.numbers(f"{name}.points", n_points, len(embedding.offset))
    require((np.abs(points) <= LARGEST_SQUARABLE).all(), f"{name} with a point beyond the largest")
    return points
