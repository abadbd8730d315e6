"""The seam between training and the places where rows are: ask all parts, and merge their answers.

Training knows nothing of threads, files or clusters. It sends a command to every part of the rows. The
answers are integers that are added, numbers of which the largest counts, or sets that are united: the
order and the number of the parts change no bit.

A part is pure: what it holds follows from its rows and the commands so far. A part that is lost is made
again from its rows by the commands that still matter (`Log`).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from rebelboost.distributed.parts import RowPart

Merge = Callable[[Sequence[Any]], Any]


def added(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Sums of the parts' integers, item by item."""
    return tuple(reduce(np.add, items) for items in zip(*answers, strict=True))


def largest_of(answers: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The largest of the parts' numbers, item by item."""
    return tuple(reduce(np.maximum, items) for items in zip(*answers, strict=True))


def all_items(answers: Sequence[list[Any]]) -> list[Any]:
    """The items of all parts, part by part."""
    return [item for answer in answers for item in answer]


class Command(Protocol):
    """Something that every part does. Commands are small: they are sent to all parts."""

    merge: ClassVar[Merge]
    """How answers become one; it must not matter in which groups."""
    lasting: ClassVar[bool]
    """Whether a part that is made again must obey it again, also after its round."""

    def obey(self, part: RowPart) -> Any:
        """Change the part, and answer."""


@runtime_checkable
class Condensing(Protocol):
    """A lasting command after which earlier ones can be done in a shorter way."""

    def condensed(self, kept: list[Command]) -> list[Command]:
        """Commands with the same effect as these and then this one."""


@dataclass
class Log:
    """Commands by which a part is made again from its rows."""

    kept: list[Command] = field(default_factory=list)
    of_round: list[Command] = field(default_factory=list)

    def note(self, command: Command) -> None:
        """Note a command that all parts have obeyed. A lasting one ends the round."""
        if not command.lasting:
            self.of_round.append(command)
            return
        self.of_round.clear()
        if isinstance(command, Condensing):
            self.kept = command.condensed(self.kept)
        else:
            self.kept.append(command)

    @property
    def commands(self) -> list[Command]:
        """All that still matter, in order."""
        return [*self.kept, *self.of_round]


class SpreadRows(Protocol):
    """Parts of the rows, wherever they are."""

    def ask(self, command: Command) -> Any:
        """Let all parts obey; return their merged answers."""

    def close(self) -> None:
        """Forget the parts."""


class InMemory:
    """Parts in the memory, or the files, of this process; threads share them."""

    def __init__(self, parts: Sequence[RowPart], n_threads: int = 1) -> None:
        self.parts = list(parts)
        self._pool = (
            ThreadPoolExecutor(n_threads) if n_threads > 1 and len(self.parts) > 1 else None
        )

    def ask(self, command: Command) -> Any:
        """Let all parts obey; return their merged answers."""
        found = (
            self._pool.map(command.obey, self.parts)
            if self._pool
            else map(command.obey, self.parts)
        )
        return type(command).merge(list(found))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self.parts.clear()
