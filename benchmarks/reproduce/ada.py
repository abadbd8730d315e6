"""AdaBoost's training error beside its bound, in every round [ADA, Fig. 3.1], on heart disease.

python benchmarks/reproduce/ada.py [--rounds 100] [--folder results]

The figure goes into the folder as PNG. Also: the bound of deciding by lot [ADA, Ex. 3-3], and the
distribution of margins after some rounds.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from matplotlib.figure import Figure

import data
import measuring
from rebelboost import RebelClassifier, Stump
from rebelboost.explain.plots import plot_margins
from rebelboost.theory.bounds import (
    edges,
    error_bounds,
    margins,
    randomised_error,
    simple_error_bounds,
)

SHOWN = (1, 2, 5, 10, 20, 40, 60, 80, 100)
PALETTE = "#4477aa", "#ee6677", "#228833", "#ccbb44"


def heart_disease() -> tuple[np.ndarray, np.ndarray]:
    """All samples, as in the figure; the grades 1–4 of the illness are one class."""
    with np.load(data.path("heart_cleveland"), allow_pickle=False) as arrays:
        if "X" in arrays:
            X, y = arrays["X"], arrays["y"]
        else:
            X = np.concatenate([arrays["X_train"], arrays["X_test"]])
            y = np.concatenate([arrays["y_train"], arrays["y_test"]])
    healthy = np.unique(y)[0]
    return np.ascontiguousarray(X, dtype=np.float64), (y != healthy).astype(np.int32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=Path(".benchmarks/reproduce"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    X, y = heart_disease()
    model = RebelClassifier(Stump(), n_rounds=options.rounds, cross_fit=None).fit(X, y)
    gamma = edges(model.history_)
    bounds, simple = error_bounds(gamma), simple_error_bounds(gamma)
    errors = np.array([record.error for record in model.history_])
    staged = list(model.ensemble_.staged_scores(X))
    by_lot = np.array([randomised_error(scores, y) for scores in staged])
    rows = [
        [str(t), *(f"{100 * each[t - 1]:.1f}" for each in (0.5 - gamma, errors, bounds, simple, by_lot))]
        for t in SHOWN
        if t <= len(errors)
    ]  # fmt: skip
    print(f"heart_cleveland: {X.shape[0]} samples × {X.shape[1]} features, {y.mean():.0%} ill\n")
    print(measuring.markdown(
        ["round", "stump's error ε %", "training error %", "bound Π√(1−4γ²) %", "exp(−2Σγ²) %",
         "by lot %"], rows))  # fmt: skip
    held = np.all(errors <= bounds * (1 + 1e-9))
    halved = np.all(by_lot <= bounds / 2 * (1 + 1e-9))
    print(f"\nTraining error within its bound in every round: {'yes' if held else 'NO'}")
    print(f"Error by lot within half the bound in every round: {'yes' if halved else 'NO'}")
    print(model.guarantee_)
    draw(model, X, y, gamma, errors, bounds, staged).savefig(
        options.folder / "ada_fig3_1.png", dpi=90
    )
    sys.exit(0 if held and halved else 1)


def draw(
    model: RebelClassifier,
    X: np.ndarray,
    y: np.ndarray,
    gamma: np.ndarray,
    errors: np.ndarray,
    bounds: np.ndarray,
    staged: list[np.ndarray],
) -> Figure:
    del X
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    rounds = np.arange(1, len(errors) + 1)
    for values, label, colour, line in [
        (bounds, "bound on the training error", PALETTE[1], "--"),
        (0.5 - gamma, "error of each stump, on its weights", PALETTE[3], ":"),
        (errors, "training error", PALETTE[0], "-"),
    ]:
        left.plot(rounds, 100 * values, line, color=colour, label=label)
    left.set(
        xlabel="round", ylabel="error, %", ylim=(0, None), title="[ADA, Fig. 3.1] on heart disease"
    )
    left.legend(frameon=False)
    for t in (5, 20, len(staged)):
        if t <= len(staged):
            margin = margins(staged[t - 1], y, model.ensemble_.truncate(t))
            plot_margins(margin, right, label=f"after {t} rounds")
    right.set(title="margins of the training samples")
    return figure


if __name__ == "__main__":
    main()
