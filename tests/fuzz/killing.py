"""Kill processes that save models, at random moments: python tests/fuzz/killing.py [count] [folder].

Two models are saved to one file in turn. After each SIGKILL, the file must be one of the two, whole.
"""
# ruff: noqa: T201  (a command)

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from rebelboost.files.safetensors import read, write

LONGEST = 0.02
"""Seconds after which a process is killed at the latest; a few saves fit in."""


def models():
    """Two models' worth of arrays, large enough that writing takes a while."""
    return [{"a": np.full(200_000, i, dtype=np.float64)} for i in range(2)]


def save_in_turn(path, begun):
    """Save until killed; tell when the first file is there."""
    both = models()
    os.write(begun, b".")
    while True:
        for arrays in both:
            write(path, arrays, {"format": "test"})


def killed_once(path, rng):
    told, begun = os.pipe()
    child = os.fork()
    if child == 0:
        save_in_turn(path, begun)
    os.close(begun)
    os.read(told, 1)
    os.close(told)
    time.sleep(rng.uniform(0, LONGEST))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def is_whole(path):
    try:
        found = read(path).arrays["a"]
    except (ValueError, OSError) as error:
        print(error)
        return False
    return any(np.array_equal(found, each["a"]) for each in models())


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    given = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    path, rng = Path(given) / "model.safetensors", random.Random(0)
    write(path, models()[0], {"format": "test"})
    n_broken = n_left = 0
    for _ in range(count):
        killed_once(path, rng)
        n_broken += not is_whole(path)
        left = [p for p in path.parent.iterdir() if p != path]
        n_broken += any(not p.name.startswith(".model.") for p in left)
        n_left += len(left)
        for each in left:
            each.unlink()
    print(
        f"{count} killed while saving, {n_broken} files broken, {n_left} hidden files left beside"
    )
    sys.exit(bool(n_broken))


if __name__ == "__main__":
    main()
