"""Time budgets: error, log-loss and seconds of `RebelClassifier(time_budget=...)`, for several budgets.

python benchmarks/budget.py [--budgets 1,3,10,30,100] [--sets a,b] [--seeds 1] [--rows 4000]
python benchmarks/budget.py --sets drawn_60000,drawn_300000 --budgets 3,10,30

The sets are of the half that is used for choosing. Budgets are seconds on the clock: run this on a machine
that does nothing else, or read it as budgets that are shared with others. Results stay in
`.benchmarks/reproduce/units` until the code changes: a run that was stopped goes on.
"""

import argparse
import time
import warnings

import numpy as np

import large
import trial
from measuring import markdown
from rebelboost import RebelClassifier
from reproduce.harness import measure_all

SETS = """
abalone avila cardiotocography connect_4 dry_bean poker_train sleep vowel waveform40 yeast
""".split()  # noqa: SIM905
DRAWN = {"drawn_60000": 60_000, "drawn_300000": 300_000}
"""Larger tables, to see whether the budget is kept."""
HEADER = ["budget, s", "mean error, %", "mean log-loss", "mean seconds", "longest, of its budget"]


def measure(name: str, seed: int, rows: int, budget: float) -> list[float]:
    """Error in %, log-loss, and seconds on the clock."""
    warnings.simplefilter("ignore")
    parts = large.drawn(DRAWN[name], 20, 10) if name in DRAWN else None
    X_train, X_test, y_train, y_test = parts() if parts else trial.load(name, seed, rows)
    began = time.perf_counter()
    model = RebelClassifier(n_jobs=1, time_budget=budget).fit(X_train, y_train)
    seconds = time.perf_counter() - began
    posterior = model.predict_proba(X_test)
    error = 100 * float((posterior.argmax(axis=1) != y_test).mean())
    return [error, trial.log_loss(posterior, y_test), seconds]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--budgets", default="1,3,10,30,100")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=4000, help="of each set, at most")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    sets = options.sets.split(",")
    table = []
    for budget in map(float, options.budgets.split(",")):
        units = [
            (name, seed, options.rows, budget) for seed in range(options.seeds) for name in sets
        ]
        found = np.array(
            list(measure_all(measure, units, n_processes=options.processes).values())
        )  # (units, error, log-loss and seconds)
        error, loss, seconds = found.mean(axis=0)
        longest = found[:, 2].max() / budget
        table.append(
            [f"{budget:g}", f"{error:.2f}", f"{loss:.4f}", f"{seconds:.1f}", f"{longest:.2f}"]
        )
    print(markdown(HEADER, table))


if __name__ == "__main__":
    main()
