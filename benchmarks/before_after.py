"""Two installations timed side by side: fits, predictions, loading a file, importing the package.

python benchmarks/before_after.py BEFORE AFTER [--repeats 5] [--only fit] [--limit 1.1] [--json times.json]

BEFORE and AFTER are the interpreters of the two installations. Each task has a fresh process, and the
two take turns, the one that goes first alternating, so that a busy minute of the machine hits both. All run on
one thread, and seconds are the processor's: waiting for a core that is taken does not count. A busy
neighbour still slows caches and clocks; noise only ever adds, so that the least of the repeats is compared.
"spread" is the median over the least of the repeats, the larger of both sides: ratios nearer to 1 than that
say nothing. Models to load and to predict by are fitted and saved once, by BEFORE. Both need pandas.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import data
import measuring

HERE = Path(__file__).resolve().parent
WORKER = HERE / "stopwatch" / "worker.py"
SIDES = ("before", "after")
Times = dict[str, dict[str, list[float]]]
"""Measure → side → seconds of each repeat."""


def ask(python: Path, *words: str) -> Any:
    """What a worker answers; the script ends where one fails."""
    environment = os.environ | {"PYTHONPATH": str(HERE), "REBELBOOST_DATA": str(data.folder())}
    done = subprocess.run(
        [python, WORKER, *words], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{python} failed at {' '.join(words)}:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def measure(pythons: dict[str, Path], repeats: int, only: str) -> Times:
    times: Times = {}
    with tempfile.TemporaryDirectory() as models:
        tasks = [task for task in ask(pythons["before"], "list", models) if only in " ".join(task)]
        if any(task[0] == "predict" for task in tasks):
            ask(pythons["before"], "make", models)
        for repeat in range(repeats):
            for task in tasks:
                for side in SIDES if repeat % 2 == 0 else SIDES[::-1]:
                    keep(times, side, ask(pythons[side], *task, models))
            log(f"repeat {repeat + 1} of {repeats} is done")
    return times


def keep(times: Times, side: str, found: dict[str, float]) -> None:
    for name, seconds in found.items():
        times.setdefault(name, {each: [] for each in SIDES})[side].append(seconds)


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ---- what is printed


def table(times: Times) -> str:
    header = ["", "before", "after", "after / before", "spread"]
    rows = [
        [
            name,
            *(duration(min(by_side[side])) for side in SIDES),
            f"{ratio(by_side):.3f}",
            f"{spread(by_side):.3f}",
        ]
        for name, by_side in times.items()
    ]
    return measuring.markdown(header, rows)


def ratio(by_side: dict[str, list[float]]) -> float:
    return min(by_side["after"]) / min(by_side["before"])


def spread(by_side: dict[str, list[float]]) -> float:
    return max(statistics.median(seconds) / min(seconds) for seconds in by_side.values())


def duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1e3 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def slower(times: Times, limit: float) -> list[str]:
    """Measures whose ratio is above the limit, and beyond what is noise."""
    return [n for n, by_side in times.items() if ratio(by_side) > max(limit, spread(by_side))]


def report(times: Times, limit: float) -> Iterator[str]:
    yield measuring.describe_machine(measuring.machine(), 1)
    yield table(times)
    mean = statistics.geometric_mean(ratio(by_side) for by_side in times.values())
    yield f"Geometric mean of the ratios: {mean:.3f}."
    names = slower(times, limit)
    yield f"Slower by a factor above {limit:g}: {', '.join(names) or 'none'}."


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, help="Python of the first installation")
    parser.add_argument("after", type=Path, help="Python of the second one")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="tasks with this text: fit, load …"
    )
    parser.add_argument("--limit", type=float, default=1.1, help="exit 1 if a ratio is above; 1.1")
    parser.add_argument("--json", type=Path, help="write all seconds here")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    measuring.limit_threads(1)
    times = measure(
        {"before": options.before, "after": options.after}, options.repeats, options.only
    )
    if not times:
        sys.exit(f"no task has {options.only!r} in its name: import, fit or predict")
    if options.json:
        options.json.write_text(json.dumps(times, indent=1))
    print("\n\n".join(report(times, options.limit)))
    sys.exit(int(bool(slower(times, options.limit))))


if __name__ == "__main__":
    main()
