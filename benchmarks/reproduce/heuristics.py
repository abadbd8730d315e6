"""QUICK Figs. 5–7: work against training loss and test error, six heuristics, plain and quick.

Work is visits of a pair of a sample and a feature, and seconds of one thread. As in the paper, faces are
classified by 2,000 stumps on 4,300 Haar features, and digits by 1,000 trees of depth 4 on raw pixels; all
60,000 training digits are used. Faces are CBCL's, not CMU-MIT's: a random third of its training windows is the
test set, because its own test windows are of another kind. "digit_8" is mnist with two classes, one of them 8.
"""

import hashlib
import time
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import data
from pruning import SETTINGS
from rebelboost.vision import RectangleFeatures
from reproduce import quotes
from reproduce.harness import (
    Line,
    Report,
    Table,
    absent,
    judged,
    measure_all,
    new_figure,
    save,
)
from reproduce.papers import quickboost

TITLE = "QUICK Figs. 5–7: six heuristics, with and without pruning"
FILES = {"faces": "cbcl_faces", "digit_8": "mnist", "digits": "mnist"}
DEPTHS = {"faces": 1, "digit_8": 4, "digits": 4}
ROUNDS = {"faces": 2000, "digit_8": 1000, "digits": 1000}
ROWS = {"faces": 60_000, "digit_8": 60_000, "digits": 60_000}
QUICK_ROUNDS = {"faces": 300, "digit_8": 150, "digits": 30}
QUICK_ROWS = 4000
SEARCHES = {"plain": "exhaustive", "quick": "pruned"}
OURS = "auto"
CHECKPOINTS = 60
SIDE, N_HAAR = 19, 4300
"""Pixels of a side of a face, and number of Haar features that are drawn of it."""
PLAIN = "plain"
TRIMMED = ("trim_90", "trim_99")
MAGNITUDE, EIGHT, TWO = 10, 8, 2

Run = dict[str, Any]
Runs = dict[str, dict[str, Run]]
"""Setting → plain or quick → a run."""


def trace(set_name: str, setting: str, search: str, rounds: int, rows: int) -> Run:
    """Cumulated visits and seconds, loss and area over the ROC, at some of the rounds.

    The history has seconds on the clock; they are scaled to those of the processor.
    """
    split = load(set_name)
    model = quickboost(rounds, DEPTHS[set_name], search, random_state=0, **SETTINGS[setting])
    began, worked = time.perf_counter(), time.process_time()
    model.fit(split.X_train[:rows], split.y_train[:rows])
    share = (time.process_time() - worked) / (time.perf_counter() - began)
    history = model.history_.table()
    visited = np.cumsum(history["visited"])
    at = np.unique(np.geomspace(1, len(visited), CHECKPOINTS).astype(int)) - 1
    chosen = set(at.tolist())
    staged = enumerate(model.staged_decision_function(split.X_test))
    scored = {i: scores for i, scores in staged if i in chosen}
    return {
        "visits": visited[at].tolist(),
        "seconds": (share * np.array(history["seconds"]))[at].tolist(),
        "log_loss": np.array(history["log_loss"])[at].tolist(),
        "area": [area_over_roc(split.y_test, scores) for scores in scored.values()],
        "digest": hashlib.sha256(scored[int(at[-1])].tobytes()).hexdigest(),
    }


def load(set_name: str) -> data.Split:
    split = data.load(FILES[set_name])
    if set_name == "digit_8":
        return split._replace(y_train=split.y_train == 8, y_test=split.y_test == 8)
    if set_name == "faces":
        X, y = haar(split.X_train), split.y_train
        parts = train_test_split(X, y, test_size=data.TEST_SHARE, stratify=y, random_state=0)
        return data.Split(parts[0], parts[2], parts[1], parts[3])
    return split


def haar(pictures: np.ndarray) -> np.ndarray:
    images = np.rint(pictures).astype(np.uint8).reshape(-1, SIDE, SIDE)
    features = RectangleFeatures("haar", step=1, n_features=N_HAAR, n_jobs=1, random_state=0)
    return features.fit_transform(images).astype(np.float32)


