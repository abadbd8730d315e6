"""`RebelClassifier()` beside nine libraries at their defaults: ranks, wins, seconds.

python benchmarks/auto.py [--sets a,b] [--rivals a,b] [--seeds 3] [--rows 2000]

Each unit, a library on one split, runs in one thread, two at a time; its seconds are the processor's,
which a busy neighbour touches little. Results stay in `.benchmarks/reproduce/units` until the code or
the version changes: a run that was stopped goes on. The picture is `.benchmarks/reproduce/auto.png`.
"""

import argparse
import time
import warnings
from importlib.metadata import version
from typing import Any

import compare
import data
import measuring
import numpy as np
from compare import columns
from pricing.methods import our_code
from reproduce import harness
from sklearn.model_selection import train_test_split

# All sets of the folder but pictures and texts with hundreds of columns, sets of one kind with
# another that is here, and those whose classes are nearly all singletons.
SETS = [
    "abalone",
    "adult",
    "anneal",
    "audiology",
    "autos",
    "avila",
    "balance_scale",
    "breast_w",
    "car",
    "cardiotocography",
    "cmc",
    "covtype_15120",
    "credit_a",
    "dermatology",
    "diabetes",
    "dry_bean",
    "ecoli",
    "eucalyptus",
    "german_credit",
    "glass",
    "heart_cleveland",
    "heart_h",
    "hepatitis",
    "ionosphere",
    "iris",
    "kr_vs_kp",
    "landsat",
    "led7",
    "letter",
    "lymph",
    "mfeat_fourier",
    "mfeat_morphological",
    "mfeat_zernike",
    "mice_protein",
    "new_thyroid",
    "optdigits",
    "pendigits",
    "poker_train",
    "robot_navigation",
    "seeds",
    "segment",
    "shuttle",
    "sick",
    "soybean",
    "steel_plates",
    "tae",
    "texture",
    "tic_tac_toe",
    "vehicle",
    "vote",
    "vowel",
    "waveform21",
    "waveform40",
    "wifi_localization",
    "wine",
    "wine_quality_red",
    "yeast",
    "zoo",
]
RIVALS = tuple(r for r in compare.ALL if r != "knn")
PACKAGES = {"ebm": "interpret-core"} | {r: r for r in ("catboost", "lightgbm", "xgboost")}
TEST_SHARE = 0.25
FEWEST_OF_CLASS = 4
"""Classes with fewer samples cannot be in every part."""


def load(name: str, seed: int, rows: int) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Training and test tables and labels: a stratified split of at most so many rows."""
    with np.load(data.path(name)) as arrays:
        parts = ("X",) if "X" in arrays else ("X_train", "X_test")
        X = np.concatenate([arrays[part] for part in parts]).astype(np.float32)
        labels = "y3" if name == "abalone" else "y"  # three groups of ages, not 28 single years
        y = np.concatenate([arrays[part.replace("X", labels)] for part in parts])
        kinds = arrays["categorical"] if "categorical" in arrays else np.zeros(X.shape[1])
    X, y = _with_classes(X, y)
    if len(y) > rows:
        X, _, y, _ = train_test_split(X, y, train_size=rows, stratify=y, random_state=seed)
        X, y = _with_classes(X, y)
    table = columns.frame(X, kinds)
    return tuple(train_test_split(table, y, test_size=TEST_SHARE, stratify=y, random_state=seed))


def _with_classes(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    enough = np.bincount(y)[y] >= FEWEST_OF_CLASS
    return X[enough], np.unique(y[enough], return_inverse=True)[1]


def measure(name: str, seed: int, rows: int, rival: str, made_by: str) -> dict[str, float]:
    """Error and seconds of a fit, in a process that does nothing else."""
    del made_by  # part of the unit's name, so that other code or versions are measured anew
    warnings.simplefilter("ignore")
    X_train, X_test, y_train, y_test = load(name, seed, rows)
    classifier = compare.load(rival).make(1)
    start = time.process_time()
    classifier.fit(X_train, y_train)
    seconds = time.process_time() - start
    wrong = np.ravel(classifier.predict(X_test)) != y_test
    return {"error": 100 * float(wrong.mean()), "seconds": seconds}


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
    parser.add_argument("--rows", type=int, default=2000, help="of each set, at most")
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
