"""Blocks of rows on the workers of a Dask cluster.

A block is made by a task, on whichever worker Dask chooses: from its rows, by the operations so far. What it
then holds stays with that worker's process, and operations go there directly. That is only a matter of speed:
if the worker is lost, or has forgotten the block, a task makes it again, on any worker, and the model is the
same. Nothing waits longer than `PATIENCE` for a cluster that has no workers.
"""

import asyncio
import time
import uuid
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from distributed.scheduler import KilledWorker
from numpy.typing import NDArray

from distributed import Client, Future, get_worker
from rebelboost.exceptions import ClusterError
from rebelboost.rows.base import Log, Operation, RowFacts
from rebelboost.rows.block import Block, Raw

SMALLEST = 1024
"""Entries below which packing is not worth it."""
SPARSE = 0.6
"""An entry with its place takes 12 bytes instead of 8: packing pays below this share of entries."""


class Packed(NamedTuple):
    """The entries of an array of integers that are not 0, and their places."""

    shape: tuple[int, ...]
    places: NDArray[np.uint32]
    entries: NDArray[np.int64]


def pack(answer: Any) -> Any:
    """Pack the large arrays of integers of an answer."""
    if not isinstance(answer, tuple):
        return answer
    return tuple(_packed(item) for item in answer)


def unpack(answer: Any) -> Any:
    """Undo `pack`."""
    if not isinstance(answer, tuple):
        return answer
    return tuple(_unpacked(item) if isinstance(item, Packed) else item for item in answer)


def _packed(item: Any) -> Any:
    if not isinstance(item, np.ndarray) or item.dtype != np.int64 or item.size < SMALLEST:
        return item
    flat = item.ravel()
    places = np.flatnonzero(flat)
    if len(places) > SPARSE * item.size or item.size > 2**32:
        return item
    return Packed(item.shape, places.astype(np.uint32), flat[places])


def _unpacked(packed: Packed) -> NDArray[np.int64]:
    flat = np.zeros(int(np.prod(packed.shape)), dtype=np.int64)
    flat[packed.places] = packed.entries
    return flat.reshape(packed.shape)


# ---- on the workers


PATIENCE = 30.0
"""Seconds to wait for a worker when there is none."""
LOOK = 0.25
"""Seconds between looks at which workers are alive, while answers are awaited."""
CLOSING = 5.0
"""Seconds to connect again, if the client was closed in a fit."""
MOST_LOSSES = 4
"""A block that is lost more often than this in one operation has probably too many rows for a worker."""

# ---- on the workers


@dataclass
class _Kept:
    block: Block
    version: int
    """Number of operations of the fit that the block has applied."""


KEPT: dict[tuple[str, int], _Kept] = {}
"""Parts that this process holds, by the fit and their number."""
ENDED: deque[str] = deque(maxlen=1000)
"""Fits that have ended: a block that is made too late must not be kept."""


def make_block(
    raw: Raw, fit: str, number: int, operations: Sequence[Operation], version: int
) -> str:
    """Make a block from its rows, keep it, and return the address of this worker."""
    worker = get_worker()
    block = Block(number, lambda: raw, n_threads=worker.state.nthreads)
    for operation in operations:
        operation.apply(block)
    if fit not in ENDED:
        KEPT[fit, number] = _Kept(block, version)
    return str(worker.address)


class Reply(NamedTuple):
    """What a worker says to a operation."""

    answer: Any
    behind: tuple[int, ...] = ()
    """Parts that it does not hold, or not at this version."""
    error: Exception | None = None


async def apply(fit: str, numbers: tuple[int, ...], version: int, operation: Operation) -> Reply:
    """Let blocks of this worker apply, on a thread, and merge their answers."""
    return await asyncio.to_thread(_apply, fit, numbers, version, operation)