def area_over_roc(y: np.ndarray, scores: np.ndarray) -> float:
    """1 − AUC; with more classes, the mean over each class against the rest."""
    if scores.ndim == 1:
        return 1 - float(roc_auc_score(y, scores))
    return 1 - float(np.mean([roc_auc_score(y == k, scores[:, k]) for k in range(scores.shape[1])]))


def at_budget(run: Run, budget: float) -> float:
    """The error of what so many visits pay for; linear between checkpoints."""
    return float(np.interp(budget, run["visits"], run["area"]))


def saved(runs: dict[str, Run], unit: str, i: int = -1) -> float:
    """By what factor less work the quick version does up to a checkpoint."""
    return runs["plain"][unit][i] / runs["quick"][unit][i]


def to_the_best(runs: dict[str, Run], unit: str = "visits") -> float:
    """Fig. 7: the factor saved to reach the lowest error."""
    return saved(runs, unit, int(np.argmin(runs["plain"]["area"])))


def lower_errors(runs: Runs) -> dict[str, float]:
    """Fig. 6: by what factor the error is lower for the visits of the cheapest quick heuristic."""
    budget = min(of["quick"]["visits"][-1] for of in runs.values())
    return {
        setting: at_budget(of["plain"], budget) / at_budget(of["quick"], budget)
        for setting, of in runs.items()
    }


def run(*, quick: bool, sets: tuple[str, ...] | None = None) -> Report:
    rounds_of = (
        QUICK_ROUNDS if quick and not sets else {name: ROUNDS[name] for name in sets or ROUNDS}
    )
    size = {name: (n, QUICK_ROWS if quick else ROWS[name]) for name, n in rounds_of.items()}
    wanted = [(setting, search) for setting in SETTINGS for search in SEARCHES.values()]
    units = [(s, *each, *size[s]) for s in size for each in [*wanted, (PLAIN, OURS)]]
    found = measure_all(trace, units)
    report = Report(notes=[_note(name, *size[name]) for name in size])
    report.notes.append(f"As in the paper: faces, {quotes.STUMPS}; digits, {quotes.DIGITS}.")
    figure, axes = new_figure(3, len(size))
    best, lower = 0, []
    for column, name in zip(axes.T, size, strict=True):
        runs: Runs = {
            setting: {
                kind: found[name, setting, search, *size[name]] for kind, search in SEARCHES.items()
            }
            for setting in SETTINGS
        }
        report.lines += _lines(name, runs, found[name, PLAIN, OURS, *size[name]])
        report.tables.append(_table(name, runs))
        _draw(column, name, runs)
        best += min(runs, key=lambda s: min(runs[s]["plain"]["area"])) == PLAIN
        lower += lower_errors(runs).values()
    report.figures.append(save(figure, "quick_heuristics.png"))
    report.lines += [
        judged(
            "all sets and heuristics: test error for the same visits, mean factor",
            quotes.TWO_FOLD,
            f"÷ {np.mean(lower):.1f}",
            good=round(float(np.mean(lower)), 1) >= TWO,
        ),
        judged(
            "sets on which plain AdaBoost attains the lowest test error",
            quotes.LEAST_ERROR,
            f"{best} of {len(size)}",
            good=best >= TWO * len(size) / 3,
        ),
        absent("pedestrians (INRIA)", quotes.PEDESTRIANS, "the data are not available"),
    ]
    return report


def _note(name: str, rounds: int, rows: int) -> str:
    rows = min(rows, {"faces": 4651}.get(name, 60_000))
    source = " (CBCL, two thirds of its training windows)" if name == "faces" else ""
    return f"{name}{source}: {rows:,} rows, {rounds:,} rounds, depth {DEPTHS[name]}."


