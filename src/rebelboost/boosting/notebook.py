"""Progress in notebooks: one line of HTML that is updated in place.

rich's bar needs ipywidgets there, and is not shown without them.
"""

import html
import sys
import time
from importlib import import_module
from typing import Any, ClassVar

from rebelboost.boosting.rounds import Round, RoundBatch

EVERY = 0.25
"""Seconds between updates."""


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter kernel, which can show HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class NotebookProgress:
    """A progress bar below the cell: rounds and fits so far, time, and error."""

    may_wait: ClassVar[bool] = True

    def __init__(self, n_rounds: int, error_format: str = ".2%") -> None:
        self.n_rounds = n_rounds
        self.error_format = error_format
        self.n_done, self.n_fits = 0, 0
        self._began = time.monotonic()
        self._next_update = 0.0
        self._last: Round | None = None
        self._handle: Any = None

    def on_rounds(self, batch: RoundBatch) -> bool:
        """Advance the bar."""
        last, record = self._last, batch.last
        self.n_fits += last is None or record.part != last.part or record.index <= last.index
        self.n_done += len(batch)
        self._last = record
        now = time.monotonic()
        if now >= self._next_update:
            self._next_update = now + EVERY
            self._show(ended=False)
        return False

    def on_end(self) -> None:
        """Show the last state."""
        if self._last is not None:
            self._show(ended=True)

    def text(self, *, ended: bool) -> str:
        """The state in words."""
        record = self._last
        assert record is not None
        error = f"training error {record.error:{self.error_format}}"
        if record.held is not None:
            error += f", held-out error {record.held.error:{self.error_format}}"
        rounds = f"{self.n_done:,} rounds" if ended else f"round {self.n_done:,}"
        fits = f" of {self.n_fits} fits" if ended and self.n_fits > 1 else ""
        fits = f" (fit {self.n_fits})" if not ended and self.n_fits > 1 else fits
        seconds = f"{time.monotonic() - self._began:.1f} s"
        return f"{'Trained: ' if ended else ''}{rounds}{fits} · {seconds} · {error}"

    def _show(self, *, ended: bool) -> None:
        shower: Any = import_module("IPython.display")  # installed wherever notebooks are
        done = 1.0 if ended else min(1.0, self.n_done / max(1, self.n_rounds))
        # Fits usually stop before the maximum number of rounds, so the bar tells no time left.
        shown = shower.HTML(
            f'<div style="font-size:90%"><progress value="{done:.3f}" max="1" '
            f'style="width:12em;vertical-align:middle"></progress> '
            f"{html.escape(self.text(ended=ended))}</div>"
        )
        if self._handle is None:
            self._handle = shower.display(shown, display_id=True)
        else:
            self._handle.update(shown)
