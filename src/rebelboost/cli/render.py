"""What the command prints: text for people, or records for programs; progress where one can see it."""

import json
import math
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

Line = tuple[str, str]
"""A short name, and what is said of it."""
LEAST_WIDTH, MOST_WIDTH = 40, 110
"""Of lines that are broken."""


class Output:
    """Texts and records on stdout, notes and progress on stderr."""

    def __init__(self, *, as_json: bool = False) -> None:
        from rich.console import Console

        self.as_json = as_json
        self._out = Console(file=sys.stdout, highlight=False, soft_wrap=True, markup=False)
        self._err = Console(file=sys.stderr, highlight=False, soft_wrap=True, markup=False)

    @property
    def is_watched(self) -> bool:
        """Whether somebody sees the progress."""
        return self._err.is_terminal

    def heading(self, text: str) -> None:
        """A line that begins something."""
        if not self.as_json:
            self._out.print(text, style="bold")

    def text(self, text: str) -> None:
        """Lines as they are."""
        if not self.as_json:
            self._out.print(text)

    def lines(self, lines: Sequence[Line]) -> None:
        """Names on the left, what is said on the right, broken where the window ends."""
        if self.as_json or not lines:
            return
        from rich.text import Text

        margin = max(len(name) for name, _ in lines) + 4
        width = max(LEAST_WIDTH, min(self._out.width, MOST_WIDTH) - margin)
        for name, said in lines:
            first, *rest = textwrap.wrap(said, width, break_on_hyphens=False) or [""]
            self._out.print(Text.assemble((f"  {name}".ljust(margin), "cyan"), first))
            for line in rest:
                self._out.print(" " * margin + line)

    def notes(self, notes: Sequence[str]) -> None:
        """What the user should know, on stderr."""
        for note in notes:
            self._err.print(f"rebel: note: {note}", style="yellow")

    def step(self, text: str) -> None:
        """What happens now, for who watches."""
        if self.is_watched:
            self._err.print(text, style="dim")

    def record(self, kind: str, told: dict[str, Any]) -> None:
        """One line of JSON."""
        if self.as_json:
            print(json.dumps(_plain({"record": kind, **told}), ensure_ascii=False, allow_nan=False))

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """A sign of life while something of unknown length happens."""
        if not self.is_watched:
            yield
            return
        with self._err.status(what):
            yield

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Python's warnings become notes, each once."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            yield
        ours = [w for w in caught if w.category.__module__.startswith("rebelboost")]
        self.notes(list(dict.fromkeys(str(warning.message) for warning in ours)))


def _plain(value: Any) -> Any:
    """What JSON has words for; None for numbers that are not finite."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)
