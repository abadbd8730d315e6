"""`RebelClassifier()` beside nine libraries at their defaults: ranks, wins, seconds.

python benchmarks/auto.py [--sets a,b] [--rivals a,b] [--without-ebm] [--seeds 3] [--rows 1200]

Each unit, a library on one split, runs in one thread, two at a time; its seconds are the processor's,
which a busy neighbour touches little. Results stay in `.benchmarks/reproduce/units` until the code or
the version changes: a run that was stopped goes on. `.benchmarks/reproduce/auto.png` is a picture of
the ranks; `auto.json` beside it has all figures, which `readme_table.py` puts into README.md and the docs.
"""

import argparse
from typing import Any

import numpy as np

import compare
import measuring
from pricing.methods import made_by
from reproduce import harness
from standing import SUMMARY, Standing
from trial import measure

# The folder's tables whose columns times classes are at most 250. EBM was not run to its end on the second
# list: stopped after 200 s of a fit or more (mushroom, robot_navigation, segment, vowel, waveform40, wine),
# or not begun, since these are as wide or have as many classes.
SETS = """
abalone adult anneal autos balance_scale breast_w car cmc connect_4 credit_a diabetes dry_bean ecoli
eucalyptus german_credit glass heart_cleveland heart_h hepatitis ionosphere iris kr_vs_kp led7
lymph mfeat_morphological new_thyroid poker_train seeds shuttle sick
sleep tae tic_tac_toe vehicle vote waveform21 wifi_localization wine_quality_red yeast zoo
""".split()  # noqa: SIM905  (forty lines otherwise)
WITHOUT_EBM = """
avila cardiotocography dermatology landsat mushroom pendigits robot_navigation segment steel_plates vowel
waveform40 wine
""".split()  # noqa: SIM905
RIVALS = tuple(r for r in compare.ALL if r not in {compare.TREES, "knn"})
PACKAGES = {compare.OURS: "rebelboost", "ebm": "interpret-core"} | {
    rival: rival for rival in ("catboost", "lightgbm", "xgboost")
}
"""Of rivals that are not scikit-learn's."""


# ---- tables


def stand(
    found: dict[tuple[Any, ...], Any], sets: list[str], rivals: list[str], seeds: int, rows: int
) -> Standing:
    """Mean error of a set over its seeds; sets count alike."""
    by = {(u[0], u[1], u[3]): result for u, result in found.items()}
    return Standing(
        names=[compare.load(rival).name for rival in rivals],
        ours=rivals.index(compare.OURS),
        seconds=[sum(by[s, i, r]["seconds"] for s in sets for i in range(seeds)) for r in rivals],
        seeds=seeds,
        rows=rows,
        errors={
            s: [float(np.mean([by[s, i, r]["error"] for i in range(seeds)])) for r in rivals]
            for s in sets
        },
    )


def report(standing: Standing) -> str:
    distance = standing.critical_difference
    rows = [
        [name, *(f"{error:.2f}" for error in errors)] for name, errors in standing.errors.items()
    ]
    return "\n\n".join(
        [
            f"{len(standing.sets)} sets × {standing.seeds} seeds; errors are means over the seeds.",
            measuring.markdown(SUMMARY, standing.summary()),
            f"Ours leads the next by {standing.lead:.2f} mean ranks (goal: 1.0).",
            f"Mean ranks further apart than {distance:.2f} differ beyond chance (Nemenyi, 5 %).",
            measuring.markdown(["error, %", *standing.names], rows),
        ]
    )


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
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--rivals", default=",".join(RIVALS))
    parser.add_argument(
        "--without-ebm", action="store_true", help="and with the sets that it was not run on"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1200, help="of each set, at most")
    options = parser.parse_args()
    sets, rivals = options.sets.split(","), options.rivals.split(",")
    if options.without_ebm:
        sets += WITHOUT_EBM
        rivals = [rival for rival in rivals if rival != "ebm"]
    units = [
        (name, seed, options.rows, rival, made_by(PACKAGES.get(rival, "scikit-learn")))
        for seed in range(options.seeds)
        for rival in rivals
        for name in sets
    ]
    found = harness.measure_all(measure, units, made_by="")
    standing = stand(found, sets, rivals, options.seeds, options.rows)
    harness.FOLDER.mkdir(parents=True, exist_ok=True)
    standing.write(harness.FOLDER / "auto.json")
    draw(standing)
    print(report(standing))


if __name__ == "__main__":
    main()
