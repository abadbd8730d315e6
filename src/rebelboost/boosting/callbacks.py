"""Callbacks: objects that are called after every round and may stop training."""

import math
import time
from collections.abc import Sequence
from typing import Protocol

from rebelboost.boosting.rounds import Round


class Callback(Protocol):
    """Called after every round. `on_end` is called however training ends."""

    def on_round(self, record: Round) -> bool:
        """Return True to stop after this round."""

    def on_end(self) -> None:
        """Clean up."""


class EarlyStopping:
    """Stops when the validation loss has not fallen for some rounds, and records the best round."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.best_round = -1
        self.best_log_loss = math.inf

    def on_round(self, record: Round) -> bool:
        """Compare with the best round so far."""
        if record.held is None:
            return False
        if record.held.log_loss < self.best_log_loss:
            self.best_round, self.best_log_loss = record.index, record.held.log_loss
        return record.index - self.best_round >= self.patience

    def on_end(self) -> None:
        """Do nothing."""


class Tolerance:
    """Stops when the loss falls below a fraction of its initial value."""

    def __init__(self, share: float, first_log_loss: float) -> None:
        self.log_level = first_log_loss + math.log(share) if share > 0 else -math.inf

    def on_round(self, record: Round) -> bool:
        """Compare with that level."""
        return record.log_loss < self.log_level

    def on_end(self) -> None:
        """Do nothing."""


class Deadline:
    """Stops at a time on the clock of `time.monotonic`."""

    def __init__(self, end: float) -> None:
        self.end = end

    def on_round(self, record: Round) -> bool:  # noqa: ARG002  (the interface of callbacks)
        """Return whether the time is up."""
        return time.monotonic() > self.end

    def on_end(self) -> None:
        """Do nothing."""


class Progress:
    """A progress bar with the remaining time. Hidden if stderr is not a terminal."""

    def __init__(self, n_rounds: int, error_format: str = ".2%") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._error_format = error_format
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f} rounds"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("boosting", total=n_rounds, state="")
        self._next_update = 0.0
        self._n_done = 0
        self._last: Round | None = None
        self._bar.start()

    def on_round(self, record: Round) -> bool:
        """Advance the bar."""
        self._n_done += 1
        self._last = record
        now = time.monotonic()
        if now >= self._next_update:
            self._next_update = now + 0.1
            self._show(record)
        return False

    def _show(self, record: Round) -> None:
        state = f"training error {record.error:{self._error_format}}"
        if record.held is not None:
            state += f"  held-out {record.held.error:{self._error_format}}"
        self._bar.update(self._task, completed=self._n_done, state=state)

    def on_end(self) -> None:
        """Stop the bar at its last state."""
        if self._last is not None:
            self._show(self._last)
        self._bar.stop()


class Hearing:
    """Context manager that calls `on_end` of all callbacks, however the block ends."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self.callbacks = callbacks

    def __enter__(self) -> Sequence[Callback]:
        return self.callbacks

    def __exit__(self, *_: object) -> None:
        for callback in self.callbacks:
            callback.on_end()


def tell(callbacks: Sequence[Callback], record: Round) -> bool:
    """Call all callbacks. Return True if any of them asks to stop."""
    wishes = [callback.on_round(record) for callback in callbacks]  # no short circuit: call all
    return any(wishes)
