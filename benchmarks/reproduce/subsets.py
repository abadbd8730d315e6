"""QUICK Figs. 1–4: few samples hold most of the mass, and tell the best feature early.

mnist, digit 8 against the rest, trees of depth 4, which the paper has for mnist (Sec. 5); for these figures
it does not name its data. The weights of a round are had from the scores before it: e^{−yH} for AdaBoost,
|1 − yH| for L₂Boost.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from pruning import load
from reproduce import quotes
from reproduce.harness import Report, Table, judged, measure_all, new_figure, save
from reproduce.papers import FIRST_SUBSET, STEPS, paper
from rivals.stumps import Cuts

TITLE = "QUICK Figs. 1–4: heavy samples, early features, the schedule"
SET, DEPTH = "digit_8", 4
NAMES = {"AdaBoost": "quickboost", "L₂Boost": "l2boost"}
STATED = {"AdaBoost": (quotes.HEAVY_ADABOOST, 7), "L₂Boost": (quotes.HEAVY_L2BOOST, 20)}
"""The share of the samples, in %, that holds 90 % of the mass."""
MASSES = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]
KNEE, TOP, CHANCE = 0.75, 10, 95.0
FIRST = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
N_STEPS = (1, 5, 10, 20, 40)


def boosted(
    n_samples: int, rounds: int, name: str = "quickboost", **schedule: Any
) -> tuple[Any, np.ndarray, np.ndarray]:
    X, y = load(SET)
    X, y = X[:n_samples], y[:n_samples]
    model = paper(name, rounds, depth=DEPTH)
    model.set_params(learner=replace(model.learner, search="pruned", **schedule))
    return model.fit(X, y), X, y


def weights_by_round(model: Any, X: np.ndarray, y: np.ndarray, name: str) -> list[np.ndarray]:
    """(N,) of every round after the first, when they are all equal."""
    signs = 2.0 * y - 1
    scores = (score.ravel() if score.ndim == 1 else score[:, 1] for score in staged(model, X))
    margins = (signs * score for score in scores)
    if name == "quickboost":
        return [np.exp(margin.min() - margin) for margin in margins]
    return [np.abs(1 - margin) for margin in margins]


def staged(model: Any, X: np.ndarray) -> Any:
    """H of the second class: `decision_function` has the lead over the first, twice as much."""
    return (lead / 2 for lead in model.staged_decision_function(X))


def masses(name: str, n_samples: int, rounds: int) -> list[float]:
    """Fig. 1: Z_m/Z at 0, 1, … 100 % of the samples, the mean of the rounds."""
    model, X, y = boosted(n_samples, rounds, name)
    curves = []
    for weights in weights_by_round(model, X, y, name):
        held = np.append(0, np.cumsum(np.sort(weights)[::-1]))
        curves.append(np.interp(np.linspace(0, 1, 101) * len(y), np.arange(len(held)), held))
        curves[-1] /= held[-1]
    return np.mean(curves, axis=0).tolist()


def ranks(n_samples: int, rounds: int, every: int) -> dict[str, Any]:
    """Figs. 2–3: preliminary errors of all features at the root, and the rank of the best in the end."""
    model, X, y = boosted(n_samples, rounds)
    cuts = Cuts(X.astype(np.float64))
    signs = 2.0 * y - 1
    found: list[list[int]] = []
    traces = np.empty(0)
    for weights in weights_by_round(model, X, y, "quickboost")[::every]:
        traces = np.stack([preliminary(cuts, signs, weights, mass) for mass in MASSES])
        best = int(np.argmin(traces[-1]))
        found.append([int(np.sum(errors < errors[best])) for errors in traces])
    some = np.argsort(traces[-1])[:40]  # enough to draw
    return {"ranks": found, "traces": traces[:, some].tolist(), "n_features": len(traces[0])}


def preliminary(cuts: Cuts, signs: np.ndarray, weights: np.ndarray, mass: float) -> np.ndarray:
    """The least error of each feature on the heaviest samples that hold this share of the mass."""
    order = np.argsort(-weights, kind="stable")
    held = np.cumsum(weights[order])
    heavy = order[: np.searchsorted(held, mass * held[-1] * (1 - 1e-12)) + 1]
    signed = np.zeros(len(weights))
    signed[heavy] = (signs * weights)[heavy]
    reach = np.abs(signed.sum() - 2 * cuts.left_sums(signed))
    _, first = np.unique(cuts.feature_of, return_index=True)
    return (1 - np.maximum.reduceat(reach, first) / weights[heavy].sum()) / 2


def visits(first: float, steps: int, n_samples: int, rounds: int) -> int:
    """Fig. 4: pairs of a sample and a feature that are visited under a schedule."""
    model, *_ = boosted(n_samples, rounds, first_subset=first, subset_steps=steps)
    return int(np.sum(model.history_.table()["visited"]))


def run(*, quick: bool) -> Report:
    n_samples, rounds = (4000, 100) if quick else (10_000, 1000)
    report = Report(
        notes=[
            (
                f"{SET}: {n_samples:,} rows, {rounds:,} rounds, trees of depth {DEPTH}. For these figures the "
                "text does not name its data. Shares are judged in whole percent."
            )
        ]
    )
    figure, axes = new_figure(1, 4)
    _mass(report, axes[0, 0], n_samples, rounds)
    _ranks(report, axes[0, 1:3], n_samples // 2, rounds)
    _schedule(report, axes[0, 3], (n_samples, rounds // 5))
    report.figures.append(save(figure, "quick_subsets.png"))
    return report


def _mass(report: Report, ax: Any, n_samples: int, rounds: int) -> None:
    found = measure_all(masses, [(name, n_samples, rounds) for name in NAMES.values()])
    for title, name in NAMES.items():
        curve = found[name, n_samples, rounds]
        share = float(np.interp(0.9, curve, np.arange(101)))
        quote, stated = STATED[title]
        report.lines.append(
            judged(
                f"{title}: share of the samples that holds 90 % of the mass",
                quote,
                f"{share:.1f} %",
                good=round(share) <= stated,
            )
        )
        ax.plot(np.arange(101), curve, label=title)
    ax.axhline(0.9, color="0.7", lw=0.8)
    ax.set(title="Fig. 1", xlabel="% of the samples, heaviest first", ylabel="share of the mass")
    ax.legend()


def _ranks(report: Report, axes: Any, n_samples: int, rounds: int) -> None:
    unit = (n_samples, rounds // 2, max(1, rounds // 40))
    found = measure_all(ranks, [unit])[unit]
    rank = np.array(found["ranks"])
    ten = 100 * float((rank < TOP).mean(axis=0)[MASSES.index(KNEE)])
    report.lines.append(
        judged(
            "rounds in which the best feature is among the ten best on 75 % of the mass",
            quotes.AMONG_TEN,
            f"{ten:.0f} %",
            good=ten > CHANCE,
        )
    )
    traces = np.array(found["traces"])
    axes[0].plot(MASSES, traces[:, 1:], color="0.8", lw=0.7)
    axes[0].plot(MASSES, traces[:, 0], label="best feature in the end")
    axes[0].set(title="Fig. 2", xlabel="share of the mass", ylabel="preliminary error")
    axes[0].legend()
    for top, label in ((1, "first"), (TOP, "first ten"), (found["n_features"] // 100, "first 1 %")):
        axes[1].plot(MASSES, (rank < top).mean(axis=0), label=label)
    axes[1].set(title="Fig. 3", xlabel="share of the mass", ylabel="chance to hold the best")
    axes[1].legend()


def _schedule(report: Report, ax: Any, size: tuple[int, int]) -> None:
    units = [(first, steps, *size) for first in FIRST for steps in N_STEPS]
    found = measure_all(visits, units)
    grid = np.array([[found[first, steps, *size] for steps in N_STEPS] for first in FIRST])
    relative = grid / grid.min()
    papers = relative[FIRST.index(FIRST_SUBSET), N_STEPS.index(STEPS)]
    i, j = np.unravel_index(np.argmin(grid), grid.shape)
    report.lines.append(
        judged(
            f"visits at 90 % and {STEPS} steps, relative to the least of the sweep",
            quotes.CHEAPEST_SCHEDULE,
            f"{papers:.2f}; the least at {FIRST[i]:.0%} and {N_STEPS[j]} steps",
            good=papers == 1,
        )
    )
    rows = [
        [f"{f:.0%}", *(f"{r:.2f}" for r in row)] for f, row in zip(FIRST, relative, strict=True)
    ]
    header = ["first subset \\ steps", *map(str, N_STEPS)]
    report.tables.append(Table("Fig. 4: visits relative to the least", header, rows))
    report.notes.append(
        "Visits do not include the cost of evaluating many steps; the paper's operation counts do."
    )
    image = ax.imshow(relative, cmap="viridis_r", aspect="auto")
    ax.set(title="Fig. 4: visits relative to the least", xlabel="steps", ylabel="first subset")
    ax.set_xticks(range(len(N_STEPS)), map(str, N_STEPS))
    ax.set_yticks(range(len(FIRST)), [f"{f:.0%}" for f in FIRST])
    ax.figure.colorbar(image, ax=ax)
