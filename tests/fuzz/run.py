"""Alter model files many times and judge what comes of it: python tests/fuzz/run.py [count] [--seed n].

Works in a process of its own, so that a crash is told of with the number of the alteration that caused it:
python tests/fuzz/run.py --only that_number does it again.
"""
# ruff: noqa: T201  (a command)

import argparse
import collections
import multiprocessing
import random
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.altering import VALUES
from fuzz.bases import load_bases
from fuzz.judging import alter, check

PATIENCE = 60.0
"""Seconds after which an alteration counts as an endless loop."""
ROOM = 8 << 30
"""Bytes of addresses, most of which libraries and threads keep: asking for more is an error."""
AT_ONCE = 5_000
"""Alterations of one process: measuring memory so often leaks some itself."""


def one(files, seed, i, *, thorough=True):
    rng = random.Random(f"{seed} {i}")
    base = files[i % len(files)]
    altered = alter(base.blob, rng)
    return altered, check(altered, base, thorough=thorough)


def work(seed, numbers, at, results):
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    files = load_bases()
    one(files, seed, 0)  # imports are not the alterations' memory
    counts, faults, failures, most = collections.Counter(), collections.Counter(), [], -(10**9)
    for i in numbers:
        at.value = i
        try:
            altered, outcome = one(files, seed, i)
        except Exception as error:  # noqa: BLE001  (whatever it is, it is told of)
            failures.append((i, f"{type(error).__name__}: {error}"[:300]))
            continue
        word = "refused" if outcome.refused else "same" if outcome.same else "other"
        counts[altered.sort, word] += 1
        faults[outcome.fault[:24]] += 1
        most = max(most, outcome.extra)
    results.put((counts, faults, failures, most))


def run(numbers, seed):
    """Some alterations in a process of their own."""
    context = multiprocessing.get_context("spawn")
    at, results = context.Value("q", -1), context.Queue()
    child = context.Process(target=work, args=(seed, numbers, at, results))
    child.start()
    last, since = -1, time.monotonic()
    while results.empty():
        time.sleep(0.2)
        if at.value != last:
            last, since = at.value, time.monotonic()
        dead = not child.is_alive() and results.empty()
        if dead or time.monotonic() - since > PATIENCE:
            child.kill()
            end = "crashed" if dead else "does not end"
            raise SystemExit(f"alteration {at.value} of seed {seed} {end}")
    found = results.get()
    child.join()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--only", type=int, help="show this alteration alone")
    given = parser.parse_args()
    if given.only is not None:
        print(*one(load_bases(), given.seed, given.only), sep="\n")
        return
    counts, faults, failures = collections.Counter(), collections.Counter(), []
    most, began = 0, time.monotonic()
    starts = range(0, given.count, AT_ONCE)
    shares = [range(first, min(first + AT_ONCE, given.count)) for first in starts]
    with ThreadPoolExecutor(given.jobs) as pool:  # each waits for a process
        for more, named, failed, extra in pool.map(lambda share: run(share, given.seed), shares):
            counts, faults, failures = counts + more, faults + named, failures + failed
            most = max(most, extra)
            done = counts.total() + len(failures)
            print(f"{done:,} done, {len(failures)} failures", flush=True, file=sys.stderr)
            for i, failure in failed[:20]:
                print(f"FAILED alteration {i}: {failure}", flush=True)
    tell(counts, faults, most, time.monotonic() - began)
    sys.exit(f"{len(failures)} failures" if failures else 0)


def tell(counts, faults, most, seconds):
    for (sort, word), n in sorted(counts.items()):
        told = "another sound model" if (sort, word) == (VALUES, "other") else word
        print(f"{sort:>10} {told:<20} {n:>8,}")
    n = counts.total()
    print(f"{n:,} alterations in {seconds:.0f} s, {1e3 * seconds / max(n, 1):.1f} ms each")
    print(f"most memory beyond twice the file: {most / 1024:.0f} KiB")
    often = "; ".join(f for f, _ in faults.most_common(9) if f)
    print(f"{len(faults) - 1} kinds of fault, such as: {often}")


if __name__ == "__main__":
    main()
