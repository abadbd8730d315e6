"""Tables, and whether the goals of issue 5 are reached.

Means and shares are over the sets of a part, each counting the same however many trials it has.
Ours and a rival are compared on the trials that both have.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

import measuring
from pricing.methods import (
    LIGHTGBM,
    METHODS,
    NEUTRAL,
    OURS,
    PLAIN,
    STUMPS_ARGMAX,
    STUMPS_NEUTRAL,
)
from pricing.records import Record
from pricing.trials import PARTS, Problem

ENOUGH_TRIALS = 0.6
MOST_WORSE = 3
PROBABILITIES = {"ours": NEUTRAL, "not cross-fitted": PLAIN, "LightGBM": LIGHTGBM}

Records = dict[tuple[Problem, str], Record]


@dataclass(frozen=True)
class Comparison:
    """A method beside ours, on the trials of a part that both have."""

    cost: float
    ours: float
    share: float
    """Of trials where ours costs less; ties count half."""
    n_trials: int
    seconds: float


def by_set(records: Records, part: str, title: str) -> dict[str, dict[Problem, list[float]]]:
    found: dict[str, dict[Problem, list[float]]] = {}
    for (problem, method), record in records.items():
        if problem.part == part and method == title and "costs" in record:
            found.setdefault(problem.name, {})[problem] = record["costs"]
    return found


def compare_with(records: Records, part: str, title: str, against: str = OURS) -> Comparison | None:
    """Means and shares over sets; None where the two have no trial in common."""
    theirs, ours = by_set(records, part, title), by_set(records, part, against)
    costs, beside, shares, n_trials = [], [], [], 0
    for name in theirs:
        shared = [problem for problem in theirs[name] if problem in ours.get(name, {})]
        if not shared:
            continue
        one = np.concatenate([theirs[name][problem] for problem in shared])
        other = np.concatenate([ours[name][problem] for problem in shared])
        costs.append(one.mean())
        beside.append(other.mean())
        shares.append(np.mean((other < one) + 0.5 * (other == one)))
        n_trials += len(one)
    if not costs:
        return None
    seconds = sum(
        record["seconds"]
        for (problem, method), record in records.items()
        if problem.part == part and method == title and "seconds" in record
    )
    return Comparison(
        float(np.mean(costs)), float(np.mean(beside)), float(np.mean(shares)), n_trials, seconds
    )


def part_table(records: Records, part: str) -> str:
    header = ["method", "mean cost", "ratio to ours", "ours lower", "trials", "seconds"]
    rows = []
    for title in METHODS:
        found = compare_with(records, part, title)
        if found:
            own = title == OURS
            rows.append(
                [
                    f"**{title}**" if own else title,
                    f"{found.cost:.4f}",
                    "1" if own else f"{found.cost / found.ours:.3f}",
                    "–" if own else f"{found.share:.1%}",
                    str(found.n_trials),
                    f"{found.seconds:.0f}",
                ]
            )
    return measuring.markdown(header, rows)


def set_table(records: Records, part: str) -> str:
    """Mean costs, a row for each method and a column for each set."""
    names = list(dict.fromkeys(problem.name for problem, _ in records if problem.part == part))
    rows = []
    for title in METHODS:
        costs = by_set(records, part, title)
        if costs:
            means = {name: np.mean(list(each.values())) for name, each in costs.items()}
            cells = (f"{means[name]:.4f}" if name in means else "–" for name in names)
            rows.append([title, *cells])
    return measuring.markdown(["mean cost", *names], rows)


def left_out(records: Records, part: str) -> Iterable[str]:
    for (problem, title), record in records.items():
        if problem.part == part and "left_out" in record and problem.split == 0:
            yield f"- {title}, {problem.name}: {record['left_out']}"


def probability_table(records: Records, part: str = "d") -> str:
    columns = PROBABILITIES
    header = ["set", *(f"{m}, {name}" for m in ("log-loss", "ECE") for name in columns)]
    rows = []
    for problem in sorted({p for p, _ in records if p.part == part}, key=lambda p: p.name):
        found = [records.get((problem, title), {}) for title in columns.values()]
        cells = [each.get(key) for key in ("log_loss", "ece") for each in found]
        rows.append([problem.name, *("–" if c is None else f"{c:.4f}" for c in cells)])
    return measuring.markdown(header, rows)


# ---- goals


def said(reached: bool) -> str:  # noqa: FBT001  (a word for a truth value)
    return "reached" if reached else "NOT reached"


def cost_goals(records: Records, part: str) -> Iterable[str]:
    """Lowest mean cost, and better than each calibrated rival in 60 % of the trials."""
    rivals = {
        title: found
        for title in METHODS
        if title != OURS and (found := compare_with(records, part, title))
    }
    if not rivals:
        return
    lower = [
        f"{title} ({found.cost:.4f} against {found.ours:.4f})"
        for title, found in rivals.items()
        if found.cost < found.ours
    ]
    name = PARTS[part].split()[0]
    below = f" (lower: {'; '.join(lower)})" if lower else ""
    yield f"- {name} Lowest mean cost: {said(not lower)}{below}."
    shares = {t: rivals[t].share for t in rivals if METHODS[t].is_calibrated_rival}
    if shares:
        listed = "; ".join(f"{title.split(',')[0]} {share:.1%}" for title, share in shares.items())
        enough = min(shares.values()) >= ENOUGH_TRIALS
        yield (
            f"- {name} Lower cost than each calibrated library in at least 60 % of the trials: "
            f"{said(enough)} ({listed})."
        )


def papers_claim(records: Records) -> Iterable[str]:
    """REBEL Fig. 3: cost training with argmax beats the two-step way in about 90 % of trials."""
    found = compare_with(records, "a", STUMPS_NEUTRAL, against=STUMPS_ARGMAX)
    if found:
        holds = "holds" if found.share >= 0.85 else "does NOT hold"
        yield (
            "- The papers' claim that 100 stumps trained on costs, with argmax, cost less than the two-step "
            f"method in about 90 % of the trials {holds} here: they cost less in {found.share:.1%} of "
            f"{found.n_trials} trials, with a mean cost of {found.ours:.4f} against {found.cost:.4f}."
        )
    ours = compare_with(records, "a", STUMPS_NEUTRAL)
    if ours:
        yield f"- rebelboost's default costs less than the two-step method in {ours.share:.1%} of the trials."


def probability_goals(records: Records, part: str = "d") -> Iterable[str]:
    for key, title in {"log_loss": "Log-loss", "ece": "Calibration error"}.items():
        pairs = [
            (record[key], records[problem, LIGHTGBM][key])
            for (problem, method), record in records.items()
            if problem.part == part
            and method == NEUTRAL
            and key in record
            and key in records.get((problem, LIGHTGBM), {})
        ]
        if pairs:
            worse = sum(ours > theirs for ours, theirs in pairs)
            yield (
                f"- {title}: {said(worse <= MOST_WORSE)}. rebelboost (cross-fitted) is worse than "
                f"calibrated LightGBM on {worse} of {len(pairs)} data sets."
            )
