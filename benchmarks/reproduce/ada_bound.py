"""ADA Fig. 3.1: the training error of AdaBoost under its bound, on heart disease, and Ex. 3-3."""

from typing import Any

import numpy as np

import data
from rebelboost.explain.plots import plot_margins
from rebelboost.theory.bounds import edges, error_bounds, margins, randomised_error
from reproduce import quotes
from reproduce.harness import Line, Report, Table, judged, new_figure, save
from reproduce.papers import paper
from reproduce.quotes import Quote

TITLE = "ADA Fig. 3.1: heart disease, training error under its bound"
ROUNDS = 100
SHOWN = (1, 2, 5, 10, 20, 40, 60, 80, 100)
ROUNDING = 1 + 1e-9


def heart_disease() -> tuple[np.ndarray, np.ndarray]:
    """All samples, as in the figure; the grades 1–4 of the illness are one class."""
    with np.load(data.path("heart_cleveland"), allow_pickle=False) as arrays:
        X, y = arrays["X"], arrays["y"]
    return np.ascontiguousarray(X, dtype=np.float64), (y != np.unique(y)[0]).astype(np.int32)


def run(*, quick: bool) -> Report:
    """The same run either way: it takes a second."""
    del quick
    X, y = heart_disease()
    model = paper("adaboost", ROUNDS).fit(X, y)
    gamma = edges(model.history_)
    bounds = error_bounds(gamma)
    errors = np.array([record.error for record in model.history_])
    staged = list(model.ensemble_.staged_scores(X))
    by_lot = np.array([randomised_error(scores, y) for scores in staged])
    figure, axes = new_figure(1, 2)
    _draw_bound(axes[0, 0], gamma, errors, bounds)
    for t in (5, 20, len(staged)):
        margin = margins(staged[t - 1], y, model.ensemble_.truncate(t))
        plot_margins(margin, axes[0, 1], label=f"after {t} rounds")
    return Report(
        lines=[
            _in_every_round("training error ≤ bound", quotes.BOUND, errors, bounds),
            _in_every_round(
                "randomised error ≤ half the bound", quotes.HALF_BOUND, by_lot, bounds / 2
            ),
        ],
        tables=[
            Table(
                "Percent",
                ["round", "stump's error ε", "training error", "bound", "randomised error"],
                [
                    [
                        str(t),
                        *(
                            f"{100 * each[t - 1]:.1f}"
                            for each in (0.5 - gamma, errors, bounds, by_lot)
                        ),
                    ]
                    for t in SHOWN
                    if t <= len(errors)
                ],
            )
        ],
        figures=[save(figure, "ada_fig3_1.png")],
    )


def _in_every_round(what: str, quote: Quote, values: np.ndarray, bounds: np.ndarray) -> Line:
    kept = int(np.sum(values <= bounds * ROUNDING))
    return judged(what, quote, f"in {kept} of {len(values)} rounds", good=kept == len(values))


def _draw_bound(ax: Any, gamma: np.ndarray, errors: np.ndarray, bounds: np.ndarray) -> None:
    rounds = np.arange(1, len(errors) + 1)
    ax.plot(rounds, 100 * bounds, "--", label="bound on the training error")
    ax.plot(rounds, 100 * (0.5 - gamma), ":", label="error of each stump, on its weights")
    ax.plot(rounds, 100 * errors, label="training error")
    ax.set(xlabel="round", ylabel="error, %", ylim=(0, None))
    ax.legend()
