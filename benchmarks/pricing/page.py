"""The results in docs/costs.md, written by `costs.py --docs`: no number is typed by hand."""

from pathlib import Path

import numpy as np

import measuring
from pricing import tables
from pricing.methods import METHODS, NEUTRAL, OURS, PLAIN, STUMPS_ARGMAX, STUMPS_NEUTRAL, TRAINED
from pricing.tables import Records
from pricing.trials import PARTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "costs.md"
READING = """\
Mean cost on the test set; in brackets, the share of trials in which rebelboost's default costs less. Random
guessing costs about 1. A star means: without the data sets that have too many classes for the method, so that
the mean is over easier ones."""
SHOWN = {
    OURS: "rebelboost, default",
    TRAINED: "rebelboost, trained on the costs",
    NEUTRAL: "rebelboost, costs in the decision only",
    PLAIN: "rebelboost, costs in the decision only, not cross-fitted",
    "ours, papers' way: costs, argmax": "rebelboost, the papers' way: trained on the costs, argmax",
    STUMPS_ARGMAX: "100 stumps, trained on the costs, argmax (REBEL)",
    "100 stumps: costs, decoded": "100 stumps, trained on the costs, posterior decoded",
    STUMPS_NEUTRAL: "100 stumps, costs in the decision only (two-step)",
}
"""What the page calls a method, if not by its title."""


def write(records: Records) -> Path:
    aims = "Goals, and whether they were reached:\n\n" + "\n".join(goals(records))
    parts = [listed(records), READING, aims, training(records)]
    PAGE.write_text(measuring.with_results(PAGE, "\n\n".join(parts)), encoding="utf-8")
    return PAGE


def listed(records: Records) -> str:
    """A row for each method, a column for each part."""
    rows = []
    for title in METHODS:
        cells = [cell(records, part, title) for part in PARTS]
        name = SHOWN.get(title, title.replace("calibrated × costs", "calibrated"))
        rows.append([f"**{name}**" if title == OURS else name, *cells])
    return measuring.markdown(["method", *PARTS.values()], rows)


def cell(records: Records, part: str, title: str) -> str:
    found = tables.compare_with(records, part, title)
    if found is None:
        return "–"
    if title == OURS:
        return f"**{found.cost:.3f}**"
    sets = [len(tables.by_set(records, part, each)) for each in (title, OURS)]
    return f"{found.cost:.3f}{'*' if sets[0] < sets[1] else ''} ({found.share:.0%})"


def goals(records: Records) -> list[str]:
    """Which goals were reached, in the words that the benchmark prints."""
    costs = [line for part in PARTS for line in tables.cost_goals(records, part)]
    return [*costs, *tables.papers_claim(records), *tables.probability_goals(records)]


def training(records: Records, part: str = "d") -> str:
    """Training on the costs compared with using them in the decision only, by data set."""
    inside, outside = (tables.by_set(records, part, title) for title in (TRAINED, OURS))
    means = {
        name: [float(np.mean(list(each[name].values()))) for each in (outside, inside)]
        for name in inside
    }
    rows = [
        [name, f"{out:.4f}", f"{within:.4f}", f"{within / out - 1:+.1%}"]
        for name, (out, within) in means.items()
    ]
    title = f'Mean cost of `training="neutral"` and `training="costs"`, {PARTS[part]}:'
    header = ["data set", '`"neutral"`', '`"costs"`', "difference"]
    return f"{title}\n\n{measuring.markdown(header, rows)}"
