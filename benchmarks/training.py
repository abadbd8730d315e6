"""Rebel beside its rivals, at their defaults: error, fit and predict times, memory.

python benchmarks/training.py [--quick] [--sets a,b] [--rivals a,b] [--repeats 3] [--json results.json]
"""

import argparse
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import compare
import data
import measuring

LARGE = ("isolet", "mnist")
REPEATS_LARGE = 2
QUICK_SETS = ["segment", "landsat", "pendigits", "optdigits", "letter"]
QUICK_RIVALS = [*compare.RIVALS, "random_forest", "extra_trees"]
PREDICT_SECONDS = 0.5
SINGLE_ROWS = 200

Run = dict[str, Any]  # a value for each measure, name and version; or a problem and its reason
Results = dict[str, dict[str, Run]]  # set → rival → summary


@dataclass(frozen=True)
class Measure:
    """One column of a run, how its repeats are summarised, and what we want of it."""

    key: str
    title: str
    digits: int
    summary: Callable[[Iterable[float]], float]
    higher_is_better: bool = False
    against: tuple[str, ...] = (compare.BASELINE,)

    def show(self, value: float) -> str:
        return f"{value:,.{self.digits}f}"

    def reached(self, ours: float, theirs: float) -> bool:
        return ours > theirs if self.higher_is_better else ours <= theirs


ALL_RIVALS = tuple(rival for rival in compare.RIVALS if rival != compare.TREES)
# Noise only ever adds time, so the best repeat is the nearest to the truth; memory is a peak.
MEASURES = (
    Measure("error", "Test error, %", 2, statistics.mean),
    Measure("fit", "Fit time, s", 2, min),
    Measure("throughput", "Predict, rows/s", 0, max, higher_is_better=True, against=ALL_RIVALS),
    Measure("latency", "Predict one row, µs", 0, min),
    Measure("memory", "Peak memory of the fit, MB beyond what was held before it", 1, max),
)


def measure(rival: str, set_name: str, n_threads: int) -> Run:
    """One fit and its predictions; called in a process of its own."""
    warnings.simplefilter("ignore")
    module, split = compare.load(rival), data.load(set_name)
    warm_up(module.make(n_threads))
    classifier = module.make(n_threads)
    seconds, memory = measure_fit(classifier, split.X_train, split.y_train)
    wrong = np.ravel(classifier.predict(split.X_test)) != split.y_test
    return {
        "error": 100 * float(wrong.mean()),
        "fit": seconds,
        "throughput": throughput(classifier, split.X_test),
        "latency": latency(classifier, split.X_test),
        "memory": memory,
        "name": module.name,
        "version": version(classifier),
    }


def warm_up(classifier: Any) -> None:
    """A tiny fit and prediction: late imports and starting threads are not part of a fit."""
    X = np.random.default_rng(0).standard_normal((200, 4), dtype=np.float32)
    classifier.fit(X, (X[:, 0] > 0).astype(np.int64)).predict(X)


def measure_fit(classifier: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float | None]:
    """Seconds, and megabytes at the peak beyond those held before."""
    measuring.forget_peak()
    before = measuring.resident_memory()
    start = time.perf_counter()
    classifier.fit(X, y)
    seconds = time.perf_counter() - start
    peak = measuring.peak_memory()
    if peak is None or before is None:
        return seconds, None
    return seconds, (peak - before) / measuring.MB


def seconds_of_predict(classifier: Any, X: np.ndarray) -> float:
    start = time.perf_counter()
    classifier.predict(X)
    return time.perf_counter() - start


def throughput(classifier: Any, X: np.ndarray) -> float:
    """Rows a second in the best of as many calls as fill PREDICT_SECONDS."""
    seconds = [seconds_of_predict(classifier, X)]
    while sum(seconds) < PREDICT_SECONDS:
        seconds.append(seconds_of_predict(classifier, X))
    return len(X) / min(seconds)


def latency(classifier: Any, X: np.ndarray) -> float:
    """Median microseconds to predict a single row."""
    rows = (X[i : i + 1] for i in np.arange(SINGLE_ROWS) % len(X))
    return 1e6 * statistics.median(seconds_of_predict(classifier, row) for row in rows)


def version(classifier: Any) -> str:
    roots = (kind.__module__.partition(".")[0] for kind in type(classifier).__mro__)
    package = next(root for root in roots if root != compare.__name__)
    return f"{package} {sys.modules[package].__version__}"


def run_all(sets: list[str], rivals: list[str], repeats: int, n_threads: int) -> Results:
    """Rivals take turns within each repeat: a busy minute of the machine hits all alike."""
    results: Results = {}
    for set_name in sets:
        runs: dict[str, list[Run]] = {rival: [] for rival in rivals}
        for _ in range(min(repeats, REPEATS_LARGE) if set_name in LARGE else repeats):
            for rival in rivals:
                runs[rival].append(run(rival, set_name, n_threads))
        results[set_name] = {rival: summarise(done) for rival, done in runs.items()}
    return results


