"""What the command prints: results as text or JSON on stdout; notes, progress and errors on stderr.

Errors that the user can fix are one line with exit code 2.
"""

import enum
import io
import json
import math
import os
import signal
import sys
import textwrap
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from rebelboost.base.cached import cached_property

if TYPE_CHECKING:
    from rich.console import Console

Line = tuple[str, str]
"""A label and its text."""
LEAST_WIDTH, MOST_WIDTH = 40, 110
"""Minimum width of wrapped text and maximum width of a line, in characters."""


class Output:
    """Writes text or JSON records to stdout, and notes and progress to stderr."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._outlasts_reader = False
        self._streams = _open(sys.stdout), _open(sys.stderr)

    @cached_property
    def _out(self) -> "Console":
        return _console(self._streams[0])

    @cached_property
    def _err(self) -> "Console":
        return _console(self._streams[1])

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

    def finding(self, kind: str, found: Any) -> None:
        """Print what describes itself: as text, or as one line of JSON."""
        self.record(kind, found.to_dict())
        self.text(found.text())

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


def _console(stream: TextIO) -> "Console":
    """What writes in colours; `rebel predict`, which mostly prints a table alone, does without."""
    from rich.console import Console

    return Console(file=stream, highlight=False, soft_wrap=True, markup=False)


def _plain(value: Any) -> Any:
    """Convert to types that JSON supports; numbers that are not finite become None."""
    import numpy as np  # not at the top: `rebel --help` is fast

    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)


class Exit(enum.IntEnum):
    """Exit codes."""

    OK = 0
    BUG = 1
    """A bug in rebelboost."""
    USER = 2
    """An error that the user can fix; the message says how."""
    STOPPED = 130
    """Ctrl-C. No file is half written."""
    TERMINATED = 143
    """SIGTERM. No file is half written."""


class Terminated(BaseException):
    """The system asks the process to end. Work is undone as for Ctrl-C."""


@contextmanager
def reported(*, traced: bool) -> Iterator[None]:
    """Turn an exception into one line on stderr and an exit code."""
    try:
        with _heeding_termination():
            yield
    except KeyboardInterrupt:
        _leave("interrupted: no file is half written", Exit.STOPPED)
    except Terminated:
        _leave("terminated: no file is half written", Exit.TERMINATED)
    except BrokenPipeError:
        # The reader of stdout has closed it, as `head` does. Python would report an error when it
        # closes the stream itself.
        sys.stdout = None
        sys.exit(Exit.OK)
    except (ValueError, OSError) as error:
        _show(traced)
        _leave(_one_line(error), Exit.USER)
    except MemoryError:
        _show(traced)
        _leave("not enough memory: use fewer rows", Exit.USER)
    except Exception as error:  # noqa: BLE001  (reported as a bug)
        _show(traced)
        hint = "" if traced else "; --traceback shows where"
        _leave(
            f"bug in rebelboost, please report it: {type(error).__name__}: {_one_line(error)}{hint}",
            Exit.BUG,
        )


@contextmanager
def _heeding_termination() -> Iterator[None]:
    """Let SIGTERM raise an exception, so that unfinished files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _show(traced: bool) -> None:
    if traced:
        traceback.print_exc()


def _leave(message: str, code: Exit) -> None:
    print(f"rebel: {message}", file=sys.stderr)
    sys.exit(code)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split())
