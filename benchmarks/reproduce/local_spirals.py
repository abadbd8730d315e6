"""LOCAL Figs. 2–5, 10: spirals, less data, wrong labels."""

import numpy as np

from rebelboost import RebelClassifier, Similarity
from rebelboost.datasets import spirals
from rebelboost.plots import plot_regions
from reproduce.harness import Report, holds, new_figure, not_above, save
from reproduce.local_parts import run_part

TITLE = "LOCAL Figs. 2–5, 10: spirals, less data, wrong labels"
ROUNDS_TO_ZERO = 35
N_ROUNDS = 1000


def run(*, quick: bool) -> Report:
    """The same run either way: it takes a minute."""
    del quick
    found = run_part("spirals", None)
    report = Report(figures=["local/local_fig2_5_spirals.png"])
    for title, case in found.items():
        what = f"{title} of the training data" if "wrong" not in title else f"{title} labels"
        report.lines.append(not_above(f"{what}: test error %", case["printed"], case["errors"]))
    zeros = [zero if zero is not None else N_ROUNDS for zero in found["all"]["zeros"]]
    mean = sum(zeros) / len(zeros)
    spread = f"{mean:.0f} ({min(zeros)}–{max(zeros)})"
    what = "rounds until the training error is zero, all data"
    report.lines.append(holds(what, f"≈ {ROUNDS_TO_ZERO}", spread, good=mean <= ROUNDS_TO_ZERO))
    _overtraining(report)
    report.notes.append("Means over five random draws; the papers show one.")
    return report


def _overtraining(report: Report) -> None:
    """Fig. 10: long after the training error is gone, stumps overfit and similarities do not."""
    learners = {"stumps": "stump", "similarities": Similarity(scale="none")}
    figure, axes = new_figure(1, 2)
    errors = {}
    for ax, (title, learner) in zip(axes[0], learners.items(), strict=True):
        wrong = []
        for seed in range(5):
            X, y, X_test, y_test = spirals(seed)
            model = RebelClassifier(learner, n_rounds=N_ROUNDS, tol=0.0, cross_fit=None).fit(X, y)
            wrong.append(100 * float(np.mean(model.predict(X_test) != y_test)))
        errors[title] = float(np.mean(wrong))
        plot_regions(model, X, y, ax).set(title=f"{title}: test error {errors[title]:.1f} %")
    report.lines.append(
        holds(
            f"Fig. 10, {N_ROUNDS:,} rounds: test error %, stumps and similarities",
            "massive overfitting; none",
            f"{errors['stumps']:.1f}; {errors['similarities']:.1f}",
            good=errors["similarities"] < 1 and errors["stumps"] > 5,
        )
    )
    report.figures.append(save(figure, "local_fig10_overtraining.png"))
