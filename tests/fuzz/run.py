"""Alter model files many times and judge what comes of it: python tests/fuzz/run.py [count] [--seed n].

Works in processes of its own, so that a crash is told of with the number of the alteration that caused it:
python tests/fuzz/run.py --only that_number does it again. With --keep file, what was tried is kept there,
and the same command goes on from there after it was stopped.
"""
# ruff: noqa: T201  (a command)

import argparse
import json
import multiprocessing
import queue
import random
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.bases import load_bases
from fuzz.judging import alter, check
from fuzz.tally import Tally
from rebelboost.base.writing import write_text_whole

PATIENCE = 60.0
"""Seconds after which an alteration counts as an endless loop."""
ROOM = 8 << 30
"""Bytes of addresses, most of which libraries and threads keep: asking for more is an error."""
AT_ONCE, TOLD = 20_000, 500
"""Alterations of one process, and how many are told of together."""
EACH = 16
"""One in so many has its memory counted, which takes longer than all else."""


def one(files, seed, i):
    rng = random.Random(f"{seed} {i}")
    base = files[i % len(files)]
    altered = alter(base.blob, rng)
    return altered, check(altered, base, measured=i % EACH == 0)


def work(seed, numbers, at, results):
    """Judge alterations, and put a tally of each few into the queue."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    files = load_bases()
    one(files, seed, 0)  # imports are not the alterations' memory
    for first in range(0, len(numbers), TOLD):
        found = Tally()
        for i in numbers[first : first + TOLD]:
            at.value = i
            try:
                found.add(*one(files, seed, i))
            except Exception as error:  # noqa: BLE001  (whatever it is, it is told of)
                found.add_failure(i, f"{type(error).__name__}: {error}")
        results.put(found)


def run(numbers, seed):
    """The tally of some alterations, judged in a process of their own; in another one after a crash."""
    total = Tally()
    while total.n < len(numbers):
        left = numbers[total.n :]
        found, fault = run_once(left, seed)
        for each in found:
            total += each
        if fault is not None:
            # Those that were judged but not told of are judged again, up to the one before.
            at, end = fault
            for each in run_once(left[sum(e.n for e in found) : left.index(at)], seed)[0]:
                total += each
            total.add_failure(at, end)
    return total


def run_once(numbers, seed):
    """The tallies that a process told of, and (alteration, what happened) if it did not end well."""
    context = multiprocessing.get_context("spawn")
    at, results = context.Value("q", -1), context.Queue()
    child = context.Process(target=work, args=(seed, numbers, at, results))
    child.start()
    found, last, since = [], -1, time.monotonic()
    while sum(each.n for each in found) < len(numbers):
        try:
            found.append(results.get(timeout=0.5))
        except queue.Empty:
            if at.value != last:
                last, since = at.value, time.monotonic()
            dead = not child.is_alive() and results.empty()
            patience = PATIENCE if at.value >= 0 else 10 * PATIENCE  # while the files are made
            if dead or time.monotonic() - since > patience:
                child.kill()
                child.join()
                if at.value < 0:
                    raise SystemExit("the files to alter cannot be loaded") from None
                return found, (at.value, "crashed" if dead else "does not end")
    child.join()
    return found, None


def kept(path, seed):
    """What was tried with this seed before."""
    if path is None or not path.exists():
        return Tally()
    found = json.loads(path.read_text(encoding="utf-8"))
    if found.pop("seed") != seed:
        raise SystemExit(f"{path} is of another seed: delete it, or give another file")
    return Tally.from_json(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--only", type=int, help="show this alteration alone")
    parser.add_argument("--keep", type=Path, help="file to keep what was tried in")
    given = parser.parse_args()
    if given.only is not None:
        print(*one(load_bases(), given.seed, given.only), sep="\n")
        return
    total = kept(given.keep, given.seed)
    starts = range(total.n, given.count, AT_ONCE)
    shares = [range(first, min(first + AT_ONCE, given.count)) for first in starts]
    with ThreadPoolExecutor(given.jobs) as pool:  # each waits for a process
        began = time.monotonic()
        for found in pool.map(lambda share: run(share, given.seed), shares):
            total += found
            total.seconds += time.monotonic() - began
            began = time.monotonic()
            print(f"{total.n:,} tried, {len(total.failures)} failed", flush=True, file=sys.stderr)
            for i, failure in found.failures[:20]:
                print(f"FAILED alteration {i}: {failure}", flush=True)
            if given.keep is not None:
                write_text_whole(given.keep, json.dumps({"seed": given.seed, **total.to_json()}))
    print(total)
    sys.exit(bool(total.failures))


if __name__ == "__main__":
    main()