def _lines(name: str, runs: Runs, ours: Run) -> list[Line]:
    same = sum(of["plain"]["digest"] == of["quick"]["digest"] for of in runs.values())
    factors = {setting: to_the_best(of) for setting, of in runs.items()}
    lower = lower_errors(runs)
    all_rounds = runs[PLAIN]
    trimmed = [factors[setting] for setting in TRIMMED]
    losses = {setting: of["plain"]["log_loss"][-1] for setting, of in runs.items()}
    eight = sum(round(factor) >= EIGHT for factor in factors.values())
    two = sum(round(factor) >= TWO for factor in lower.values())
    return [
        judged(
            f"{name}: heuristics whose plain and quick scores are the same bits",
            quotes.IDENTICAL,
            f"{same} of {len(runs)}",
            good=same == len(runs),
        ),
        judged(
            f"{name}: work saved by plain AdaBoost, all rounds; its seconds",
            quotes.MAGNITUDE,
            f"÷ {saved(all_rounds, 'visits'):.1f}; ÷ {saved(all_rounds, 'seconds'):.1f}",
            good=round(saved(all_rounds, "visits")) >= MAGNITUDE,
            ours=_ours(all_rounds["plain"], ours),
        ),
        judged(
            f"{name}, Fig. 7: heuristics with {EIGHT}-fold less work to the lowest error, most",
            quotes.EIGHT_TO_SIXTEEN,
            f"{eight} of {len(runs)} (÷ {min(factors.values()):.1f}–{max(factors.values()):.1f})",
            good=2 * eight > len(runs),
        ),
        judged(
            f"{name}, Fig. 7: work saved by weight trimming",
            quotes.TRIMMING,
            " and ".join(f"÷ {factor:.1f}" for factor in trimmed),
            good=all(1 <= round(factor, 1) <= TWO for factor in trimmed),
        ),
        judged(
            f"{name}, Fig. 6: heuristics with half the test error for the same work, most",
            quotes.TWO_TO_EIGHT,
            f"{two} of {len(runs)} (÷ {min(lower.values()):.1f}–{max(lower.values()):.1f})",
            good=2 * two > len(runs),
        ),
        judged(
            f"{name}: log₁₀ of plain AdaBoost's loss; the least of the others",
            quotes.LEAST_LOSS,
            "; ".join(
                f"{loss / np.log(10):.2f}"
                for loss in (losses[PLAIN], min(v for s, v in losses.items() if s != PLAIN))
            ),
            good=losses[PLAIN] == min(losses.values()),
        ),
    ]


def _ours(plain: Run, ours: Run) -> str:
    visits, seconds = (plain[unit][-1] / ours[unit][-1] for unit in ("visits", "seconds"))
    return f"÷ {visits:.1f}; ÷ {seconds:.1f}"


def _table(name: str, runs: Runs) -> Table:
    rows = [
        [
            setting,
            f"{min(of['plain']['area']):.5f}",
            *(f"{of[kind]['visits'][-1]:.2e}" for kind in SEARCHES),
            *(f"{of[kind]['seconds'][-1]:.1f}" for kind in SEARCHES),
            f"{to_the_best(of):.1f}",
            f"{to_the_best(of, 'seconds'):.1f}",
            f"{lower_errors(runs)[setting]:.1f}",
        ]
        for setting, of in runs.items()
    ]
    header = [
        "", "lowest area over the ROC curve", "visits, plain", "visits, quick", "seconds, plain",
        "seconds, quick", "to the lowest error, visits ÷", "seconds ÷", "error for the same visits ÷",
    ]  # fmt: skip
    return Table(name, header, rows)


def _draw(axes: Any, name: str, runs: Runs) -> None:
    for i, (setting, of) in enumerate(runs.items()):
        for kind, style in (("plain", "-"), ("quick", "--")):
            one, shared = of[kind], {"color": f"C{i}", "ls": style, "lw": 1.2}
            label = setting if kind == "plain" else None
            axes[0].plot(
                one["visits"], np.array(one["log_loss"]) / np.log(10), label=label, **shared
            )
            axes[1].plot(one["visits"], one["area"], **shared)
            axes[2].plot(one["seconds"], one["area"], **shared)
    axes[0].set(title=f"{name}; dashed: quick", xscale="log", ylabel="log₁₀ training loss")
    axes[1].set(xscale="log", yscale="log", xlabel="visits", ylabel="area over the ROC")
    axes[2].set(xscale="log", yscale="log", xlabel="seconds", ylabel="area over the ROC")
    axes[0].legend()
