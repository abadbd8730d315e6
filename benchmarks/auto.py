"""`RebelClassifier()` beside other libraries at their defaults: error, log-loss, ranks, seconds.

python benchmarks/auto.py [--half reporting] [--sets a,b] [--rivals a,b] [--seeds 2] [--rows 1200] [--measured]

Each unit, a library on one split, runs in one thread. EBM and the searches among several libraries (AutoGluon,
FLAML) take a minute or more for a fit: they are run on the first split alone, and EBM not at all on sets that
take it many minutes (`halves.py`). AutoGluon's best preset and FLAML have 60 seconds on the clock: run these
with `--processes 1` on a core that does nothing else. Results stay in `.benchmarks/reproduce/units` until the
code or the version changes: a run that was stopped goes on, and `--measured` reports on what there is.
`.benchmarks/reproduce/auto.png` is a picture of the ranks; `auto.json` (all splits) and `one_split.json` (all
libraries) beside it have the figures, which `readme_table.py` puts into README.md and the docs.
"""

import argparse
import sys
from collections.abc import Iterable
from importlib import metadata
from typing import Any

import numpy as np

import compare
import measuring
from halves import HALVES, WITHOUT_EBM
from pricing.methods import made_by
from readme_table import goals, slow_ones, with_ebm
from reproduce import harness
from standing import MEASURES, SUMMARY, Column, Standing
from trial import measure

RIVALS = (*(r for r in compare.ALL if r not in {compare.TREES, "knn"}), *compare.AUTOMATIC)
PACKAGES = {
    compare.OURS: ("rebelboost",),
    "ebm": ("interpret-core",),
    "xgboost": ("xgboost", "xgboost-cpu"),
    "autogluon_medium": ("autogluon.tabular",),
    "autogluon_best": ("autogluon.tabular",),
} | {rival: (rival,) for rival in ("catboost", "lightgbm", "flaml")}
"""Of rivals that are not scikit-learn's; one of them is installed."""
SLOW = ("ebm", *compare.AUTOMATIC)
"""Run on the first split alone."""
KEYS = dict(zip(MEASURES, ("error", "log_loss", "seconds", "wall"), strict=True))

Unit = tuple[str, int, int, str, str]
"""Set, seed, rows, rival, what made it."""


# ---- units


def units_of(sets: Iterable[str], rivals: Iterable[str], seeds: int, rows: int) -> list[Unit]:
    """Cheap libraries first. A library that is not installed is reported and left out."""
    units: list[Unit] = []
    for seed in range(seeds):
        for rival in sorted(rivals, key=RIVALS.index):
            if seed > 0 and rival in SLOW:
                continue
            version = version_of(rival)
            if version is None:
                print(f"Absent: {rival}", file=sys.stderr)
                continue
            units += [
                (name, seed, rows, rival, version)
                for name in sets
                if not (rival == "ebm" and name in WITHOUT_EBM)
            ]
    return units


def version_of(rival: str) -> str | None:
    try:
        return made_by(*PACKAGES.get(rival, ("scikit-learn",)))
    except metadata.PackageNotFoundError:
        return None


# ---- tables


def stand(found: dict[Unit, Any], sets: list[str], rivals: list[str], seeds: int) -> Standing:
    """Means of each set's seeds; None for what was not run with all of them."""
    by = {(name, seed, rival): result for (name, seed, _, rival, _), result in found.items()}
    rivals = [rival for rival in rivals if any(key[2] == rival for key in by)]
    names = {rival: compare.load(rival).name for rival in rivals}

    def mean(name: str, rival: str, key: str) -> float | None:
        own = [by[name, seed, rival][key] for seed in range(seeds) if (name, seed, rival) in by]
        if len(own) < seeds or any(each is None for each in own):
            return None
        return float(np.mean(own))

    def columns(key: str) -> dict[str, Column]:
        return {name: [mean(name, rival, key) for rival in rivals] for name in sets}

    return Standing(
        names=list(names.values()),
        ours=rivals.index(compare.OURS),
        automatic=[names[rival] for rival in compare.AUTOMATIC if rival in names],
        seeds=seeds,
        rows=next(iter(found))[2],
        **{measure: columns(key) for measure, key in KEYS.items()},
    )


def report(many: Standing, one: Standing) -> str:
    """The ranking over all splits, that of one split with all libraries, and the slow ones beside ours."""
    parts = [measuring.describe_machine(measuring.machine(), 1)]
    for ranked in (many, with_ebm(one)):
        distance = ranked.critical_difference
        parts += [
            f"{len(ranked.sets)} sets, seeds: {ranked.seeds}",
            measuring.markdown(SUMMARY, ranked.summary()),
            f"Mean ranks further apart than {distance:.2f} differ beyond chance (Nemenyi, 5 %).",
        ]
    rows = [
        [name, *("–" if each is None else f"{each:.2f}" for each in errors)]
        for name, errors in many.errors.items()
    ]
    goal_lines = "\n".join(goals(many, one))
    errors = measuring.markdown(["error, %", *many.names], rows)
    return "\n\n".join([*parts, slow_ones(one), goal_lines, errors])


def draw(standing: Standing) -> None:
    """Mean ranks on a line; a bar joins those that do not differ beyond chance."""
    from matplotlib.figure import Figure

    names, mean_rank, order = standing.names, standing.mean_ranks, standing.order
    figure = Figure(figsize=(7, 0.32 * len(names) + 1.2), layout="constrained")
    axes = figure.add_subplot()
    for place, r in enumerate(order):
        ours = r == standing.ours
        axes.plot([mean_rank[r]], [-place], "o", color=harness.PALETTE[1 if ours else 0])
        axes.annotate(
            f"{names[r]}  {mean_rank[r]:.2f}",
            (mean_rank[r], -place),
            xytext=(8, -3),
            textcoords="offset points",
            fontweight="bold" if ours else "normal",
        )
    first = mean_rank[order[0]]
    end = first + standing.critical_difference
    axes.plot([first, end], [0.6, 0.6], color="0.3", linewidth=2)
    axes.annotate("critical difference", (first, 0.6), xytext=(0, 5), textcoords="offset points")
    axes.set(xlabel="mean rank of the test error (1 is best)", yticks=[], ylim=(-len(names), 1.6))
    axes.set_xlim(right=mean_rank.max() + 1.5)
    axes.spines[["left", "right", "top"]].set_visible(False)
    figure.savefig(harness.FOLDER / "auto.png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--half", choices=HALVES, default="reporting")
    parser.add_argument("--sets", help="these instead of a half")
    parser.add_argument("--rivals", default=",".join(RIVALS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=1200, help="of each set, at most")
    parser.add_argument("--processes", type=int, default=harness.N_PROCESSES)
    parser.add_argument("--measured", action="store_true", help="report, and measure nothing")
    options = parser.parse_args()
    sets = options.sets.split(",") if options.sets else HALVES[options.half]
    rivals = options.rivals.split(",")
    units = units_of(sets, rivals, options.seeds, options.rows)
    found = harness.measure_all(
        measure, units, made_by="", n_processes=0 if options.measured else options.processes
    )
    fast = [rival for rival in rivals if rival not in SLOW]
    many = stand(found, sets, fast, options.seeds).complete(sets)
    one = stand(found, sets, rivals, 1)
    harness.FOLDER.mkdir(parents=True, exist_ok=True)
    many.write(harness.FOLDER / "auto.json")
    one.write(harness.FOLDER / "one_split.json")
    draw(many)
    print(report(many, one))


if __name__ == "__main__":
    main()
