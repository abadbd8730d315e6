"""ADA Fig. 3.1: the training error of AdaBoost under its bound, on heart disease."""

import numpy as np

from rebelboost import RebelClassifier, Stump
from rebelboost.theory.bounds import edges, error_bounds, randomised_error
from reproduce import ada
from reproduce.harness import Line, Report, Table, holds, save

TITLE = "ADA Fig. 3.1: heart disease, training error under its bound"
ROUNDS = 100
SHOWN = (1, 2, 5, 10, 20, 40, 60, 80, 100)
ROUNDING = 1 + 1e-9


def run(*, quick: bool) -> Report:
    """The same run either way: it takes a second."""
    del quick
    X, y = ada.heart_disease()
    model = RebelClassifier(Stump(), n_rounds=ROUNDS, cross_fit=None).fit(X, y)
    gamma = edges(model.history_)
    bounds = error_bounds(gamma)
    errors = np.array([record.error for record in model.history_])
    staged = list(model.ensemble_.staged_scores(X))
    by_lot = np.array([randomised_error(scores, y) for scores in staged])
    figure = ada.draw(model, X, y, gamma, errors, bounds, staged)
    return Report(
        lines=[
            _in_every_round("training error ≤ bound", errors, bounds),
            _in_every_round("randomised error ≤ half the bound [Ex. 3-3]", by_lot, bounds / 2),
        ],
        tables=[
            Table(
                "Percent",
                ["round", "training error", "bound", "randomised error"],
                [
                    [str(t), *(f"{100 * each[t - 1]:.1f}" for each in (errors, bounds, by_lot))]
                    for t in SHOWN
                    if t <= len(errors)
                ],
            )
        ],
        figures=[save(figure, "ada_fig3_1.png")],
    )


def _in_every_round(what: str, values: np.ndarray, bounds: np.ndarray) -> Line:
    kept = int(np.sum(values <= bounds * ROUNDING))
    ours = f"in {kept} of {len(values)} rounds"
    return holds(what, "in every round", ours, good=kept == len(values))
