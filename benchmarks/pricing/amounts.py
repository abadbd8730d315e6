"""Part (e), measured and written: mean costs on four tables whose mistakes cost different amounts.

Each method is trained on 2/3 of at most 3,000 samples. Results of units stay in `.benchmarks/reproduce/units`;
means are kept in benchmarks/amounts.json, from which docs/costs.md is written.
"""

import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from measuring import markdown
from pricing import by_sample
from pricing.by_sample import METHODS, MOST_ROWS, OWN, TABLES, WITHOUT
from reproduce import harness

FIGURES = Path(__file__).resolve().parents[1] / "amounts.json"
TITLE = "(e) four tables whose mistakes cost different amounts"
MARK = "by sample"
"""The block of docs/costs.md."""
SPLITS, QUICK = 10, 1
Kept = dict[str, Any]
"""seeds, and for each method its mean cost by table and its seconds."""


def measure(table: str, seed: int, title: str, made_by: str) -> dict[str, float]:
    """Mean cost of the decisions on new samples, and processor seconds."""
    del made_by  # part of the unit's name
    warnings.simplefilter("ignore")
    whole = TABLES[table]()
    some = np.random.default_rng(seed).permutation(len(whole.y))[:MOST_ROWS]
    train, test = (
        whole.take(p) for p in train_test_split(some, test_size=1 / 3, random_state=seed)
    )
    began = time.process_time()
    decided = METHODS[title].decide(train, test)
    seconds = time.process_time() - began
    return {"cost": float(test.rows()[np.arange(len(decided)), decided].mean()), "seconds": seconds}


def run(n_splits: int = SPLITS, n_processes: int = harness.N_PROCESSES) -> Kept:
    units = [
        (table, seed, title, by_sample.version(title))
        for seed in range(n_splits)
        for table in TABLES
        for title in METHODS
    ]
    found = harness.measure_all(measure, units, made_by="", n_processes=n_processes)
    by = {unit[:3]: result for unit, result in found.items()}

    def mean(table: str, title: str) -> float:
        return float(np.mean([by[table, seed, title]["cost"] for seed in range(n_splits)]))

    return {
        "splits": n_splits,
        "costs": {t: {table: round(mean(table, t), 4) for table in TABLES} for t in METHODS},
        "seconds": {
            t: round(sum(r["seconds"] for (_, _, title), r in by.items() if title == t), 1)
            for t in METHODS
        },
    }


def read() -> Kept:
    kept: Kept = json.loads(FIGURES.read_text(encoding="utf-8"))
    return kept


def write(kept: Kept) -> None:
    FIGURES.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def report(kept: Kept) -> str:
    """The table and the goals."""
    costs = kept["costs"]
    best = {table: min(each[table] for each in costs.values()) for table in TABLES}
    rows = [
        [
            f"**{title}**" if title in {OWN, WITHOUT} else title,
            *(_shown(costs[title][table], best[table]) for table in TABLES),
            f"{kept['seconds'][title]:.1f}",
        ]
        for title in METHODS
    ]
    setting = (
        f"Mean cost per new sample, the lowest of a table in bold; {kept['splits']} splits, 2/3 of at most "
        f"{MOST_ROWS:,} rows for training; CPU seconds over all fits, one thread."
    )
    table = markdown(["method", *TABLES, "seconds"], rows)
    return "\n\n".join([table, setting, "\n".join(goals(kept))])


def goals(kept: Kept) -> list[str]:
    """Lowest of those that know as much: with the new samples' own costs, and without."""
    lines = []
    for title, knows in ((OWN, True), (WITHOUT, False)):
        rivals = [t for t in METHODS if METHODS[t].knows == knows and t != title]
        lost = []
        for table in TABLES:
            best = min(rivals, key=lambda rival: kept["costs"][rival][table])
            theirs, own = (kept["costs"][t][table] for t in (best, title))
            if theirs < own:
                lost.append(f"{table}, {best}: {theirs:.4f} against {own:.4f}")
        verdict = f"NOT reached ({'; '.join(lost)})" if lost else "reached"
        told = "with" if knows else "without"
        lines.append(
            f"- (e) Lowest mean cost on all tables, {told} the new samples' costs: {verdict}."
        )
    return lines


def _shown(cost: float, best: float) -> str:
    return f"**{cost:.4f}**" if cost == best else f"{cost:.4f}"