def run(rival: str, set_name: str, n_threads: int) -> Run:
    """What was measured, or the problem: a rival that fails must not stop the others."""
    future = measuring.in_fresh_process(measure, rival, set_name, n_threads)
    error = future.exception()
    if error is None:
        done: Run = future.result()
        log(f"{set_name}, {rival}: {done['fit']:.2f} s")
        return done
    what = "absent" if isinstance(error, ImportError) else "failed"
    log(f"{set_name}, {rival}: {what}: {error}")
    return {"problem": what, "reason": f"{type(error).__name__}: {error}"}


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def summarise(runs: list[Run]) -> Run:
    """One value for each measure, and how many repeats it is from; or the problem, if all had one."""
    if all("problem" in run for run in runs):
        return runs[0]
    runs = [run for run in runs if "problem" not in run]
    summary = {key: runs[0][key] for key in ("name", "version")} | {"repeats": len(runs)}
    for measure in MEASURES:
        values = [run[measure.key] for run in runs]
        summary[measure.key] = None if None in values else measure.summary(values)
    return summary


def table(results: Results, rivals: list[str], measure: Measure) -> str:
    rows = [
        [set_name, *(cell(runs, rival, measure) for rival in rivals)]
        for set_name, runs in results.items()
    ]
    return measuring.markdown(["set", *(title(results, rival) for rival in rivals)], rows)


def title(results: Results, rival: str) -> str:
    named = (runs[rival]["name"] for runs in results.values() if "name" in runs[rival])
    return next(named, rival)


def cell(runs: dict[str, Run], rival: str, measure: Measure) -> str:
    """The value, and its ratio to the baseline's; or why there is none."""
    value = runs[rival].get(measure.key)
    base = runs.get(compare.BASELINE, {}).get(measure.key)
    if value is None:
        return str(runs[rival].get("problem", "–"))
    return measure.show(value) + (f" ({value / base:.2f}×)" if base else "")


def verdict(results: Results, rivals: list[str], measure: Measure) -> str:
    """On how many sets ours is not worse than those it is to be measured against."""
    against = [rival for rival in measure.against if rival in rivals]
    outcomes = [outcome(runs, against, measure) for runs in results.values()]
    judged = [reached for reached in outcomes if reached is not None]
    if not judged:
        return "Ours was not measured beside its rivals: nothing to count."
    relation = "above" if measure.higher_is_better else "not above"
    names = ", ".join(title(results, rival) for rival in against)
    return f"Ours is {relation} {names} on {sum(judged)} of {len(judged)} sets."


def outcome(runs: dict[str, Run], against: list[str], measure: Measure) -> bool | None:
    """Whether ours reached the measure's aim on one set; None where a value is missing."""
    values = [runs.get(rival, {}).get(measure.key) for rival in (compare.TREES, *against)]
    known = [value for value in values if value is not None]
    if not against or len(known) < len(values):
        return None
    ours, *theirs = known
    return all(measure.reached(ours, value) for value in theirs)


def report(results: Results, rivals: list[str], about: str) -> Iterable[str]:
    yield about
    yield "Ratios are to LightGBM's. " + "; ".join(versions(results))
    yield from problems(results)
    for measure in MEASURES:
        yield f"## {measure.title}"
        yield table(results, rivals, measure)
        yield verdict(results, rivals, measure)


def versions(results: Results) -> list[str]:
    runs = (run for runs in results.values() for run in runs.values())
    return sorted({run["version"] for run in runs if "version" in run})


def problems(results: Results) -> Iterable[str]:
    for set_name, runs in results.items():
        for rival, run in runs.items():
            if "problem" in run:
                yield f"{set_name}: {rival} {run['problem']}, {run['reason']}"


def parse_arguments() -> argparse.Namespace:
    def rivals(text: str) -> list[str]:
        unknown = set(text.split(",")) - set(compare.ALL)
        if unknown:
            raise argparse.ArgumentTypeError(f"no {unknown} among {compare.ALL}")
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="smaller sets, 2 repeats; < 15 minutes"
    )
    parser.add_argument("--sets", type=lambda text: text.split(","))
    parser.add_argument("--rivals", type=rivals, help=", ".join(compare.ALL))
    parser.add_argument("--repeats", type=int, help="fits; at most 2 on large sets")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write all results here")
    options = parser.parse_args()
    options.sets = options.sets or (QUICK_SETS if options.quick else list(data.SOURCES))
    options.rivals = options.rivals or (QUICK_RIVALS if options.quick else list(compare.RIVALS))
    options.repeats = options.repeats or (2 if options.quick else 3)
    return options


def main() -> None:
    options = parse_arguments()
    try:
        for set_name in options.sets:
            data.path(set_name)
    except data.MissingDataError as error:
        sys.exit(str(error))
    measuring.limit_threads(options.threads)
    machine = measuring.machine()
    results = run_all(options.sets, options.rivals, options.repeats, options.threads)
    about = measuring.describe_machine(machine, options.threads)
    if options.json:
        record = {"machine": machine, "results": results}
        options.json.write_text(json.dumps(record, indent=1))
    print("\n\n".join(report(results, options.rivals, about)))


if __name__ == "__main__":
    main()
