"""RebelRegressor beside its rivals, at their defaults: test RMSE and fit time.

python benchmarks/regression.py [--sets "a;b"] [--rivals a,b] [--seeds 5] [--json results.json]
"""

import argparse
import json
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import train_test_split

import compare
import measuring

N_TEST = 5000
REPEATS = 2
FIRST_SEED = 100  # our defaults were chosen on other draws, of these functions among others

Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Rows = dict[str, dict[str, list[dict[str, float]]]]  # set → rival → a run for each seed


def diabetes(seed: int) -> Parts:
    """A third of the 442 patients for the test."""
    X, y = load_diabetes(return_X_y=True)
    return tuple(train_test_split(X, y, test_size=1 / 3, random_state=seed))


def friedman(make: Callable[..., Any], n_train: int, noise: float) -> Callable[[int], Parts]:
    """Samples of Friedman's functions, with the noise of his paper."""

    def parts(seed: int) -> Parts:
        X, y = make(n_train + N_TEST, noise=noise, random_state=seed)
        return X[:n_train], X[n_train:], y[:n_train], y[n_train:]

    return parts


SETS: dict[str, Callable[[int], Parts]] = {
    "diabetes": diabetes,
    **{
        f"{make.__name__.removeprefix('make_')}, {n}": friedman(make, n, noise)
        for make, noise in ((make_friedman1, 1.0), (make_friedman2, 125.0), (make_friedman3, 0.1))
        for n in (200, 2000, 20_000)
    },
}


def measure(rival: str, set_name: str, seed: int, n_threads: int) -> dict[str, float]:
    """The RMSE on the test part, and the seconds of the faster of the fits."""
    module = compare.load(rival)
    X_train, X_test, y_train, y_test = SETS[set_name](FIRST_SEED + seed)
    seconds = []
    for _ in range(REPEATS):
        regressor = module.make_regressor(n_threads)
        start = time.perf_counter()
        regressor.fit(X_train, y_train)
        seconds.append(time.perf_counter() - start)
    error = math.sqrt(float(np.mean((regressor.predict(X_test) - y_test) ** 2)))
    return {"rmse": error, "fit": min(seconds)}


def run_all(sets: list[str], rivals: list[str], n_seeds: int, n_threads: int) -> Rows:
    """Rivals take turns within each seed: a busy minute of the machine hits all alike."""
    rows: Rows = {name: {rival: [] for rival in rivals} for name in sets}
    for name in sets:
        for seed in range(n_seeds):
            for rival in rivals:
                rows[name][rival].append(measure(rival, name, seed, n_threads))
        print(f"{name} done", file=sys.stderr, flush=True)
    return rows


def table(rows: Rows, rivals: list[str], key: str, digits: int) -> str:
    """Means over seeds; in brackets the geometric mean of the ratios to the baseline's."""
    lines = []
    for name, runs in rows.items():
        cells = []
        for rival in rivals:
            values = [run[key] for run in runs[rival]]
            ratio = geometric_mean(runs, rival, key)
            cells.append(f"{statistics.mean(values):.{digits}f} ({ratio:.3f}×)")
        lines.append([name, *cells])
    overall = [
        f"{statistics.geometric_mean([geometric_mean(runs, r, key) for runs in rows.values()]):.3f}×"
        for r in rivals
    ]
    lines.append(["all sets", *overall])
    return measuring.markdown(["set", *(compare.load(rival).name for rival in rivals)], lines)


def geometric_mean(runs: dict[str, list[dict[str, float]]], rival: str, key: str) -> float:
    base = runs.get(compare.BASELINE, runs[rival])
    pairs = zip(runs[rival], base, strict=True)
    return statistics.geometric_mean([ours[key] / theirs[key] for ours, theirs in pairs])


def verdict(rows: Rows, rivals: list[str]) -> str:
    """On how many sets the mean RMSE is below each rival's."""
    if compare.TREES not in rivals:
        return "Ours was not measured."
    counts = []
    for rival in rivals:
        if rival != compare.TREES:
            below = sum(
                statistics.mean(run["rmse"] for run in runs[compare.TREES])
                < statistics.mean(run["rmse"] for run in runs[rival])
                for runs in rows.values()
            )
            counts.append(f"{compare.load(rival).name}'s on {below}")
    return f"Of {len(rows)} sets, our mean RMSE is below {', '.join(counts)}."


def present(rivals: list[str]) -> list[str]:
    """Those that are installed; the others are named."""
    found = []
    for rival in rivals:
        try:
            compare.load(rival)
        except ImportError as error:
            print(f"{rival}: absent, {error}", file=sys.stderr)
        else:
            found.append(rival)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=lambda text: text.split(";"), default=list(SETS))
    parser.add_argument(
        "--rivals",
        type=lambda text: text.split(","),
        default=["rebel_trees", "lightgbm", "hist_gradient_boosting"],
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write all results here")
    options = parser.parse_args()
    unknown = set(options.sets) - set(SETS)
    if unknown:
        sys.exit(f"no {sorted(unknown)} among {list(SETS)}")
    warnings.simplefilter("ignore")
    measuring.limit_threads(options.threads)
    machine = measuring.machine()
    rivals = present(options.rivals)
    rows = run_all(options.sets, rivals, options.seeds, options.threads)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine, "results": rows}, indent=1))
    print(measuring.describe_machine(machine, options.threads))
    print(f"\n## Test RMSE, mean of {options.seeds} seeds (ratio to LightGBM's)\n")
    print(table(rows, rivals, "rmse", 3))
    print(f"\n{verdict(rows, rivals)}")
    print("\n## Fit time, s (ratio to LightGBM's)\n")
    print(table(rows, rivals, "fit", 3))


if __name__ == "__main__":
    main()
