"""Small files that once took much memory or time to load: python tests/fuzz/attacks.py prints what they take.

Each is loaded in a process of its own, whose memory is limited.
"""
# ruff: noqa: T201  (a command)

import json
import multiprocessing
import resource
import sys
import time
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.altering import in_file, parts_of
from fuzz.judging import load_model
from rebelboost import ModelFileError
from rebelboost.base.checks import Fields, Room
from rebelboost.files import safetensors as tensors
from rebelboost.files.packing import packed, unpacked
from rebelboost.files.texts import text_arrays
from stored_models import FOLDER

MOST = 8 << 30
"""Bytes of addresses of a process that loads a file."""
PATIENCE = 120.0


def kept(kind):
    (path,) = FOLDER.glob(f"*-{kind}.safetensors")
    arrays, texts = parts_of(path.read_bytes())
    return arrays, texts, json.loads(texts["model"])


def file_of(arrays, texts, model):
    """A file of these parts, of whatever shape, with a checksum."""
    texts = {**texts, "model": json.dumps(model)}
    texts["sha256"] = tensors.checksum(arrays, texts)
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    with mock.patch.object(tensors, "check_header"):
        header = tensors._header(arrays, order, texts)
    return in_file(header, arrays, order)


def letters(n):
    """Random letters, which nothing makes smaller."""
    return np.random.default_rng(0).integers(97, 123, n).astype(np.uint8).tobytes().decode()


# ---- the attacks


def many_rows_of_nothing():
    """Outputs of a thousand million leaves, none of which takes a byte."""
    arrays, texts, model = kept("packed")
    outputs = [name for name in arrays if name.startswith("packed.trees.outputs")]
    for name in (*outputs, "trees.counts", "trees.outputs"):
        arrays.pop(name, None)
    model["packed"]["arrays"].pop("trees.outputs", None)
    arrays["trees.balanced_counts"] = np.empty((10**9, 0), dtype=np.int16)
    arrays["trees.exponents"] = np.zeros(len(arrays["trees.depths"]), dtype=np.int16)
    return file_of(arrays, texts, model)


def wide_texts():
    """A parameter of short texts and a long one: as an array, all are as wide as the widest."""
    arrays, texts, model = kept("stump")
    items = ["a"] * 9_500 + ["b" * 80_000]
    model["parameters"]["costs"] = {"$": "texts", "items": items}
    return file_of(arrays, texts, model)


def stage_by_stage(n_times=20_000, n_letters=1_150_000):
    """Arrays that are inflated, then widened, then completed to whole trees with tables of categories."""
    arrays, texts, model = kept("packed")
    whole = {n: a for n, a in unpacked_by(arrays, model).items() if not n.startswith("staged.")}
    model.pop("cascade")
    nodes, n_nodes = whole["trees.table_nodes"], len(whole["trees.features"])
    for name in list(whole):
        if name == "terms" or name.startswith(("trees.", "history.")):
            whole[name] = np.concatenate([whole[name]] * n_times)
    whole["trees.table_nodes"] = (nodes + n_nodes * np.arange(n_times)[:, np.newaxis]).ravel()
    whole |= text_arrays("rows", [f'"{letters(n_letters)}"'])
    whole["rows.numbers"] = np.zeros(1, dtype=np.int64)
    small, model["packed"] = packed(whole, whole, lambda *_: True)
    return file_of(small, texts, model)


def unpacked_by(arrays, model):
    return dict(unpacked(arrays, Fields(model.pop("packed"), "'packed'"), Room(1 << 40)))


def colliding(bits):
    """Numbers below 2³¹ for which Python's table of 2^bits hashes looks in one place after the other."""
    size = 1 << bits
    n = size // 3 - 10
    path = [0]
    while len(path) < n:
        path.append((5 * path[-1] + 1) % size)
    rank = np.full(size, size)
    rank[path] = np.arange(n)
    found, rng = [], np.random.default_rng(0)
    while sum(map(len, found)) < n:
        number = rng.integers(size, 2**31, 1 << 20)
        place, left = number % size, number
        while len(number) and left.any():
            there = rank[place] < n
            number, left = number[there], left[there] >> 5
            place = (5 * place[there] + left + 1) % size
        found.append(number[rank[place] < n // 2])
    return np.concatenate([path, np.unique(np.concatenate(found))[:n]])


def colliding_rows(bits=16):
    """Numbers of rows that have the same places in a table of hashes."""
    arrays, texts, model = kept("stump_exact")
    arrays["rows.numbers"] = colliding(bits)
    arrays |= text_arrays("rows", ["0"] * len(arrays["rows.numbers"]))
    return file_of(arrays, texts, model)


def colliding_keys(bits=12):
    """The same in a dict of costs."""
    arrays, texts, model = kept("stump_exact")
    pairs = [[number, 0] for number in colliding(bits).tolist()]
    model["parameters"]["costs"] = {"$": "dict", "items": pairs}
    return file_of(arrays, texts, model)


def large_taxonomy(n=6_000):
    """A taxonomy of many classes, whose distances are those of all pairs."""
    arrays, texts, model = kept("taxonomy")
    pairs = [[f"c{i}", f"a/b{i}"] for i in range(n)]
    paths = {"$": "dict", "items": pairs}
    model["parameters"]["costs"] = {"$": "Taxonomy", "paths": paths, "distance": "path"}
    return file_of(arrays, texts, model)


def many_names(n=900_000):
    """Names of rows and columns of one letter, which are larger as Python's texts."""
    arrays, texts, model = kept("packed")
    whole = unpacked_by(arrays, model)
    whole["rows.numbers"] = np.arange(n)
    whole |= text_arrays("rows", ['"é"'] * (n - 1) + [f'"{letters(300_000)}"'])
    small, model["packed"] = packed(whole, whole, lambda *_: True)
    return file_of(small, texts, model)


ATTACKS = (
    many_rows_of_nothing,
    wide_texts,
    stage_by_stage,
    colliding_rows,
    colliding_keys,
    large_taxonomy,
    many_names,
)


# ---- what they take


def _load(attack, results):
    try:
        blob = attack()
    except Exception as error:
        results.put((0, 0, 0, f"not made: {error}"))
        raise
    load_model(kept_file("stump"))  # imports are not the attack's
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak, from here
    before, began = _memory("VmRSS"), time.process_time()
    try:
        load_model(blob)
        end = "loaded"
    except ModelFileError as fault:
        end = f"refused: {fault}"
    except MemoryError:
        end = "MemoryError"
    except Exception as error:  # noqa: BLE001  (whatever it is, it is told of)
        end = f"{type(error).__name__}: {error}"
    results.put((len(blob), time.process_time() - began, _memory("VmHWM") - before, end))


def kept_file(kind):
    (path,) = FOLDER.glob(f"*-{kind}.safetensors")
    return path.read_bytes()


def _memory(name):
    """Bytes of memory by a name of the system."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def measure(attack):
    """(bytes of the file, seconds, bytes of memory, what happened)."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    child = context.Process(target=_load, args=(attack, results))
    child.start()
    try:
        return results.get(timeout=PATIENCE)
    finally:
        child.kill()
        child.join()


def main():
    for attack in [each for each in ATTACKS if each.__name__ in (sys.argv[1:] or each.__name__)]:
        n, seconds, memory, end = measure(attack)
        print(
            f"{attack.__name__:<22} {n / 1e3:>8,.0f} kB {seconds:>7.2f} s {memory / 1e6:>8,.0f} MB  {end[:70]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
