"""`RebelRegressor()` beside seven libraries at their defaults: test RMSE and processor seconds.

python benchmarks/regression.py [--half reporting] [--sets "a;b"] [--rivals a,b] [--seeds 3] [--docs]

Each unit, a library on one split, runs in one thread; its seconds are the processor's. Results stay in
`.benchmarks/reproduce/units` until the code or the version changes: a run that was stopped goes on.
Candidates and settings of ours were chosen on one half of the sets; the other half is reported.
`--docs` writes `benchmarks/regression.json`, and the summary into docs/learners.md.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import compare
import measuring
from number_trial import CHOOSING, REPORTING, SETS, measure
from pricing.methods import made_by
from reproduce import harness

ROOT = Path(__file__).resolve().parents[1]
FIGURES, PAGE = ROOT / "benchmarks" / "regression.json", ROOT / "docs" / "learners.md"
BEGIN, END = "<!-- regression -->", "<!-- /regression -->"
HALVES = {"choosing": CHOOSING, "reporting": REPORTING, "all": SETS}
RIVALS = (
    "rebel",
    "rebel_trees",
    "lightgbm",
    "xgboost",
    "hist_gradient_boosting",
    "random_forest",
    "extra_trees",
    "catboost",
    "ebm",
)
PACKAGES = {
    "rebel": ("rebelboost",),
    "rebel_trees": ("rebelboost",),
    "ebm": ("interpret-core",),
    "catboost": ("catboost",),
    "lightgbm": ("lightgbm",),
    "xgboost": ("xgboost", "xgboost-cpu"),
}
"""Of rivals that are not scikit-learn's; one of them is installed."""

Rows = dict[str, dict[str, list[dict[str, float]]]]
"""Set → rival → a result for each seed."""


def means(rows: Rows, key: str) -> dict[str, dict[str, float]]:
    """Set → rival → mean over the seeds."""
    return {
        name: {rival: statistics.mean(run[key] for run in runs) for rival, runs in own.items()}
        for name, own in rows.items()
    }


def ratios(rows: Rows) -> dict[str, dict[str, float]]:
    """Set → rival → mean RMSE, as a multiple of the best rival's."""
    return {
        name: {rival: rmse / min(own.values()) for rival, rmse in own.items()}
        for name, own in means(rows, "rmse").items()
    }


def summary(rows: Rows, rivals: list[str]) -> list[list[str]]:
    """A line for each rival: mean ratio to the best, mean rank, wins of ours, and seconds."""
    found, rmse = ratios(rows), means(rows, "rmse")
    lines = []
    for rival in rivals:
        each = [own[rival] for own in found.values()]
        rank = statistics.mean(
            1 + sum(own[rival] > other for other in own.values()) for own in found.values()
        )
        seconds = sum(run["fit"] + run["predict"] for own in rows.values() for run in own[rival])
        wins = sum(own[compare.OURS] < own[rival] for own in rmse.values())
        lines.append(
            [
                compare.load(rival).name,
                f"{statistics.geometric_mean(each):.3f}",
                f"{max(each):.2f}",
                f"{rank:.2f}",
                "–" if rival == compare.OURS else f"{wins} of {len(rows)}",
                f"{seconds / sum(len(own[rival]) for own in rows.values()):.2f}",
            ]
        )
    return sorted(lines, key=lambda line: float(line[1]))


SUMMARY = ["", "mean RMSE ratio", "worst ratio", "mean rank", "ours is lower", "seconds a fit"]


def table(rows: Rows, rivals: list[str]) -> str:
    """Mean RMSE of every set, as a multiple of the best."""
    lines = [
        [name, *(f"{own[rival]:.3f}" for rival in rivals)] for name, own in ratios(rows).items()
    ]
    return measuring.markdown(["RMSE / best", *(compare.load(r).name for r in rivals)], lines)


