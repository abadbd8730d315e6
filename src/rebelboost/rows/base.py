"""The interface of rows: ask all blocks an operation, and merge their answers.

Training knows nothing of threads, files or clusters. It asks an operation of every block of the rows. The
answers are integers that are added, numbers of which the largest counts, or lists that are joined: the order
and the number of the blocks change no bit.

A block is pure: what it holds follows from its rows and the operations so far. A block that is lost is made
again from its rows by the operations that still matter (`Log`).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from rebelboost.base.arrays import Bytes, Floats
from rebelboost.data.samples import Samples
from rebelboost.rows.block import Block

Merge = Callable[[Sequence[Any]], Any]


def added(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Sums of the blocks' integers, item by item."""
    return tuple(reduce(np.add, items) for items in zip(*answers, strict=True))


def largest_of(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The largest of the blocks' numbers, item by item."""
    return tuple(reduce(np.maximum, items) for items in zip(*answers, strict=True))


def all_items(answers: Sequence[list[Any]]) -> list[Any]:
    """The items of all blocks, block by block."""
    return [item for answer in answers for item in answer]


class Operation(Protocol):
    """Something that every block does. Operations are small: they are sent to all blocks."""

    merge: ClassVar[Merge]
    """How answers become one; it must not matter in which groups."""
    lasting: ClassVar[bool]
    """Whether a block that is made again must apply it again, also after its round."""

    def apply(self, block: Block) -> Any:
        """Change the block, and answer."""


@runtime_checkable
class Condensing(Protocol):
    """A lasting operation after which earlier ones can be done in a shorter way."""

    def condensed(self, kept: list[Operation]) -> list[Operation]:
        """Operations with the same effect as these and then this one."""


@dataclass
class Log:
    """Operations by which a block is made again from its rows."""

    kept: list[Operation] = field(default_factory=list)
    of_round: list[Operation] = field(default_factory=list)

    def note(self, operation: Operation) -> None:
        """Note an operation that all blocks have applied. A lasting one ends the round."""
        if not operation.lasting:
            self.of_round.append(operation)
            return
        self.of_round.clear()
        if isinstance(operation, Condensing):
            self.kept = operation.condensed(self.kept)
        else:
            self.kept.append(operation)

    @property
    def operations(self) -> list[Operation]:
        """All that still matter, in order."""
        return [*self.kept, *self.of_round]


class RowFacts(NamedTuple):
    """What a fit knows of all rows beforehand."""

    categorical: Bytes
    """(d,) 1 for categorical features."""
    costs: Floats
    """(K, K) costs by class that are trained on, or the class means; (1, 1) in a regression."""
    by_sample: bool
    """Whether costs are by sample."""
    weighted: bool
    """Whether samples have weights."""
    baseline: float = 0.0
    """What is to be subtracted from the targets that blocks hold."""

    @classmethod
    def of(cls, samples: Samples) -> "RowFacts":
        """Facts about samples in memory, whose targets have no baseline any more."""
        costs, weighted = samples.costs, samples.weight is not None
        return cls(samples.categories, costs, samples.by_sample, weighted)


class Rows(Protocol):
    """Blocks of rows, wherever they are."""

    facts: RowFacts | None
    """Known before a fit begins."""

    @property
    def alone(self) -> Block | None:
        """The one block of samples in memory, which kernels can visit directly; None: ask."""

    def ask(self, operation: Operation) -> Any:
        """Let all blocks apply it; return their merged answers."""

    def close(self) -> None:
        """Forget the blocks."""


class MemoryRows:
    """Blocks in the memory, or the files, of this process; threads share them."""

    def __init__(self, blocks: Sequence[Block], n_threads: int = 1) -> None:
        self.blocks = list(blocks)
        self.facts: RowFacts | None = None
        lone = self.blocks[0] if len(self.blocks) == 1 else None
        self.alone = None if lone is None or lone.given is None else lone
        """The block of samples in memory, if there is one only."""
        several = n_threads > 1 and len(self.blocks) > 1
        self._pool = ThreadPoolExecutor(n_threads) if several else None

    @classmethod
    def of(cls, samples: Samples, n_threads: int = 1) -> "MemoryRows":
        """One block of samples."""
        rows = cls([Block.of(samples, n_threads)])
        rows.facts = RowFacts.of(samples)
        return rows

    def ask(self, operation: Operation) -> Any:
        """Let all blocks apply it; return their merged answers."""
        apply = operation.apply
        if self.alone is not None:
            return apply(self.alone)
        found = self._pool.map(apply, self.blocks) if self._pool else map(apply, self.blocks)
        return type(operation).merge(list(found))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self.blocks.clear()


def given_samples(rows: Rows) -> Samples:
    """The samples, if they are in memory in one block; learners say beforehand which rows they can search."""
    assert rows.alone is not None
    assert rows.alone.given is not None
    return rows.alone.given


def facts_of(rows: Rows) -> RowFacts:
    """What is known of all rows."""
    assert rows.facts is not None
    return rows.facts
