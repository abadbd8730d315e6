"""Fits side by side, on threads: which thread ends first changes nothing.

Compiled kernels release Python's lock, so that fits on several threads share the cores. What is decided from
their results is decided when all of them have ended, in the order in which they were given.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import ClassVar, NamedTuple, TypeVar

from rebelboost.boosting.callbacks import Callback, all_may_wait, tell
from rebelboost.boosting.rounds import RoundBatch

Result = TypeVar("Result")

Job = Callable[[Sequence[Callback], int], Result]
"""A fit, given the callbacks that it calls and the number of threads of its kernels."""


class FitPool(NamedTuple):
    """Threads for fits, and callbacks for their rounds."""

    n_threads: int = 1
    callbacks: Sequence[Callback] = ()
    in_turn: bool = False
    """Whether fits run one after the other, because callbacks may stop them; kernels then use all threads."""

    def run(
        self, jobs: Sequence[Job[Result]], durations: Sequence[float] | None = None
    ) -> list[Result]:
        """Run all, and return their results in the given order.

        If one fails, or the user interrupts, the others stop after their present round. With expected
        `durations`, side by side the longest begin first, so that threads end at about the same time.
        """
        if self.in_turn or self.n_threads == 1 or len(jobs) <= 1:
            return [job(self.callbacks, self.n_threads) for job in jobs]
        told, halt = _InOrder(self.callbacks, len(jobs)), _Halt()
        inside = max(1, self.n_threads // len(jobs))

        def run(place: int) -> Result:
            try:
                return jobs[place]([_OfJob(told, place), halt], inside)
            finally:
                told.end(place)

        with ThreadPoolExecutor(min(self.n_threads, len(jobs))) as pool:
            # With a copy of the context, NumPy's error handling is the caller's in every thread.
            order = list(range(len(jobs)))
            if durations is not None:
                order.sort(key=lambda place: -durations[place])
            running = {place: pool.submit(copy_context().run, run, place) for place in order}
            try:
                return [running[place].result() for place in range(len(jobs))]
            except BaseException:
                halt.now.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise


class _Halt:
    """Stops all fits after their present round, when told."""

    may_wait: ClassVar[bool] = True

    def __init__(self) -> None:
        self.now = threading.Event()

    def on_rounds(self, batch: RoundBatch) -> bool:
        """Return whether to stop."""
        del batch
        return self.now.is_set()

    def on_end(self) -> None:
        """Do nothing."""


class _InOrder:
    """Tells callbacks the rounds of one job at a time: the first that has not ended."""

    def __init__(self, callbacks: Sequence[Callback], n_jobs: int) -> None:
        self.callbacks = callbacks
        self._running = set(range(n_jobs))
        self._lock = threading.Lock()

    def tell(self, place: int, batch: RoundBatch) -> bool:
        """Pass on rounds, if it is this job's turn."""
        if not self.callbacks:
            return False
        with self._lock:
            if place != min(self._running):
                return False
            if all_may_wait(self.callbacks):
                return tell(self.callbacks, batch)
            wishes = [tell(self.callbacks, RoundBatch(record)) for record in batch]
            return any(wishes)

    def end(self, place: int) -> None:
        """Note that a job has ended."""
        with self._lock:
            self._running.discard(place)


class _OfJob:
    """A job's rounds."""

    may_wait: ClassVar[bool] = True

    def __init__(self, told: _InOrder, place: int) -> None:
        self._told, self._place = told, place

    def on_rounds(self, batch: RoundBatch) -> bool:
        """Pass them on. Callbacks that may stop a fit are not told through this, but in turn."""
        return self._told.tell(self._place, batch)

    def on_end(self) -> None:
        """Do nothing: whoever made the callbacks ends them."""
