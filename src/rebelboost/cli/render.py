"""Print results as text or JSON on stdout; print notes and, on a terminal, progress on stderr."""

import io
import json
import math
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import numpy as np

Line = tuple[str, str]
"""A label and its text."""
LEAST_WIDTH, MOST_WIDTH = 40, 110
"""Minimum width of wrapped text and maximum width of a line, in characters."""


class Output:
    """Writes text or JSON records to stdout, and notes and progress to stderr."""

    def __init__(self, *, as_json: bool = False) -> None:
        from rich.console import Console

        self.as_json = as_json
        self._outlasts_reader = False
        self._out = Console(file=_open(sys.stdout), highlight=False, soft_wrap=True, markup=False)
        self._err = Console(file=_open(sys.stderr), highlight=False, soft_wrap=True, markup=False)

    def outlast_reader(self) -> None:
        """Go on if the reader of stdout closes it, as `head` does, without printing more."""
        self._outlasts_reader = True

    @contextmanager
    def _printing(self) -> Iterator[None]:
        try:
            yield
        except (BrokenPipeError, SystemExit):  # rich exits instead
            if not self._outlasts_reader:
                raise BrokenPipeError from None
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)

    @property
    def is_watched(self) -> bool:
        """Whether stderr is a terminal, so that progress is shown."""
        return self._err.is_terminal

    def heading(self, text: str) -> None:
        """Print a heading in bold."""
        if not self.as_json:
            with self._printing():
                self._out.print(text, style="bold")

    def text(self, text: str) -> None:
        """Print text without wrapping."""
        if not self.as_json:
            with self._printing():
                self._out.print(text)

    def lines(self, lines: Sequence[Line]) -> None:
        """Print labels on the left and their texts on the right, wrapped to the terminal's width."""
        if self.as_json or not lines:
            return
        from rich.text import Text

        margin = max(len(name) for name, _ in lines) + 4
        width = max(LEAST_WIDTH, min(self._out.width, MOST_WIDTH) - margin)
        for name, said in lines:
            first, *rest = textwrap.wrap(said, width, break_on_hyphens=False) or [""]
            with self._printing():
                self._out.print(Text.assemble((f"  {name}".ljust(margin), "cyan"), first))
                for line in rest:
                    self._out.print(" " * margin + line)

    def notes(self, notes: Sequence[str]) -> None:
        """Print notes to stderr."""
        for note in notes:
            self._err.print(f"rebel: note: {note}", style="yellow")

    def step(self, text: str) -> None:
        """Print the current step, on a terminal only."""
        if self.is_watched:
            self._err.print(text, style="dim")

    def record(self, kind: str, told: dict[str, Any]) -> None:
        """Print one line of JSON, if --json was given."""
        if self.as_json:
            text = json.dumps(_plain({"record": kind, **told}), ensure_ascii=False, allow_nan=False)
            with self._printing():
                print(text, flush=self._outlasts_reader)

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show a spinner while something runs, on a terminal only."""
        if not self.is_watched:
            yield
            return
        with self._err.status(what):
            yield

    @contextmanager
    def telling(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show a spinner with a text that can be changed, on a terminal only."""
        if not self.is_watched:
            yield lambda _: None
            return
        with self._err.status(what) as status:
            yield status.update

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Print rebelboost's warnings as notes, each once."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            yield
        ours = [w for w in caught if w.category.__module__.startswith("rebelboost")]
        self.notes(list(dict.fromkeys(str(warning.message) for warning in ours)))


def _open(stream: TextIO | None) -> TextIO:
    """A stream of the process; nothing in place of one that is closed."""
    return io.StringIO() if stream is None else stream


def _plain(value: Any) -> Any:
    """Convert to types that JSON supports; numbers that are not finite become None."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)
