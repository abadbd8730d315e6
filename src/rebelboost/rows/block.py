"""A block of rows, with all that training keeps of them: in memory, or in files."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import (
    Bins,
    BySample,
    Floats,
    Indices,
    Labels,
    Layer,
    Pairs,
    Planes,
    Regions,
    Scores,
    Values,
)
from rebelboost.base.hashing import Keys
from rebelboost.costs.judge import Judge
from rebelboost.data.encoder import FeatureEncoder, as_frame
from rebelboost.data.samples import Samples
from rebelboost.losses.convex import ConvexLoss

ROWS_AT_ONCE = 2**18
"""Rows of a part, in memory at a time for each thread. Polars writes Parquet files in such groups."""

ReadColumns = Callable[[Sequence[int] | None], Any]
"""Reads some features of the rows of a part, or all, as a data frame."""


@dataclass(frozen=True)
class FileColumns:
    """(n, d) numbers, of which only those that are used at a time are in memory."""

    read: ReadColumns
    encoder: FeatureEncoder
    dtype: Any
    n_rows: int
    chosen: NDArray[np.int32] | None = None
    """Rows of the file that count; None: all."""

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.n_rows, self.encoder.n_features

    def __getitem__(self, chosen: NDArray[Any]) -> "FileColumns":
        """Some of the rows, by a mask or by their positions."""
        rows = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        if self.chosen is not None:
            rows = self.chosen[rows]
        return replace(self, n_rows=len(rows), chosen=rows.astype(np.int32))

    def joined(self, other: "FileColumns") -> "FileColumns":
        """These rows and others of the same file."""
        assert self.chosen is not None
        assert other.chosen is not None
        rows = np.concatenate([self.chosen, other.chosen])
        return replace(self, n_rows=len(rows), chosen=rows)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Values:
        """All values."""
        del copy  # they are always new
        return self._encoded(None).astype(dtype or self.dtype, copy=False)

    def columns(self, features: Sequence[int]) -> list[Values]:
        """Some columns."""
        return list(self._encoded(features).T)

    def _encoded(self, features: Sequence[int] | None) -> Values:
        encoder = self.encoder
        if features is not None:
            place = {f: i for i, f in enumerate(features)}
            levels = {place[f]: own for f, own in encoder.levels.items() if f in place}
            encoder = FeatureEncoder(len(features), levels)
        frame = as_frame(self.read(features))
        assert frame is not None
        values = encoder.transform_frame(frame).astype(self.dtype, copy=False)
        return values if self.chosen is None else values[self.chosen]


def columns_of_rows(X: Values | FileColumns, features: Sequence[int]) -> list[Values]:
    """Some columns of values that are in memory or in a file."""
    return X.columns(features) if isinstance(X, FileColumns) else [X[:, f] for f in features]


def in_memory(X: Values | FileColumns) -> Values:
    """All values."""
    return X.__array__() if isinstance(X, FileColumns) else X


# ---- blocks


NO_PLANES, NOTHING = np.empty((1, 0, 0)), np.empty((0, 0))
NO_LABELS, NO_REGIONS = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint16)
NO_PAIRS = np.empty(0, dtype=np.int64)
"""Arrays that a fit replaces before it reads them."""


@dataclass
class Raw:
    """Rows as the user gave them."""

    X: Any
    """Array or data frame."""
    y: Any
    """Labels, or the targets of a regression."""
    sample_weight: Any = None
    costs: Any = None
    """(n, K) costs by sample, or None."""


@dataclass(eq=False)
class EncodedRows:
    """Encoded rows of a block: those that are trained on, or those that are held out."""

    X: Values | FileColumns
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

    @classmethod
    def of(cls, samples: Samples) -> "EncodedRows":
        """Samples in memory."""
        costs = samples.costs if samples.by_sample else None
        return cls(samples.X, samples.labels, samples.weight, costs, target=samples.target)

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, chosen: Any) -> "EncodedRows":
        """Some of the rows, by a mask, by their positions or, unless they are in a file, as a slice."""
        return EncodedRows(
            self.X[chosen],
            self.labels[chosen],
            None if self.weight is None else self.weight[chosen],
            None if self.costs is None else self.costs[chosen],
            None if self.keys is None else self.keys[chosen],
            None if self.target is None else self.target[chosen],
            None if self.cube is None else self.cube[chosen],
        )

    def joined(self, other: "EncodedRows") -> "EncodedRows":
        """These rows, and others after them."""

        def both(name: str) -> Any:
            mine, others = getattr(self, name), getattr(other, name)
            if isinstance(mine, FileColumns):
                return mine.joined(others)
            return None if mine is None else np.concatenate([mine, others])

        names = ("X", "labels", "weight", "costs", "keys", "target", "cube")
        return EncodedRows(*map(both, names))


@dataclass(eq=False)
class ScoredRows:
    """Scores of rows, and the weights of a loss at them."""

    rows: EncodedRows
    planes: Planes = field(default_factory=lambda: NO_PLANES)
    scores: Scores = field(default_factory=lambda: NOTHING)
    decided: Labels = field(default_factory=lambda: NO_LABELS)
    regions: Regions = field(default_factory=lambda: NO_REGIONS)
    counted: BySample | None = None
    """(n,) weights in units; None: all equal."""
    loss: ConvexLoss | None = None
    """Of these rows, if it is not the exponential loss."""
    signed: Floats = field(default_factory=lambda: NOTHING)
    """(n, K) its slopes."""
    mass: Floats = field(default_factory=lambda: NOTHING)
    """(n, K) its curvatures."""
    odds: Planes | None = None
    """(V, n, K) of the logistic loss, while an output is searched for."""
    everything: Floats | None = None
    """(n, m) what is summed after each term of such a loss (`rows.slopes.Everything`), where it is kept."""
    subcosts: Planes | None = None
    """(V, n, K) weights at scores of 0, where they are kept."""
    judge: Judge | None = None
    """Judges decisions, if the samples are in memory."""
    level_means: Mapping[Hashable, BySample] = field(default_factory=dict)
    """Key of `LevelMeans` → (n,) the values that the rows were trained with."""


@dataclass
class Sorted:
    """The values of a feature that are present, as keys in increasing order."""

    keys: NDArray[np.uint64]
    mass: NDArray[np.int64] | None
    """(n + 1,) weight below each, in fixed point; None: all weigh 1."""

    def below(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Weight of the keys before some positions."""
        return at if self.mass is None else self.mass[at]


