"""LOCAL Fig. 9, THESIS Fig. 5.11: official splits, beside other methods."""

from reproduce.harness import Line, Report, Table
from reproduce.local import METHODS, PRINTED
from reproduce.local_parts import run_part

TITLE = "LOCAL Fig. 9, THESIS Fig. 5.11: official splits"
QUICK_SETS, QUICK_METHODS = ["glass", "vowel", "optdigits"], ["rebel", "forest", "knn"]


def run(*, quick: bool, sets: tuple[str, ...] | None = None) -> Report:
    methods = QUICK_METHODS if quick else list(METHODS)
    found = run_part("official", list(sets or (QUICK_SETS if quick else PRINTED)), methods)
    report = Report()
    for name, by_method in found.items():
        ours, most = by_method["rebel"][0], float(PRINTED[name].split("–")[-1])
        verdict = "reached" if round(ours, 2) <= most else f"worse by {ours - most:.2f}"
        report.lines.append(Line(f"{name}: test error %", PRINTED[name], f"{ours:.2f}", verdict))
    rows = [
        [name, *(f"{by_method[m][0]:.2f} / {by_method[m][1]:.1f} s" for m in methods)]
        for name, by_method in found.items()
    ]
    report.tables.append(Table("Test error % / fit time", ["", *methods], rows))
    report.notes.append(
        "Printed are two papers' values; reached means not above the higher one. The four small nets "
        "are one MLP of scikit-learn here, and the SVM's grid is searched on at most 3,000 samples."
    )
    return report
