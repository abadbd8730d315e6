"""What our departures from LOCAL's algorithm do: `Similarity()` beside variants that follow the paper.

python benchmarks/differences.py [--seeds 3] [--rounds-of letter,isolet,…]

All variants have whitened distances, chosen once so that only the named difference acts. `rounds.py` measures
how many rounds large sets want; its table is in the same file of figures,
`.benchmarks/reproduce/differences.json`, which `readme_table.py` puts into docs/learners.md.
"""

import argparse
import json
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

import data
import rounds
from differences_table import AS_PAPERS, DEFAULT, FEWER, differences
from rebelboost import RebelClassifier, Similarity
from reproduce.harness import FOLDER, measure_all

SETS = """
ecoli glass ionosphere iris landsat mfeat_morphological new_thyroid optdigits pendigits seeds segment vehicle
vowel waveform21 wine yeast
""".split()  # noqa: SIM905
MOST_ROWS = 3000
LARGE = "letter,isolet,avila,covtype_15120"
MOST_ROUNDS = 6000


def paper_tol(n_samples: int, n_classes: int) -> float:
    """The papers stop at a loss of 1/N; relative to the first one, which is K/2."""
    return 2 / (n_classes * n_samples)


VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    DEFAULT: ({}, {}),
    "no offset": ({"offset": False}, {}),
    "8 anchors at a time": ({"anchors": 8}, {}),
    "16 anchors at a time": ({"anchors": 16}, {}),
    "stops at 1/N": ({}, {"tol": paper_tol}),
    AS_PAPERS: ({"search": "best", "offset": False, "rivals": 20}, {"tol": paper_tol}),
    FEWER: ({}, {"n_rounds": 300}),
    f"no offset, {FEWER}": ({"offset": False}, {"n_rounds": 300}),
}
"""Options of the learner, and of the classifier."""


def split_of(name: str, seed: int) -> data.Split:
    """Two thirds of at most so many rows for training."""
    with np.load(data.path(name)) as arrays:
        parts = [("X", "y")] if "X" in arrays else [("X_train", "y_train"), ("X_test", "y_test")]
        X = np.concatenate([arrays[x] for x, _ in parts]).astype(np.float32)
        y = np.concatenate([arrays[y] for _, y in parts])
    some = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    some = some[np.isin(y[some], np.flatnonzero(np.bincount(y[some]) > 1))]
    X_train, X_test, y_train, y_test = train_test_split(
        X[some], y[some], test_size=1 / 3, stratify=y[some], random_state=seed
    )
    return data.Split(X_train, y_train, X_test, y_test)


def measure(name: str, seed: int, variant: str) -> tuple[float, float, int]:
    """Test error in %, fall of the logarithm of the loss a round, and number of rounds."""
    split = split_of(name, seed)
    of_learner, of_fit = VARIANTS[variant]
    if "tol" in of_fit:
        of_fit = {**of_fit, "tol": paper_tol(len(split.y_train), len(np.unique(split.y_train)))}
    learner = Similarity(scale="whitened", **of_learner)
    model = RebelClassifier(learner, n_jobs=1, random_state=seed, **of_fit)
    wrong = model.fit(split.X_train, split.y_train).predict(split.X_test) != split.y_test
    log_losses = model.history_.table()["log_loss"]
    fall = (log_losses[0] - log_losses[-1]) / len(log_losses)
    return 100 * float(wrong.mean()), float(fall), len(log_losses)


def figures(seeds: int, large: list[str]) -> dict[str, Any]:
    units = [
        (name, seed, variant) for name in SETS for seed in range(seeds) for variant in VARIANTS
    ]
    found = measure_all(measure, units)
    means = {
        variant: np.round(
            [np.mean([found[name, i, variant] for i in range(seeds)], axis=0) for name in SETS], 4
        ).tolist()
        for variant in VARIANTS
    }
    by_round = measure_all(rounds.errors, [(name, MOST_ROUNDS) for name in large])
    return {
        "sets": SETS,
        "seeds": seeds,
        "variants": means,
        "every": rounds.EVERY,
        "by_round": {name: np.round(errors, 2).tolist() for (name, _), errors in by_round.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds-of", default=LARGE, help="large sets, the largest first")
    options = parser.parse_args()
    found = figures(options.seeds, options.rounds_of.split(","))
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "differences.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(differences(found))


if __name__ == "__main__":
    main()
