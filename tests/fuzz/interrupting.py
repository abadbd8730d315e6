"""Interrupt the command at each of its system calls, and at random moments.

python tests/fuzz/interrupting.py [--quick]

A child process waits at a call until it is told of a signal, so that no moment is left to chance. It must
end with exit code 130 (Ctrl-C) or 143 (SIGTERM), and leave all files whole and none half written.
"""
# ruff: noqa: T201  (a command)

import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("POLARS_MAX_THREADS", "1")  # each child would start its own

import narwhals._polars.dataframe  # noqa: F401

import rebelboost.cli.predict
import rebelboost.cli.report
import rebelboost.cli.train  # noqa: F401  (imported once, not in each child)
from loans import loan_lines
from rebelboost.base import writing
from rebelboost.cli.main import app
from rebelboost.files.safetensors import parse

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
TRAIN = "train loans.csv --target repaid --rounds 3 --learner stump --threads 1"
COMMANDS = (
    f"{TRAIN} -o new.safetensors",
    f"{TRAIN} -o loans.safetensors",
    "predict loans.safetensors loans.csv -o out.csv",
    "predict loans.safetensors loans.csv -o out.parquet",
    "report loans.safetensors loans.csv -o out.html",
)
LONGEST = 1.5
"""Seconds after which a random moment comes at the latest."""
MOST_WRITES = 3
"""Writes at which a process is interrupted; a model is written in dozens of pieces."""


class WaitingCalls:
    """`os`, whose call of this number waits for a signal."""

    WATCHED = ("open", "write", "close", "fsync", "stat", "chmod", "link", "replace")

    def __init__(self, number, told):
        self._number, self._told, self._n, self._n_writes = number, told, 0, 0

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in self.WATCHED:
            return real

        def call(*given, **more):
            self._n_writes += name == "write"
            if name == "write" and self._n_writes > MOST_WRITES:
                return real(*given, **more)
            self._n += 1
            if self._n - 1 == self._number:
                os.write(self._told, b".")
                while True:
                    time.sleep(0.005)
            return real(*given, **more)

        return call


def child(words, number, told):
    """Run a command in a new process; its exit code, or that of Python."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if number is not None:
        writing.os = WaitingCalls(number, told)
    try:
        app(words.split())
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except KeyboardInterrupt:
        code = 130
    except BaseException:  # noqa: BLE001  (whatever it is, it is told of)
        code = 99
    os._exit(code)


def started(words, number=None):
    heard, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(heard)
        child(words, number, told)
    os.close(told)
    return pid, heard


def ended(pid):
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def contents():
    return {p.name: p.read_bytes() for p in Path().iterdir()}


def fault_of(code, allowed, before, finished):
    """What is wrong after a signal; empty if nothing is."""
    after = contents()
    if code not in allowed:
        return f"exit code {code}"
    for name in after.keys() | before.keys():
        if after.get(name) != before.get(name) and not _is_finished(
            after.get(name), finished.get(name)
        ):
            return f"{name} is neither what it was nor what it was to be"
        if name not in before and name not in finished:
            return f"{name} is left"
    return ""


def _is_finished(blob, expected):
    """Whether a file is what it was to be; the times in model files differ."""
    if blob is None or expected is None or blob == expected:
        return blob == expected
    return blob[8:9] == b"{" and expected[8:9] == b"{" and bool(parse(blob).arrays)


def at_each_call(words, name, before, finished):
    """Yield the fault after a signal at each system call."""
    number = 0
    while True:
        restore(before)
        pid, heard = started(words, number)
        waiting = os.read(heard, 1)
        os.close(heard)
        if not waiting:  # there are no more calls
            ended(pid)
            return
        os.kill(pid, name)
        yield f"call {number}", fault_of(ended(pid), {CODES[name]}, before, finished)
        number += 1


def at_random(words, name, before, finished, rng):
    restore(before)
    pid, heard = started(words)
    os.close(heard)
    time.sleep(rng.uniform(0, LONGEST))
    os.kill(pid, name)
    code = ended(pid)
    # The signal may come before the command has begun to listen, or after it has ended.
    allowed = {0, CODES[name], -name}
    return "a random moment", fault_of(code, allowed, before, finished)


def restore(files):
    for path in Path().iterdir():
        if path.name not in files:
            path.unlink()
    for name, blob in files.items():
        Path(name).write_bytes(blob)


def finished_files(words, before):
    restore(before)
    pid, heard = started(words)
    os.close(heard)
    assert ended(pid) == 0, words
    return contents()


def warm_up():
    """Load what the command imports late, once and not in each child, by commands that end before they read.

    A whole command would start threads of polars, which a fork does not survive.
    """
    with Path(os.devnull).open("w", encoding="utf-8") as quiet, contextlib.redirect_stderr(quiet):
        for words in (
            f"train nowhere.csv {TRAIN.partition(' ')[2]}",
            "predict nowhere nowhere.csv",
        ):
            with contextlib.suppress(SystemExit):
                app(words.split())


def main():
    warm_up()
    quick = "--quick" in sys.argv
    n_random = 1 if quick else 5
    os.chdir(tempfile.mkdtemp())
    Path("loans.csv").write_text("\n".join(loan_lines(n_rows=60)) + "\n", encoding="utf-8")
    pid, _ = started(TRAIN)
    assert ended(pid) == 0
    before, rng = contents(), random.Random(0)
    n_tried, faults = 0, []
    for i, words in enumerate(COMMANDS):
        for name in list(CODES)[i % 2 : i % 2 + 1] if quick else CODES:
            finished = finished_files(words, before)
            found = list(at_each_call(words, name, before, finished))
            found += [at_random(words, name, before, finished, rng) for _ in range(n_random)]
            n_tried += len(found)
            print(words, name.name, len(found), file=sys.stderr, flush=True)
            faults += [(words, name.name, where, fault) for where, fault in found if fault]
    print(f"{n_tried} interrupted, {len(faults)} failed")
    print(*faults, sep="\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
