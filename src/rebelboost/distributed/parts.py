"""A part of the rows, with all that training keeps of it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    Bins,
    BySample,
    Floats,
    Indices,
    Labels,
    Pairs,
    Planes,
    Regions,
    Scores,
    Values,
)
from rebelboost.base.hashing import Keys
from rebelboost.distributed.file_rows import FileRows, ReadColumns
from rebelboost.losses.smooth import ConvexLoss


@dataclass
class Raw:
    """The rows of a part as the user gave them."""

    X: Any
    """Array or data frame."""
    y: Any
    """Labels, or the targets of a regression."""
    sample_weight: Any = None
    costs: Any = None
    """(n, K) costs by sample, or None."""


@dataclass
class PartRows:
    """Encoded rows of a part: those that are trained on, or those that are held out."""

    X: Values | FileRows
    """(n, d) numbers; empty once they are binned and no longer needed."""
    labels: Labels
    """(n,) codes of the classes; of a byte each, if that is enough."""
    weight: BySample | None = None
    costs: Floats | None = None
    """(n, K) costs by sample."""
    keys: Keys | None = None
    """(n,) hashes, where samples are drawn by value."""
    target: BySample | None = None
    """(n,) targets of a regression; the labels are then 0."""
    cube: Floats | None = None
    """(n, K, K) costs of decisions, where columns of the table hold some."""

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, chosen: Any) -> "PartRows":
        """Some of the rows, by a mask, by their positions or, unless they are in a file, as a slice."""
        return PartRows(
            self.X[chosen],
            self.labels[chosen],
            None if self.weight is None else self.weight[chosen],
            None if self.costs is None else self.costs[chosen],
            None if self.keys is None else self.keys[chosen],
            None if self.target is None else self.target[chosen],
            None if self.cube is None else self.cube[chosen],
        )

    def joined(self, other: "PartRows") -> "PartRows":
        """These rows, and others after them."""

        def both(name: str) -> Any:
            mine, others = getattr(self, name), getattr(other, name)
            if isinstance(mine, FileRows):
                return mine.joined(others)
            return None if mine is None else np.concatenate([mine, others])

        names = ("X", "labels", "weight", "costs", "keys", "target", "cube")
        return PartRows(*map(both, names))


@dataclass
class ScoredRows:
    """Scores of rows, and the weights of a loss at them."""

    rows: PartRows
    planes: Planes = field(default_factory=lambda: np.empty((1, 0, 0)))
    scores: Scores = field(default_factory=lambda: np.empty((0, 0)))
    decided: Labels = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    regions: Regions = field(default_factory=lambda: np.empty(0, dtype=np.uint16))
    counted: BySample | None = None
    """(n,) weights in units; None: all equal."""
    loss: ConvexLoss | None = None
    """Of these rows, if it is not the exponential loss."""
    signed: Floats = field(default_factory=lambda: np.empty((0, 0)))
    """(n, K) its slopes."""
    mass: Floats = field(default_factory=lambda: np.empty((0, 0)))
    """(n, K) its curvatures."""
    odds: Planes | None = None
    """(V, n, K) of the logistic loss, while an output is searched for."""


@dataclass
class Sorted:
    """The values of a feature that are present, as keys in increasing order."""

    keys: NDArray[np.uint64]
    mass: NDArray[np.int64] | None
    """(n + 1,) weight below each, in fixed point; None: all weigh 1."""

    def below(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Weight of the keys before some positions."""
        return at if self.mass is None else self.mass[at]


@dataclass
class RowPart:
    """One part. Its number is the position that users know it by."""

    number: int
    source: Callable[[], Raw]
    """Reads the rows."""
    n_threads: int = 1
    folder: Path | None = None
    """Where large arrays are kept as files; None: in memory."""
    name: str = ""
    """What users know it by, if not by its number: its file."""
    columns: ReadColumns | None = None
    """Reads features again; None: values are kept in memory."""
    sorted: dict[int, Sorted] = field(default_factory=dict)
    """Some features, while bins are chosen."""
    train: ScoredRows | None = None
    held: ScoredRows | None = None
    bins: Bins | None = None
    values: Pairs = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """(n,) pairs of the round."""
    samples: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    """Samples of the round, by node."""
    starts: NDArray[np.int32] = field(default_factory=lambda: np.zeros(1, dtype=np.int32))
    """Where the samples of each node begin."""
    routed: bool = False
    """Whether the regions of the round's term are known."""

    def array(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """A new array: in memory, or in a file of the folder."""
        if self.folder is None or 0 in shape:
            return np.zeros(shape, dtype=dtype)
        path = self.folder / f"{self.number}-{name}.bin"
        array = np.memmap(path, dtype=dtype, mode="w+", shape=shape)
        # Where the system allows it, nothing is left behind even if the process is killed.
        with suppress(PermissionError):
            path.unlink()
        return array

    def kept(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """The values, in a file of the folder if there is one."""
        if self.folder is None:
            return values
        array = self.array(name, values.shape, values.dtype)
        array[...] = values
        return array

    @property
    def where(self) -> str:
        """What messages call the part."""
        return self.name or f"partition {self.number}"

    def scored(self, *, held: bool) -> ScoredRows:
        """Scores of the rows that are trained on, or of those held out."""
        found = self.held if held else self.train
        assert found is not None
        return found
