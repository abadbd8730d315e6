"""What a user can mend is one line and exit code 2; all else is told as a fault of ours."""

import enum
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager


class Exit(enum.IntEnum):
    """Exit codes."""

    OK = 0
    FAULT = 1
    """An error in rebelboost itself."""
    USER = 2
    """Something that the message says how to mend."""
    STOPPED = 130
    """Ctrl-C; files are as they were."""


@contextmanager
def reported(*, traced: bool) -> Iterator[None]:
    """Turn exceptions into a line on stderr and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        _leave("stopped: no file was changed", Exit.STOPPED)
    except BrokenPipeError:
        # Whoever read our output wants no more. Python would complain when it closes the stream.
        sys.stdout = None
        sys.exit(Exit.OK)
    except (ValueError, OSError) as error:
        _show(traced)
        _leave(_one_line(error), Exit.USER)
    except MemoryError:
        _show(traced)
        _leave("the machine has too little memory for this: give fewer rows", Exit.USER)
    except Exception as error:  # noqa: BLE001  (a last resort, told as what it is)
        _show(traced)
        hint = "" if traced else "; --traceback shows where"
        _leave(
            f"a fault of rebelboost: {type(error).__name__}: {_one_line(error)}{hint}", Exit.FAULT
        )


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
