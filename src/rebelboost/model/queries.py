"""Samples to be scored, with their points cached for repeated use."""

from typing import Any

from numpy.typing import NDArray

from rebelboost.base.arrays import Ints, Values
from rebelboost.data.spaces import Space


class Queries:
    """Samples to be scored. Caches their points in each space, for repeated calls."""

    def __init__(
        self, X: Values, placed: dict[int, tuple[Space, NDArray[Any]]] | None = None
    ) -> None:
        self.X = X
        self._placed = {} if placed is None else placed
        self._laid: dict[int, tuple[Space, NDArray[Any]]] = {}

    def __len__(self) -> int:
        return len(self.X)

    def placed(self, space: Space) -> NDArray[Any]:
        """Points of the samples in a space."""
        if id(space) not in self._placed:
            self._placed[id(space)] = space, space.place(self.X)
        return self._placed[id(space)][1]

    def laid(self, space: Space) -> NDArray[Any]:
        """The points in the memory layout that `Space.distances` needs."""
        if id(space) not in self._laid:
            self._laid[id(space)] = space, space.lay_out(self.placed(space))
        return self._laid[id(space)][1]

    def take(self, rows: Ints) -> "Queries":
        """Some of the samples, with their points."""
        placed = {key: (space, points[rows]) for key, (space, points) in self._placed.items()}
        return Queries(self.X[rows], placed)
