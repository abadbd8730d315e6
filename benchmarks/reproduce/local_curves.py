"""LOCAL Figs. 6–7: test error and loss over thousands of rounds.

The texts name neither the sets nor the numbers of rounds: the sets are four of those of THESIS, Table 1.1,
from the least to the largest number of features.
"""

import numpy as np

from rebelboost import RebelClassifier, Similarity
from rebelboost.theory.bounds import similarity_rate
from reproduce import quotes
from reproduce.harness import Report, Table, judged, measure_all, new_figure, save
from reproduce.local_spirals import standard_error
from reproduce.official import official_split
from reproduce.papers import paper

TITLE = "LOCAL Figs. 6–7: loss and test error over thousands of rounds"
ROUNDS = {"glass": 2000, "pendigits": 2000, "optdigits": 2000, "isolet": 2000}
QUICK_ROUNDS = {"glass": 500}
METHODS = {
    "papers": lambda rounds: paper("local", rounds),
    "ours": lambda rounds: RebelClassifier(
        Similarity(), n_rounds=rounds, tol=0.0, cross_fit=None, n_jobs=1
    ),
}
EVERY = 10
"""Rounds between two test errors."""


def curve(name: str, method: str, rounds: int) -> dict[str, list[float]]:
    """log₁₀ of the loss after each round, test errors in % after every tenth, and the shape of the set."""
    split = official_split(name)
    model = METHODS[method](rounds).fit(split.X_train, split.y_train)
    staged = enumerate(model.staged_predict(split.X_test), 1)
    return {
        "log_loss": [record.log_loss / np.log(10) for record in model.history_],
        "test": [100 * float(np.mean(y != split.y_test)) for i, y in staged if i % EVERY == 0],
        "shape": [len(np.unique(split.y_train)), len(split.y_train), len(split.y_test)],
    }


def falls(log_loss: list[float]) -> tuple[float, float]:
    """By how much log₁₀ of the loss falls a round: in the first tenth of the rounds, and after it."""
    tenth = max(1, len(log_loss) // 10)
    first = -log_loss[tenth - 1] + log_loss[0]
    rest = -log_loss[-1] + log_loss[tenth - 1]
    return first / max(1, tenth - 1), rest / max(1, len(log_loss) - tenth)


def run(*, quick: bool, sets: tuple[str, ...] | None = None) -> Report:
    rounds_of = QUICK_ROUNDS if quick else ROUNDS
    rounds_of = {name: ROUNDS[name] if sets else rounds_of[name] for name in sets or rounds_of}
    units = [(name, method, n) for name, n in reversed(rounds_of.items()) for method in METHODS]
    found = measure_all(curve, units)
    report = Report(
        tables=[Table("Test error %", ["", "rounds", "least", "at the end"], rows := [])]
    )
    figure, axes = new_figure(2, len(rounds_of))
    for column, (name, rounds) in zip(axes.T, rounds_of.items(), strict=True):
        runs = {method: found[name, method, rounds] for method in METHODS}
        _lines(report, name, runs)
        for method, one in runs.items():
            rows.append(
                [f"{name}, {method}", f"{rounds:,}", f"{min(one['test']):.1f}", f"{one['test'][-1]:.1f}"]
            )  # fmt: skip
            column[0].plot(one["log_loss"], label=method)
            column[1].plot(np.arange(1, len(one["test"]) + 1) * EVERY, one["test"])
        column[0].set(title=name, ylabel="log₁₀ loss")
        column[1].set(xlabel="round", ylabel="test error, %")
        column[0].legend()
    report.figures.append(save(figure, "local_curves.png"))
    report.notes.append(
        "The texts say neither how many rounds they ran nor, but for the range of dimensions, on which sets: "
        "both are our choice. A test error has not increased if it ends within one standard error of the least."
    )
    return report


def _lines(report: Report, name: str, runs: dict[str, dict[str, list[float]]]) -> None:
    papers, ours = runs["papers"], runs["ours"]
    n_classes, n_train, n_test = map(int, papers["shape"])
    proven = -float(np.log10(similarity_rate(n_classes, n_train)))
    first, rest = falls(papers["log_loss"])
    of_ours = falls(ours["log_loss"])
    least = min(papers["test"])
    report.lines += [
        judged(
            f"{name}: test error at the end, above the least, points",
            quotes.SATURATED,
            f"{papers['test'][-1] - least:.1f}",
            good=papers["test"][-1] <= least + standard_error(least, n_test),
            ours=f"{ours['test'][-1] - min(ours['test']):.1f}",
        ),
        judged(
            f"{name}: log₁₀ of the loss falls a round, times what is proven",
            quotes.FASTER,
            f"{rest / proven:,.0f}×",
            good=rest > proven,
            ours=f"{of_ours[1] / proven:,.0f}×",
        ),
        judged(
            f"{name}: it falls in the first tenth of the rounds, times the fall after it",
            quotes.FIRST_TENTH,
            f"{first / rest:.1f}×",
            good=first > rest,
            ours=f"{of_ours[0] / of_ours[1]:.1f}×",
        ),
    ]