def _apply(fit: str, numbers: tuple[int, ...], version: int, operation: Operation) -> Reply:
    kept = {number: KEPT.get((fit, number)) for number in numbers}
    behind = tuple(n for n, own in kept.items() if own is None or own.version != version)
    answers = []
    for number, own in kept.items():
        if own is None or number in behind:
            continue
        own.version = -1  # until it has applied
        try:
            answers.append(operation.apply(own.block))
        except Exception as error:  # noqa: BLE001  (whatever it is, the user must see it)
            return Reply(None, behind, error)
        own.version = version + 1
    merged = pack(type(operation).merge(answers)) if answers else None
    return Reply(merged, behind)


async def forget(fit: str) -> None:
    """Forget all blocks of a fit, also those still to be made."""
    ENDED.append(fit)
    for key in [key for key in KEPT if key[0] == fit]:
        del KEPT[key]


# ---- where the fit runs


@dataclass
class ClusterRows:
    """Blocks on the workers of a cluster."""

    client: Client
    rows: list[Future]
    """Futures of `Raw`, by the number of the block."""
    fit: str = field(default_factory=lambda: uuid.uuid4().hex)
    where: dict[int, str] = field(default_factory=dict)
    """Block → address of the worker that holds it."""
    log: Log = field(default_factory=Log)
    version: int = 0
    n_remade: int = 0
    """How often a block was made again."""
    address: str = field(init=False)
    """Of the scheduler."""
    facts: RowFacts | None = None

    alone: ClassVar[None] = None

    def __post_init__(self) -> None:
        self.address = str(self.client.scheduler.address)

    def ask(self, operation: Operation) -> Any:
        """Let all blocks apply; return their merged answers."""
        answers: list[Any] = []
        pending = set(range(len(self.rows)))
        losses = 0
        while pending:
            missing = sorted(pending - set(self.where))
            if missing:
                self._make(missing)
            applied, lost = self._tell(operation, pending, answers)
            pending -= applied
            for number in lost:
                self.where.pop(number, None)
            losses += bool(lost)
            self.n_remade += len(lost)
            if losses > MOST_LOSSES:
                raise ClusterError(
                    f"partition {min(lost)} was lost {losses} times in one step, with its worker: if "
                    "workers run out of memory, use more or smaller partitions, or larger workers"
                )
        self.version += 1
        self.log.note(operation)
        return type(operation).merge(answers)

    def close(self) -> None:
        """Let the workers forget the blocks."""
        self.rows, self.where = [], {}
        with suppress(ClusterError, OSError, TimeoutError):  # a lost cluster has forgotten them
            if self.client.status == "running":
                self._forget()
            else:  # somebody has closed the client: the workers live on, and keep the blocks
                with Client(self.address, timeout=CLOSING, set_as_default=False) as self.client:
                    self._forget()

    def _forget(self) -> None:
        # Only those alive: connecting to others would take until a timeout.
        alive = sorted(self._sync(self._alive))
        if alive:
            self.client.run(forget, self.fit, workers=alive, on_error="ignore")

    def _tell(
        self, operation: Operation, pending: set[int], answers: list[Any]
    ) -> tuple[set[int], set[int]]:
        """Send the operation to the workers; return the blocks that have applied, and those lost."""
        groups: dict[str, list[int]] = {}
        for number in sorted(pending):
            groups.setdefault(self.where[number], []).append(number)
        replies = self._sync(self._told, operation, groups)
        applied, lost = set[int](), set[int]()
        for address, numbers in groups.items():
            reply = replies.get(address)
            if reply is None:
                lost.update(numbers)
                continue
            if reply.error is not None:
                raise reply.error
            lost.update(reply.behind)
            applied.update(set(numbers) - set(reply.behind))
            if reply.answer is not None:
                answers.append(unpack(reply.answer))
        return applied, lost

    async def _told(self, operation: Operation, groups: dict[str, list[int]]) -> dict[str, Reply]:
        """Replies of the workers that answer; those that are gone are left out."""

        async def one(address: str, numbers: list[int]) -> Any:
            found = await self.client.run(
                apply,
                self.fit,
                tuple(numbers),
                self.version,
                operation,
                workers=[address],
                on_error="return",
            )
            return found.get(address)

        tasks = {a: asyncio.ensure_future(one(a, numbers)) for a, numbers in groups.items()}
        waiting = set(tasks.values())
        while waiting:
            _, waiting = await asyncio.wait(waiting, timeout=LOOK)
            if waiting:
                alive = await self._alive()
                for address, task in tasks.items():
                    if address not in alive:
                        task.cancel()
                        waiting.discard(task)
        replies = {}
        for address, task in tasks.items():
            if task.cancelled() or not task.done() or task.exception() is not None:
                continue
            if isinstance(task.result(), Reply):
                replies[address] = task.result()
        if len(replies) < len(tasks):
            await self._alive()  # raises an error if it is the scheduler that is lost
        return replies

    async def _alive(self) -> set[str]:
        try:
            known = await asyncio.wait_for(self.client.scheduler.identity(), PATIENCE)
        except (OSError, TimeoutError) as error:
            raise _lost_scheduler() from error
        return set(known["workers"])

    def _make(self, numbers: Sequence[int]) -> None:
        """Make blocks from their rows, wherever Dask likes."""
        operations = self.log.operations
        made = {
            number: self.client.submit(
                make_block,
                self.rows[number],
                self.fit,
                number,
                operations,
                self.version,
                key=f"rebelboost-block-{self.fit}-{number}-{uuid.uuid4().hex}",
                pure=False,
            )
            for number in numbers
        }
        last_seen = time.monotonic()
        while made:
            alive = self._sync(self._awaited, list(made.values()))
            last_seen = time.monotonic() if alive else last_seen
            if time.monotonic() - last_seen > PATIENCE:
                raise ClusterError(
                    f"the cluster has had no workers for {PATIENCE:.0f} seconds: start some, and fit again"
                )
            check_made(made)
            for number in [n for n, future in made.items() if future.status == "finished"]:
                # A worker that dies now takes the result with it; the task then runs again.
                with suppress(TimeoutError):
                    self.where[number] = made[number].result(timeout=1)
                    del made[number]

    async def _awaited(self, futures: list[Future]) -> set[str]:
        """Wait a little for tasks; return the workers that are alive."""
        for _ in range(25):
            if all(future.done() for future in futures):
                break
            await asyncio.sleep(LOOK / 25)
        return await self._alive()

    def _sync(self, function: Any, *arguments: Any) -> Any:
        """Run a coroutine on the client's event loop."""
        if self.client.status != "running":
            raise _lost_scheduler()
        try:
            return self.client.sync(function, *arguments)
        except (OSError, TimeoutError) as error:
            raise _lost_scheduler() from error
        except (AttributeError, RuntimeError, asyncio.CancelledError) as error:
            if self.client.status == "running":
                raise
            raise _lost_scheduler() from error  # the client was closed meanwhile


def check_made(made: dict[int, Future]) -> None:
    """Raise an error if the task of a block has failed for good."""
    errors = {n: future.exception() for n, future in made.items() if future.status == "error"}
    killed = [str(n) for n, error in errors.items() if isinstance(error, KilledWorker)]
    if killed:
        raise ClusterError(
            f"workers died again and again while they read partition {' or '.join(killed)}, probably "
            "for lack of memory: use more or smaller partitions, or larger workers"
        )
    for error in errors.values():
        raise error
    for number, future in made.items():
        if future.status in {"cancelled", "lost"}:
            raise ClusterError(
                f"the rows of partition {number} were lost with their worker and cannot be computed again "
                "(scattered data cannot): give fit a Dask collection, delayed parts or files"
            )


def _lost_scheduler() -> ClusterError:
    return ClusterError(
        "the connection to the scheduler of the cluster is lost: check that it runs, and fit again"
    )
