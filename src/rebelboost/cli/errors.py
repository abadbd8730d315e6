"""Exit codes and error messages: errors that the user can fix are one line with exit code 2."""

import enum
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager


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