def beside_baseline(rows: Rows, rivals: list[str]) -> str:
    """Seconds of fits and RMSE of every set, as multiples of LightGBM's: the least seconds of the splits."""
    seconds = {
        name: {rival: min(run["fit"] for run in runs) for rival, runs in own.items()}
        for name, own in rows.items()
    }
    rmse = means(rows, "rmse")
    others = [rival for rival in rivals if rival != compare.BASELINE]
    lines, every = [], []
    for name in rows:
        each = [
            figures[name][rival] / figures[name][compare.BASELINE]
            for rival in others
            for figures in (seconds, rmse)
        ]
        every.append(each)
        lines.append([name, *(f"{ratio:.3f}" for ratio in each)])
    overall = [statistics.geometric_mean(column) for column in zip(*every, strict=True)]
    lines.append(["geometric mean", *(f"{ratio:.3f}" for ratio in overall)])
    header = [f"{compare.load(r).name}: {what}" for r in others for what in ("seconds", "RMSE")]
    return measuring.markdown(["÷ LightGBM", *header], lines)


def section(rows: Rows, rivals: list[str]) -> str:
    """What the guide says of the results."""
    n_seeds = min(len(runs) for own in rows.values() for runs in own.values())
    splits = "one split" if n_seeds == 1 else f"{n_seeds} splits"
    worse = [
        f"{name} ({compare.load(best).name}: {own[compare.OURS]:.2f} times its RMSE)"
        for name, own in ratios(rows).items()
        if (best := min(own, key=own.__getitem__)) != compare.OURS and own[compare.OURS] > 1.02
    ]
    lost = f" Another library is lower by more than 2 % on: {'; '.join(worse)}." if worse else ""
    return (
        f"**Beside other libraries**, all at their defaults and with one thread, on {len(rows)} data sets "
        f"that were not used to choose candidates or settings, {splits} of each with at most 1,500 "
        "training rows. The ratio is to the lowest RMSE of all on the data set, and its mean is the "
        "geometric one. Seconds are processor seconds for a fit and its predictions, on a machine that "
        f"others used too.\n\n{measuring.markdown(SUMMARY, summary(rows, rivals))}\n\n"
        f"`python benchmarks/regression.py --docs` repeats this.{lost}"
    )


def page(text: str, rows: Rows) -> str:
    """The guide with these results in place of those that it has."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    rivals = list(next(iter(rows.values())))
    return f"{before}{BEGIN}\n{section(rows, rivals)}\n{END}{after}"


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


def run_all(sets: list[str], rivals: list[str], n_seeds: int) -> Rows:
    """Measure all units, or read those that were kept."""
    units: list[tuple[Any, ...]] = [
        (name, seed, rival, made_by(*PACKAGES.get(rival, ("scikit-learn",))))
        for seed in range(n_seeds)
        for rival in rivals
        for name in sets
    ]
    found = harness.measure_all(measure, units, made_by="")
    by = {unit[:3]: result for unit, result in found.items()}
    return {
        name: {rival: [by[name, seed, rival] for seed in range(n_seeds)] for rival in rivals}
        for name in sets
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--half", choices=HALVES, default="reporting")
    parser.add_argument("--sets", type=lambda text: text.split(";"), help="instead of a half")
    parser.add_argument("--rivals", type=lambda text: text.split(","), default=list(RIVALS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--docs", action="store_true", help="write the figures and the guide")
    options = parser.parse_args()
    sets = options.sets or list(HALVES[options.half])
    unknown = set(sets) - set(SETS)
    if unknown:
        sys.exit(f"no {sorted(unknown)} among {list(SETS)}")
    rivals = present(options.rivals)
    rows = run_all(sets, rivals, options.seeds)
    if options.docs:
        FIGURES.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    print(measuring.describe_machine(measuring.machine(), 1))
    print(f"\n{len(rows)} sets × {options.seeds} splits; means over splits are compared.\n")
    if compare.OURS in rivals:
        print(measuring.markdown(SUMMARY, summary(rows, rivals)))
    print(f"\n{table(rows, rivals)}")
    if compare.BASELINE in rivals:
        print(f"\n{beside_baseline(rows, rivals)}")


if __name__ == "__main__":
    main()
