"""`RebelClassifier()` beside nine libraries at their defaults: ranks, wins, seconds.

python benchmarks/auto.py [--sets a,b] [--rivals a,b] [--seeds 3] [--rows 1200]

Each unit, a library on one split, runs in one thread, two at a time; its seconds are the processor's,
which a busy neighbour touches little. Results stay in `.benchmarks/reproduce/units` until the code or
the version changes: a run that was stopped goes on. The picture is `.benchmarks/reproduce/auto.png`.
"""

import argparse
from importlib.metadata import version
from typing import Any

import compare
import measuring
import numpy as np
from pricing.methods import our_code
from reproduce import harness
from trial import measure

# Of the folder, the tables whose columns times classes are at most 250: beyond, EBM takes minutes a fit.
SETS = """
abalone adult anneal autos avila balance_scale breast_w car cardiotocography cmc credit_a
dermatology diabetes dry_bean ecoli eucalyptus german_credit glass heart_cleveland heart_h
hepatitis ionosphere iris kr_vs_kp landsat led7 lymph mfeat_morphological new_thyroid
pendigits poker_train robot_navigation seeds segment shuttle sick steel_plates tae
tic_tac_toe vehicle vote vowel waveform21 waveform40 wifi_localization wine wine_quality_red
yeast zoo
""".split()  # noqa: SIM905  (forty-nine lines otherwise)
RIVALS = tuple(r for r in compare.ALL if r not in {compare.TREES, "knn"})
PACKAGES = {"ebm": "interpret-core"} | {r: r for r in ("catboost", "lightgbm", "xgboost")}


def made_by(rival: str) -> str:
    return our_code() if rival == compare.OURS else version(PACKAGES.get(rival, "scikit-learn"))


# ---- tables


def ranks(errors: np.ndarray) -> np.ndarray:
    """(trials, rivals): 1 for the lowest error; who ties shares the mean of the places."""
    below = (errors[:, np.newaxis, :] < errors[:, :, np.newaxis]).sum(axis=2)
    equal = (errors[:, np.newaxis, :] == errors[:, :, np.newaxis]).sum(axis=2)
    return below + (equal + 1) / 2


def critical_difference(n_rivals: int, n_sets: int) -> float:
    """Nemenyi's, at 5 %: mean ranks further apart than this differ beyond chance (Demšar 2006)."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(0.95, n_rivals, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_rivals * (n_rivals + 1) / (6 * n_sets)))


def report(
    found: dict[tuple[Any, ...], Any], sets: list[str], rivals: list[str], seeds: int
) -> str:
    """Mean error of a set over its seeds, ranked within the set; sets count alike."""
    names = [compare.load(rival).name for rival in rivals]
    by = {(u[0], u[1], u[3]): result for u, result in found.items()}
    errors = np.array(
        [[np.mean([by[s, i, r]["error"] for i in range(seeds)]) for r in rivals] for s in sets]
    )
    seconds = np.array(
        [sum(by[s, i, r]["seconds"] for s in sets for i in range(seeds)) for r in rivals]
    )
    of_set = ranks(errors)
    mean_rank = of_set.mean(axis=0)
    ours = rivals.index(compare.OURS)
    order = np.argsort(mean_rank, kind="stable")
    summary = [
        [
            names[r],
            f"{mean_rank[r]:.2f}",
            f"{(of_set[:, r] < 2).sum()}",
            "–" if r == ours else f"{_better(errors, ours, r)} of {len(sets)}",
            f"{errors[:, r].mean():.2f}",
            f"{seconds[r]:,.0f}",
        ]
        for r in order
    ]
    header = ["", "mean rank", "sets won", "sets where ours is lower", "mean error, %", "seconds"]
    distance = critical_difference(len(rivals), len(sets))
    draw(mean_rank, names, distance)
    rows = [[s, *(f"{e:.2f}" for e in errors[i])] for i, s in enumerate(sets)]
    best = min(mean_rank[r] for r in range(len(rivals)) if r != ours)
    return "\n\n".join(
        [
            f"{len(sets)} sets × {seeds} seeds; errors are means over the seeds.",
            measuring.markdown(header, summary),
            f"Ours leads the next by {best - mean_rank[ours]:.2f} mean ranks (goal: 1.0).",
            f"Mean ranks further apart than {distance:.2f} differ beyond chance (Nemenyi, 5 %).",
            measuring.markdown(["error, %", *names], rows),
        ]
    )


def _better(errors: np.ndarray, ours: int, theirs: int) -> int:
    return int((errors[:, ours] < errors[:, theirs]).sum())


def draw(mean_rank: np.ndarray, names: list[str], distance: float) -> None:
    """Mean ranks on a line; a bar joins those that do not differ beyond chance."""
    from matplotlib.figure import Figure

    order = np.argsort(mean_rank, kind="stable")
    figure = Figure(figsize=(7, 0.32 * len(names) + 1.2), layout="constrained")
    axes = figure.add_subplot()
    for place, r in enumerate(order):
        ours = names[r] == compare.load(compare.OURS).name
        axes.plot([mean_rank[r]], [-place], "o", color=harness.PALETTE[1 if ours else 0])
        axes.annotate(
            f"{names[r]}  {mean_rank[r]:.2f}",
            (mean_rank[r], -place),
            xytext=(8, -3),
            textcoords="offset points",
            fontweight="bold" if ours else "normal",
        )
    first = mean_rank[order[0]]
    axes.plot([first, first + distance], [0.6, 0.6], color="0.3", linewidth=2)
    axes.annotate("critical difference", (first, 0.6), xytext=(0, 5), textcoords="offset points")
    axes.set(xlabel="mean rank of the test error (1 is best)", yticks=[], ylim=(-len(names), 1.6))
    axes.set_xlim(right=mean_rank.max() + 1.5)
    axes.spines[["left", "right", "top"]].set_visible(False)
    harness.FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(harness.FOLDER / "auto.png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--rivals", default=",".join(RIVALS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1200, help="of each set, at most")
    options = parser.parse_args()
    sets, rivals = options.sets.split(","), options.rivals.split(",")
    units = [
        (name, seed, options.rows, rival, made_by(rival))
        for seed in range(options.seeds)
        for rival in rivals
        for name in sets
    ]
    found = harness.measure_all(measure, units, made_by="")
    print(report(found, sets, rivals, options.seeds))


if __name__ == "__main__":
    main()
