"""LOCAL Figs. 6–7: the loss after thousands of rounds, and the test error then."""

from reproduce.harness import Report, at_most, not_above
from reproduce.local_parts import run_part

TITLE = "LOCAL Figs. 6–7: loss and error after thousands of rounds"
ERRORS = {"glass": "27.0", "pendigits": "1.8", "optdigits": "2.3", "isolet": "3.5"}


def run(*, quick: bool, sets: tuple[str, ...] | None = None) -> Report:
    found = run_part("curves", list(sets or (["glass"] if quick else ERRORS)))
    report = Report(figures=["local/local_fig6_7_training.png"])
    for name, case in found.items():
        what = f"{name}: log₁₀ loss at {case['rounds']:,} rounds"
        report.lines.append(at_most(what, case["printed"], case["log10_loss"]))
        report.lines.append(
            not_above(f"{name}: test error % at that round", ERRORS[name], case["errors"])
        )
    return report
