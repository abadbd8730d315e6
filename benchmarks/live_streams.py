"""Errors over time on twelve streams of 500 labels: ours beside learners that take one label at a time.

python benchmarks/live_streams.py [--choosing] [--seeds 1] [--only ours] [--streams pendigits,SEA]

Each row is predicted, then its label is learned. Printed are the mistakes among the first 20, 50, 100 and 500
labels, their mean, and the processor seconds. Learners of scikit-learn and LightGBM are told all classes
beforehand; ours and River's are not. Needs river (pip install river).
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from live import learners, streams
from measuring import markdown

OURS = "rebelboost"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choosing", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--streams", default="")
    given = parser.parse_args()
    names = streams.CHOOSING if given.choosing else streams.NAMES
    names = [n for n in names if any(w in n for w in given.streams.split(","))]
    runs = {OURS: learners.ours}
    if given.only == "rivals":
        runs = learners.rivals()
    elif given.only != "ours":
        runs |= learners.rivals()
    means: dict[str, list[float]] = {name: [] for name in runs}
    seconds: dict[str, float] = dict.fromkeys(runs, 0.0)
    for stream in names:
        rows: list[list[Any]] = []
        for name, run in runs.items():
            errors = []
            for seed in range(given.seeds):
                sample = streams.stream(stream, seed)
                done = run(sample, sorted({y for _, y in sample}))
                errors.append(done.errors())
                seconds[name] += done.seconds
            by_label = np.mean(errors, axis=0)
            means[name].append(float(by_label.mean()))
            rows.append([name, *(f"{e:.1f}" for e in by_label), f"{by_label.mean():.1f}"])
        print(f"\n{stream}", flush=True)
        print(markdown(["", *map(str, learners.CHECKPOINTS), "mean"], rows), flush=True)
    best = np.array([means[name] for name in runs]).min(axis=0)
    lowest = {name: int(np.sum(np.array(found) <= best)) for name, found in means.items()}
    print(f"\nmean of the four checkpoints over {len(names)} streams, {given.seeds} seeds")
    table = [
        [name, f"{np.mean(found):.1f}", str(lowest[name]), f"{seconds[name]:.0f}"]
        for name, found in means.items()
    ]
    print(markdown(["", "mean error, %", "lowest on", "processor seconds"], table))


if __name__ == "__main__":
    main()
