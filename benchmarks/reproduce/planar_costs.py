"""REBEL Fig. 3: planar sets × random cost matrices, 100 stumps, against posterior-then-cost."""

import costs
import measuring
from pricing.methods import OURS, STUMPS_ARGMAX, STUMPS_NEUTRAL
from pricing.tables import compare_with
from reproduce.harness import Report, Table, at_least

TITLE = "REBEL Fig. 3: 10 planar sets × 20 random cost matrices"
DECODED = "100 stumps: costs, decoded"
METHODS = [STUMPS_ARGMAX, STUMPS_NEUTRAL, DECODED, OURS]


def run(*, quick: bool) -> Report:
    measuring.limit_threads(1)
    found = costs.run_all(costs.units(["a"], METHODS, quick=quick))
    report = Report()
    rows = []
    for title in (STUMPS_ARGMAX, DECODED, OURS):
        beside = compare_with(found, "a", STUMPS_NEUTRAL, against=title)
        if beside is None:
            continue
        what = f"{title}: lower cost than the two-step method, % of {beside.n_trials} trials"
        report.lines.append(at_least(what, 90.0, 100 * beside.share))
        rows.append([title, f"{beside.ours:.4f}", f"{beside.cost:.4f}"])
    header = ["", "mean cost", "mean cost, two-step"]
    report.tables.append(Table("Mean cost; guessing costs about 1", header, rows))
    note = "The papers' claim is about training on costs with argmax, the first line; see docs/costs.md."
    report.notes.append(note)
    return report