@dataclass(eq=False)
class Block:
    """One block. Its number is the position that users know it by."""

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
    values: Pairs = field(default_factory=lambda: NO_PAIRS)
    """(n,) pairs of the round."""
    samples: Indices = field(default_factory=lambda: NO_LABELS)
    """Samples of the round, by node."""
    starts: NDArray[np.int32] = field(default_factory=lambda: NO_LABELS)
    """Where the samples of each node begin."""
    placed: Layer | None = None
    """The tree whose leaves `regions` of the training rows are; None: another term's."""
    given: Samples | None = None
    """All samples of a fit, if they are in memory in one block."""

    @classmethod
    def of(cls, samples: Samples, n_threads: int = 1) -> "Block":
        """A block of samples in memory."""
        train = ScoredRows(EncodedRows.of(samples), judge=Judge.of(samples))
        return cls(0, _nothing, n_threads, train=train, given=samples)

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
        """What messages call the block."""
        return self.name or f"partition {self.number}"

    def scored(self, *, held: bool) -> ScoredRows:
        """Scores of the rows that are trained on, or of those held out."""
        found = self.held if held else self.train
        assert found is not None
        return found

    def place(self, where: Regions | Layer) -> Regions:
        """(n,) the region of each training row: as given, or the leaf of a tree with splits on bins."""
        scored = self.scored(held=False)
        if not isinstance(where, Layer):
            scored.regions, self.placed = where, None
            return where
        if self.placed is None or not _same(self.placed, where):
            assert self.bins is not None
            scored.regions[:] = 0
            if len(where.features) > 0:
                kernels.active.route(self.bins, where, scored.regions, self.n_threads)
            self.placed = where
        return scored.regions


def _same(one: Layer, other: Layer) -> bool:
    return np.array_equal(one.features, other.features) and np.array_equal(one.right, other.right)


def _nothing() -> Raw:
    raise AssertionError("samples in memory are not read again")
