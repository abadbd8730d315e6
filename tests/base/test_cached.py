"""Cached properties are computed once, and hold no lock that a forked process could inherit."""

import multiprocessing
import threading
from pathlib import Path

import pytest

import rebelboost
from rebelboost.base.cached import cached_property

STARTED, GO_ON = threading.Event(), threading.Event()


class Slow:
    def __init__(self, waits):
        self.waits, self.n_times = waits, 0

    @cached_property
    def value(self):
        """What it is."""
        self.n_times += 1
        if self.waits:
            STARTED.set()
            GO_ON.wait(60)
        return [self.n_times]


def test_it_is_computed_once_and_documented():
    slow = Slow(waits=False)
    assert slow.value is slow.value
    assert slow.n_times == 1
    assert Slow.value.__doc__ == "What it is."


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_forked_while_another_thread_computes_can_compute_too():
    thread = threading.Thread(target=lambda: Slow(waits=True).value)
    thread.start()
    assert STARTED.wait(60)
    child = multiprocessing.get_context("fork").Process(target=lambda: Slow(waits=False).value)
    child.start()
    child.join(20)
    hangs = child.is_alive()
    child.kill()
    child.join()
    GO_ON.set()
    thread.join()
    assert not hangs
    assert child.exitcode == 0


def test_nothing_in_the_package_uses_the_property_with_a_lock():
    folder = Path(rebelboost.__file__).parent
    users = [
        path.name
        for path in folder.rglob("*.py")
        if "functools" in (text := path.read_text(encoding="utf-8"))
        and any("functools" in line and "cached_property" in line for line in text.splitlines())
    ]
    assert users == ["cached.py"]
