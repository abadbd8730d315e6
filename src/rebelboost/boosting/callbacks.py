"""Callbacks: objects that are called after rounds and may stop training."""

import math
import time
from collections.abc import Sequence
from typing import ClassVar, Protocol

from rebelboost.boosting.rounds import Round, RoundBatch


class Callback(Protocol):
    """Called after every round, or after several that were done together.

    With a class attribute `may_wait`, which is True, a batch may have many rounds; otherwise it has one.
    """

    def on_rounds(self, batch: RoundBatch) -> bool:
        """Return True to stop after these rounds."""

    def on_end(self) -> None:
        """Clean up. This is called however training ends."""


class EarlyStopping:
    """Stops when the validation loss has not fallen for some rounds, and records the best round."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.best_round = -1
        self.best_log_loss = math.inf

    def on_rounds(self, batch: RoundBatch) -> bool:
        """Compare with the best round so far."""
        record = batch.last
        if record.held is None:
            return False
        if record.held.log_loss < self.best_log_loss:
            self.best_round, self.best_log_loss = record.index, record.held.log_loss
        return record.index - self.best_round >= self.patience

    def on_end(self) -> None:
        """Do nothing."""


class Tolerance:
    """Stops when the loss falls below a fraction of its initial value."""

    may_wait: ClassVar[bool] = True

    def __init__(self, share: float, first_log_loss: float) -> None:
        self.log_level = first_log_loss + math.log(share) if share > 0 else -math.inf

    def on_rounds(self, batch: RoundBatch) -> bool:
        """Compare the last with that level."""
        return batch.last_log_loss < self.log_level

    def on_end(self) -> None:
        """Do nothing."""


class Deadline:
    """Stops at a time on the clock of `time.monotonic`."""

    may_wait: ClassVar[bool] = True

    def __init__(self, end: float) -> None:
        self.end = end

    def on_rounds(self, batch: RoundBatch) -> bool:
        """Return whether the time is up."""
        del batch
        return time.monotonic() > self.end

    def on_end(self) -> None:
        """Do nothing."""


class Phase:
    """Which of several fits is running, and how long the folds will take, as far as the rounds tell."""

    def __init__(self, n_folds: int = 1) -> None:
        self.n_folds = n_folds
        self.fold, self.n_fits = 0, 0
        """The fold, from 0, and the number of fits so far that leave it out."""
        self._began = self._last_fold = 0.0
        self._all_rows = False
        self._index = -1

    def advance(self, record: Round, now: float) -> None:
        """Note a round."""
        if record.part != self.fold:
            # All candidates are fitted on the first fold, the best ones on the others.
            self._last_fold = now - self._began if self.fold > 0 else 0.0
            self.fold, self.n_fits, self._began = record.part, 0, now
            self._index = -1
        if record.index <= self._index or self.n_fits == 0:
            self.n_fits += 1
            self._all_rows = record.held is None
        self._index = record.index

    def text(self) -> str:
        """The phase in words."""
        if self.n_folds <= 1:
            return "training"
        if self._all_rows:
            return "fitting to all rows"
        if self.fold == 0:
            return f"comparing models on fold 1 of {self.n_folds}: model {self.n_fits}"
        return f"fold {self.fold + 1} of {self.n_folds}: model {self.n_fits}"

    def left(self, now: float) -> str:
        """The time left, once a fold like the ones to come has been timed."""
        if self._last_fold == 0 or self._all_rows:
            return ""
        seconds = self._last_fold * (self.n_folds - self.fold) - (now - self._began)
        return f"about {max(0.0, seconds):.0f} s left"


class Progress:
    """A line with the phase, the elapsed time and the time left. Hidden if stderr is not a terminal."""

    may_wait: ClassVar[bool] = True

    def __init__(self, n_rounds: int, error_format: str = ".2%", n_folds: int = 1) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._error_format = error_format
        self._most = f" of at most {n_rounds:,}" if n_folds <= 1 else ""
        console = Console(stderr=True)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._phase = Phase(n_folds)
        self._task = self._bar.add_task(self._phase.text(), total=None, state="")
        self._next_update = 0.0
        self._last: Round | None = None
        self._bar.start()

    def on_rounds(self, batch: RoundBatch) -> bool:
        """Update the line."""
        self._last = record = batch.last
        now = time.monotonic()
        self._phase.advance(record, now)
        if now >= self._next_update:
            self._next_update = now + 0.1
            self._show(record, now)
        return False

    def _show(self, record: Round, now: float) -> None:
        state = f"round {record.index + 1:,}{self._most}"
        state += f"  training error {record.error:{self._error_format}}"
        if record.held is not None:
            state += f"  held-out {record.held.error:{self._error_format}}"
        left = self._phase.left(now)
        state = f"{left}  {state}" if left else state
        self._bar.update(self._task, description=self._phase.text(), state=state)

    def on_end(self) -> None:
        """Stop at the last state."""
        if self._last is not None:
            self._show(self._last, time.monotonic())
        self._bar.stop()


class closing_callbacks:  # noqa: N801  (used as a function)
    """Context manager that calls `on_end` of all callbacks, however the block ends."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self.callbacks = callbacks

    def __enter__(self) -> Sequence[Callback]:
        return self.callbacks

    def __exit__(self, *_: object) -> None:
        for callback in self.callbacks:
            callback.on_end()


def tell(callbacks: Sequence[Callback], batch: RoundBatch) -> bool:
    """Call all callbacks. Return True if any of them asks to stop."""
    wishes = [callback.on_rounds(batch) for callback in callbacks]  # no short circuit: call all
    return any(wishes)


def all_may_wait(callbacks: Sequence[Callback]) -> bool:
    """Whether all callbacks may be called after several rounds."""
    return all(getattr(callback, "may_wait", False) for callback in callbacks)
