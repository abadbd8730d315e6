"""The results in docs/costs.md, as `costs.py --docs` writes them: no number is typed by hand."""

from pathlib import Path

import measuring
import numpy as np

from pricing import tables
from pricing.methods import METHODS, OURS, TRAINED
from pricing.tables import Records
from pricing.trials import PARTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "costs.md"
READING = """\
Mean cost in the test set, and in brackets the share of trials in which ours costs less. Guessing costs
about 1. A star: without sets that have too many classes for the method; its mean is then of easier ones."""


def write(records: Records) -> Path:
    aims = "What we aimed at:\n\n" + "\n".join(goals(records))
    parts = [listed(records), READING, aims, training(records)]
    PAGE.write_text(measuring.with_results(PAGE, "\n\n".join(parts)), encoding="utf-8")
    return PAGE


def listed(records: Records) -> str:
    """A row for each method, a column for each part."""
    rows = []
    for title in METHODS:
        cells = [cell(records, part, title) for part in PARTS]
        rows.append([f"**{title}**" if title == OURS else title, *cells])
    return measuring.markdown(["", *PARTS.values()], rows)


def cell(records: Records, part: str, title: str) -> str:
    found = tables.compare_with(records, part, title)
    if found is None:
        return "–"
    if title == OURS:
        return f"**{found.cost:.3f}**"
    sets = [len(tables.by_set(records, part, each)) for each in (title, OURS)]
    return f"{found.cost:.3f}{'*' if sets[0] < sets[1] else ''} ({found.share:.0%})"


def goals(records: Records) -> list[str]:
    """What of the goals is reached, said as the benchmark prints it."""
    costs = [line for part in PARTS for line in tables.cost_goals(records, part)]
    return [*costs, *tables.papers_claim(records), *tables.probability_goals(records)]


def training(records: Records, part: str = "d") -> str:
    """Costs inside training beside costs in the decision only, set by set."""
    inside, outside = (tables.by_set(records, part, title) for title in (TRAINED, OURS))
    means = {
        name: [float(np.mean(list(each[name].values()))) for each in (outside, inside)]
        for name in inside
    }
    rows = [
        [name, f"{out:.4f}", f"{within:.4f}", f"{within / out - 1:+.1%}"]
        for name, (out, within) in means.items()
    ]
    title = f"Costs in the decision only, and also in training; {PARTS[part]}:"
    header = ["mean cost", '`"neutral"`', '`"costs"`', "the latter's is higher by"]
    return f"{title}\n\n{measuring.markdown(header, rows)}"
