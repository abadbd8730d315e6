"""LOCAL Figs. 2–5, 10; THESIS Fig. 5.4: spirals, less data, wrong labels, and stumps that overfit.

The papers show one set of spirals and do not say how it was drawn: here are means over several draws.
"""

from typing import Any

import numpy as np

from rebelboost import RebelClassifier, Similarity
from rebelboost.datasets import spirals
from rebelboost.plots import plot_regions
from reproduce import quotes
from reproduce.harness import Report, judged, measure_all, new_figure, save, several
from reproduce.papers import paper

TITLE = "LOCAL Figs. 2–5, 10: spirals, less data, wrong labels"
ALL = "all of the training data"
SPARSE = {"4/5": 267, "3/5": 200, "2/5": 133, "1/5": 67}
WRONG = {"1 %": 0.01, "3 %": 0.03, "10 %": 0.1, "30 %": 0.3}
CASES: dict[str, dict[str, Any]] = {
    ALL: {},
    **{f"{share} of the training data": {"n_train": n} for share, n in SPARSE.items()},
    **{f"{share} wrong labels": {"wrong": wrong} for share, wrong in WRONG.items()},
}
METHODS = {
    "papers": lambda rounds: paper("local", rounds),
    "ours": lambda rounds: RebelClassifier(
        Similarity(scale="none"), n_rounds=rounds, tol=0.0, cross_fit=None, n_jobs=1
    ),
    "stumps": lambda rounds: paper("rebel", rounds),
}
AROUND = 40
"""Rounds up to this one are "around iteration 35", or before it."""
MASSIVE = 5.0
"""Points by which stumps overfit massively: their test error above their training error, and above that of
similarities."""
Curve = dict[str, list[float]]
"""Errors in % after each round: "train" and "test"."""


def curve(method: str, case: str, seed: int, rounds: int) -> Curve:
    X, y, X_test, y_test = spirals(seed, **CASES[case])
    model = METHODS[method](rounds).fit(X, y)
    return {
        "train": [100 * record.error for record in model.history_],
        "test": [100 * float(np.mean(each != y_test)) for each in model.staged_predict(X_test)],
    }


def standard_error(error: float, n_samples: int = 167) -> float:
    """Of an error in %, measured on so many test samples; one sample at least."""
    share = error / 100
    return 100 * max(1 / n_samples, float(np.sqrt(share * (1 - share) / n_samples)))


def round_of_zero(run: Curve) -> int:
    """The first round without training error, or one more than there are."""
    return next((i for i, error in enumerate(run["train"], 1) if error == 0), len(run["train"]) + 1)


def stays_low(run: Curve) -> bool:
    """Whether the last test error is the least one, but for one standard error."""
    least = min(run["test"])
    return run["test"][-1] <= least + standard_error(least)


def last(runs: list[Curve], which: str = "test") -> list[float]:
    return [run[which][-1] for run in runs]


def run(*, quick: bool) -> Report:
    n_draws, rounds = (2, 200) if quick else (5, 1000)
    units = [
        (m, case, s, rounds) for m in ("papers", "ours") for case in CASES for s in range(n_draws)
    ]
    units += [("stumps", ALL, seed, rounds) for seed in range(n_draws)]
    found: dict[str, dict[str, list[Curve]]] = {method: {} for method in METHODS}
    for (method, case, *_), result in measure_all(curve, units).items():
        found[method].setdefault(case, []).append(result)
    report = Report(figures=[_figure(rounds)])
    _all_data(report, found["papers"][ALL], found["ours"][ALL])
    _less_and_wrong(report, found["papers"], found["ours"])
    _overtraining(report, found)
    report.notes.append(
        f"Means over {n_draws} draws, {rounds} rounds. An error counts as no higher than the least one, or "
        "than the fraction of wrong labels, if it is within one standard error of a share of the 167 test "
        "points, or one point."
    )
    return report


def _all_data(report: Report, papers: list[Curve], ours: list[Curve]) -> None:
    def perfect(runs: list[Curve]) -> tuple[str, bool]:
        count = sum(run["train"][-1] == run["test"][-1] == 0 for run in runs)
        return f"in {count} of {len(runs)} draws", count == len(runs)

    def first_zero(runs: list[Curve]) -> tuple[str, bool]:
        rounds = [round_of_zero(run) for run in runs]
        shown = f"{np.mean(rounds):.0f} ({min(rounds)}–{max(rounds)})"
        return shown, float(np.mean(rounds)) <= AROUND

    def no_rise(runs: list[Curve]) -> tuple[str, bool]:
        rises = [
            run["test"][-1] - run["test"][min(round_of_zero(run), len(run["test"])) - 1]
            for run in runs
        ]
        return f"{max(rises):+.1f} points at most", max(rises) <= 0

    for what, quote, rule in (
        ("no training and no test error", quotes.PERFECT, perfect),
        (
            f"rounds until there is no training error, at most {AROUND}",
            quotes.AROUND_35,
            first_zero,
        ),
        ("change of the test error from then to the last round", quotes.AFTER_ZERO, no_rise),
    ):
        shown, good = rule(papers)
        report.lines.append(judged(what, quote, shown, good=good, ours=rule(ours)[0]))


def _less_and_wrong(
    report: Report, papers: dict[str, list[Curve]], ours: dict[str, list[Curve]]
) -> None:
    for share in SPARSE:
        case = f"{share} of the training data"
        shown = [
            f"{several([min(run['test']) for run in runs])}; {several(last(runs))}"
            for runs in (papers[case], ours[case])
        ]
        good = all(stays_low(run) for run in papers[case])
        what = f"{case}: least test error, and at the end, %"
        report.lines.append(judged(what, quotes.SPARSE, shown[0], good=good, ours=shown[1]))
    for share, wrong in WRONG.items():
        case = f"{share} wrong labels"
        mean = float(np.mean(last(papers[case])))
        report.lines.append(
            judged(
                f"{case}: test error %, no higher than the fraction",
                quotes.MISLABELED,
                several(last(papers[case])),
                good=mean <= 100 * wrong + standard_error(100 * wrong),
                ours=several(last(ours[case])),
            )
        )


def _overtraining(report: Report, found: dict[str, dict[str, list[Curve]]]) -> None:
    stumps, papers, ours = (found[method][ALL] for method in ("stumps", "papers", "ours"))
    trained, *errors = (
        float(np.mean(each)) for each in (last(stumps, "train"), last(stumps), last(papers))
    )
    report.lines.append(
        judged(
            "stumps: training and test error %; similarities: test error %",
            quotes.OVERTRAINING,
            f"{trained:.1f} and {errors[0]:.1f}; {errors[1]:.1f}",
            good=errors[0] > max(trained, errors[1]) + MASSIVE,
            ours=f"similarities {several(last(ours))}",
        )
    )


def _figure(rounds: int) -> str:
    """The classes of the plane, for the first draw of each case, and for stumps."""
    figure, axes = new_figure(2, 5)
    shown = [*((case, "papers") for case in CASES), (ALL, "stumps")]
    for ax, (case, method) in zip(axes.ravel(), shown, strict=True):
        X, y, *_ = spirals(0, **CASES[case])
        plot_regions(METHODS[method](rounds).fit(X, y), X, y, ax)
        ax.set(title=case if method == "papers" else "stumps")
    return save(figure, "local_spirals.png")
