"""LOCAL Figs. 2–5, 10: spirals, less data, wrong labels."""

from reproduce.harness import Report, at_most, holds
from reproduce.local_parts import run_part

TITLE = "LOCAL Figs. 2–5, 10: spirals, less data, wrong labels"
ROUNDS_TO_ZERO = 35
N_ROUNDS = 1000


def run(*, quick: bool) -> Report:
    """The same run either way: it takes a minute."""
    del quick
    found = run_part("spirals", None)
    report = Report(figures=["local_fig2_5_spirals.png"])
    for title, case in found.items():
        what = f"{title} of the training data" if "wrong" not in title else f"{title} labels"
        report.lines.append(at_most(f"{what}: test error %", case["printed"], case["error"]))
    zeros = [zero if zero is not None else N_ROUNDS for zero in found["all"]["zeros"]]
    mean = sum(zeros) / len(zeros)
    spread = f"{mean:.0f} ({min(zeros)}–{max(zeros)})"
    what = "rounds to no training error, all data"
    report.lines.append(holds(what, f"≈ {ROUNDS_TO_ZERO}", spread, good=mean <= ROUNDS_TO_ZERO))
    report.notes.append("Means of five draws; the papers show one.")
    return report
