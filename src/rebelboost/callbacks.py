"""What is told after every round, and to whom."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

from rebelboost.learners import Hypothesis
from rebelboost.shapes import NO_WORK, Work


class Held(NamedTuple):
    """How the scores do on held-out samples."""

    log_loss: float
    error: float
    cost: float


@dataclass(frozen=True)
class Round:
    """The one record of a round that history, early stopping, progress and reports read."""

    index: int
    """From 0."""
    log_loss: float
    """ln of the mean training loss, above its floor, after the round."""
    loss_ratio: float
    """Loss after the round over loss before it."""
    edge: float
    """The weak-learning ratio ρ = ‖P‖₁/ΣS [THESIS, Eq. 4.12]; for two classes 2γ."""
    bound: float
    """√(1 − ρ²) ≥ loss_ratio at shrinkage 1, up to the outputs' smoothing [THESIS 4.5.1]."""
    error: float
    """Weighted share of training samples that argmax gets wrong."""
    cost: float
    """Mean cost of the argmax decisions on the training samples."""
    held: Held | None
    """The same on the validation samples, where there are some."""
    hypothesis: Hypothesis
    seconds: float
    """Since the fit began."""
    part: int = 0
    """Which fit, where several are averaged."""
    work: Work = NO_WORK
    """Of the search for the hypothesis. Not part of the promise that runs are alike."""

    def row(self) -> dict[str, Any]:
        """Numbers by name, for a table."""
        row = {f.name: getattr(self, f.name) for f in fields(self)}
        held = row.pop("held")
        row |= self.work.row()
        del row["work"]
        row["hypothesis"] = self.hypothesis.describe()
        if held is not None:
            row |= {f"validation_{name}": value for name, value in held._asdict().items()}
        return row


class Callback(Protocol):
    """Hears of every round. `on_end` is called however the fit ends."""

    def on_round(self, record: Round) -> bool:
        """Return True to stop after this round."""

    def on_end(self) -> None:
        """Tidy up."""


class History:
    """Keeps all records; a table of them, by column."""

    def __init__(self) -> None:
        self.rounds: list[Round] = []

    def on_round(self, record: Round) -> bool:
        """Keep the record."""
        self.rounds.append(record)
        return False

    def on_end(self) -> None:
        """Nothing to tidy up."""

    def __repr__(self) -> str:
        return f"History({len(self)} rounds; table() gives columns)"

    def __len__(self) -> int:
        return len(self.rounds)

    def __iter__(self) -> Iterator[Round]:
        return iter(self.rounds)

    def __getitem__(self, index: int) -> Round:
        return self.rounds[index]

    def table(self) -> dict[str, list[Any]]:
        """Columns by name: ready for any data frame library."""
        rows = [record.row() for record in self.rounds]
        names = dict.fromkeys(
            name for row in rows for name in row
        )  # fits may differ in what they hold out
        return {name: [row.get(name) for row in rows] for name in names}


class EarlyStopping:
    """Stops when the validation loss has not fallen for some rounds, and remembers the best round."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.best_round = -1
        self.best_log_loss = math.inf

    def on_round(self, record: Round) -> bool:
        """Compare with the best so far."""
        if record.held is None:
            return False
        if record.held.log_loss < self.best_log_loss:
            self.best_round, self.best_log_loss = record.index, record.held.log_loss
        return record.index - self.best_round >= self.patience

    def on_end(self) -> None:
        """Nothing to tidy up."""


class Tolerance:
    """Stops when the loss has fallen below a share of what it was at first."""

    def __init__(self, share: float, first_log_loss: float) -> None:
        self.log_level = first_log_loss + math.log(share) if share > 0 else -math.inf

    def on_round(self, record: Round) -> bool:
        """Compare with the level."""
        return record.log_loss < self.log_level

    def on_end(self) -> None:
        """Nothing to tidy up."""


class Progress:
    """A progress bar with the time left; silent where there is no terminal."""

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
        """Move on."""
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
        """Leave the bar as it stands."""
        if self._last is not None:
            self._show(self._last)
        self._bar.stop()


class Hearing:
    """Hands over callbacks, and tells them when all is over, however it ends."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self.callbacks = callbacks

    def __enter__(self) -> Sequence[Callback]:
        return self.callbacks

    def __exit__(self, *_: object) -> None:
        for callback in self.callbacks:
            callback.on_end()


def tell(callbacks: Sequence[Callback], record: Round) -> bool:
    """Tell all of them; True if any wants to stop."""
    wishes = [callback.on_round(record) for callback in callbacks]  # all hear of it
    return any(wishes)
