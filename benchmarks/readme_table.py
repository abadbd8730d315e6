"""Write what was measured into README.md and the docs.

python benchmarks/readme_table.py [.benchmarks/reproduce/auto.json] [.benchmarks/reproduce/one_split.json] ...

The figures come from `auto.json`, `one_split.json`, `choosing.json` and `amounts.json` in this folder, which
are committed. Files that are given, such as those that `auto.py` and `choosing.py` write, replace those of the
same name first. The text between `<!-- results -->` and `<!-- /results -->` is regenerated; a test checks that
the pages agree with the figures.
"""

import argparse
import json
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import measuring
from differences_table import differences
from few_table import few_samples
from halves import CHOOSING, REPORTING
from standing import SUMMARY, Duel, Standing
from variants import Choice

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks"
ALL_SPLITS, ONE_SPLIT = FOLDER / "auto.json", FOLDER / "one_split.json"
CHOICE = FOLDER / "choosing.json"
FEW_SAMPLES, DIFFERENCES = FOLDER / "few.json", FOLDER / "differences.json"
FEW = 4
"""How many of the lost data sets the README names."""
WIDTH = 150
FAR = 2.0
"""Points of error by which a loss counts as a large one."""
TIMED, WHOLE = ("AutoGluon, best (60 s)", "FLAML (60 s)"), 0.9
"""Searches that have a time on the clock, and the share of it that counts as a whole processor."""
EBM, BEST_SEARCH = "EBM", "AutoGluon, best (60 s)"

# ---- README.md


def short(many: Standing, one: Standing) -> str:
    """README: the table, the slow libraries, and where rebelboost loses."""
    lost = many.losses()
    worst = "; ".join(
        f"`{name}` {own:.1f} % ({who}: {theirs:.1f} %)" for name, own, who, theirs in lost[:FEW]
    )
    parts = [
        summary(many),
        f"{setting(many)} {apart(many)}{failed(many)}",
        HELD_BACK,
        slow_ones(one),
        (
            f"**Where it loses.** {count(many)}. The largest gaps: {worst}. Training takes "
            f"{times(many)}."
        ),
    ]
    return "\n\n".join(part for part in parts if part)


HELD_BACK = (
    "The latest settings of the default (candidates, when they are dropped) were chosen on [other data sets]"
    "(docs/libraries.md#which-data-sets-were-used-for-choosing); older ones, such as the exponent of the "
    "weights, on data sets of both halves."
)


def with_ebm(one: Standing) -> Standing:
    """On the sets that EBM was run on, for the libraries that were run on all of these."""
    if EBM not in one.names:
        return one.complete(one.sets)
    place = one.names.index(EBM)
    return one.complete([name for name in one.sets if one.errors[name][place] is not None])


def summary(standing: Standing) -> str:
    lines = standing.summary()
    place = list(standing.order).index(standing.ours)
    lines[place] = [f"**{cell}**" if cell else "" for cell in lines[place]]
    return measuring.markdown(SUMMARY, lines)


def count(standing: Standing) -> str:
    lost, far = standing.losses(), far_losses(standing)
    return (
        f"A single library has a lower error on {len(lost)} of {len(standing.sets)} data sets, "
        f"by more than {FAR:g} points on {len(far)}"
    )


def times(standing: Standing) -> str:
    """Mean seconds per fit: rebelboost, and the fastest library."""
    each = standing.seconds_per_fit
    fastest = int(np.argmin(each))
    return (
        f"{each[standing.ours]:.2g} s per fit on average "
        f"({standing.names[fastest]}: {each[fastest]:.2g} s)"
    )


def setting(standing: Standing) -> str:
    splits = "one train/test split" if standing.seeds == 1 else f"{standing.seeds} splits"
    return (
        f"{len(standing.sets)} public data sets, {splits} each, at most {standing.rows:,} rows; every "
        "library at its defaults, one thread. Ranks are by test error and by log-loss (1 is best); seconds are "
        "CPU time."
    )


def apart(standing: Standing) -> str:
    lead, beyond = standing.lead, standing.critical_difference
    verdict = "is" if abs(lead) > beyond else "is not"
    return (
        f"rebelboost {'leads' if lead >= 0 else 'trails'} the best single library by {abs(lead):.2f} mean "
        f"ranks. This difference {verdict} statistically significant (Nemenyi critical difference at the "
        f"5 % level: {beyond:.2f})."
    )


def failed(standing: Standing) -> str:
    """Libraries that fail on a data set: `trial.py` counts every sample of it as wrong."""
    told = [
        f" {name} fails on `{standing.sets[s]}` and is counted there with an error of 100 %."
        for r, name in enumerate(standing.names)
        for s in range(len(standing.sets))
        if standing.table[s, r] == 100
    ]
    return "".join(told)


# ---- slow libraries


def slow_ones(one: Standing) -> str:
    """EBM and each search among several libraries beside rebelboost, on the sets that it was run on."""
    duels = {name: one.duel(name) for name in (EBM, *one.automatic) if name in one.names}
    if not duels:
        return ""
    rows = [
        [name, *_duel_cells(duel), f"{duel.wall[1]:.0f}" if name in TIMED else ""]
        for name, duel in duels.items()
    ]
    header = [
        "rebelboost and",
        "data sets",
        "error: better – worse",
        "mean error, %",
        "log-loss: better – worse",
        "mean log-loss",
        "CPU seconds per fit",
        "theirs, on the clock",
    ]
    text = (
        "EBM, and searches among several libraries, pairwise on one split: rebelboost's figure first. All have "
        "one core. AutoGluon runs without its models that need PyTorch."
    )
    shared = [
        f"{name} got {duel.seconds[1]:.0f} of {duel.wall[1]:.0f}"
        for name, duel in duels.items()
        if name in TIMED and duel.seconds[1] < WHOLE * duel.wall[1]
    ]
    if shared:
        text += (
            " The machine was shared, a handicap for those that have a time on the clock: of these seconds, "
            f"{'; '.join(shared)} on the processor."
        )
    short_of = [
        f"{name} {duel.n_sets}" for name, duel in duels.items() if duel.n_sets < len(one.sets)
    ]
    if short_of:
        text += f" For lack of time, not run on all of the {len(one.sets)} data sets: {'; '.join(short_of)}."
    return f"{text}\n\n{measuring.markdown(header, rows)}"


def _duel_cells(duel: Duel) -> list[str]:
    def pair(values: tuple[float, float], digits: str) -> str:
        return " / ".join(f"{value:{digits}}" for value in values)

    return [
        f"{duel.n_sets}",
        "{} – {}".format(*duel.errors),
        pair(duel.mean_errors, ".2f"),
        "{} – {}".format(*duel.log_losses),
        pair(duel.mean_log_losses, ".3f"),
        pair(duel.seconds, ".2g"),
    ]


def goals(many: Standing, one: Standing) -> list[str]:
    """What was aimed at, and whether it was reached."""
    lines = []
    for ranked, what in (
        (many, f"{many.seeds} splits"),
        (with_ebm(one), "one split, with slower libraries"),
    ):
        lines.append(
            f"First by at least 1.0 mean rank over every single library ({len(ranked.sets)} sets, {what}): "
            f"{_said(ranked.lead >= 1)}, {ranked.lead:+.2f}; by log-loss {ranked.loss_lead:+.2f}."
        )
    if BEST_SEARCH in one.automatic:
        duel = one.duel(BEST_SEARCH)
        shares = [100 * won / duel.n_sets for won, _ in (duel.errors, duel.log_losses)]
        ratio = duel.seconds[0] / duel.seconds[1]
        lines.append(
            f"Below AutoGluon's best in error on at least 70 % of the data sets: {_said(shares[0] >= 70)}, "
            f"{shares[0]:.0f} % (ties count for neither); in log-loss: {_said(shares[1] >= 70)}, "
            f"{shares[1]:.0f} %; at a tenth of its CPU seconds: {_said(ratio <= 0.1)}, {ratio:.2f}."
        )
    far = far_losses(many)
    lines.append(
        f"Losses by more than {FAR:g} points to a single library on at most 2 data sets ({many.seeds} splits, "
        f"without EBM): {_said(len(far) <= 2)}, {len(far)}{_listed(far)}."
    )
    if EBM in one.names:
        far = far_losses(one.among({one.names[one.ours], EBM}, one.sets))
        lines.append(
            f"Losses by more than {FAR:g} points to EBM, one split: {len(far)}{_listed(far)}."
        )
    return [f"- {line}" for line in lines]


def far_losses(standing: Standing) -> list[tuple[str, float, str]]:
    """Sets on which a single library is better by more than `FAR` points: name, gap, who."""
    gaps = [(name, own - theirs, who) for name, own, who, theirs in standing.losses()]
    return [each for each in gaps if each[1] > FAR]


def _listed(far: list[tuple[str, float, str]]) -> str:
    told = "; ".join(f"`{name}` by {gap:.1f} ({who})" for name, gap, who in far)
    return f": {told}" if far else ""


def _said(reached: bool) -> str:  # noqa: FBT001  (a word for a truth value)
    return "reached" if reached else "NOT reached"


# ---- docs/libraries.md


def full(many: Standing, one: Standing) -> str:
    """docs/libraries.md: also goals, every data set on which rebelboost loses, and all results."""
    ranked = with_ebm(one)
    lost = [
        [name, f"{own:.2f}", who, f"{theirs:.2f}", f"{own - theirs:.2f}"]
        for name, own, who, theirs in many.losses()
    ]
    parts = [
        summary(many),
        f"{setting(many)} {apart(many)}{failed(many)}",
        "## Slower libraries",
        slow_ones(one),
        f"The ranking on one split, of the libraries that were run on all of {len(ranked.sets)} data sets:",
        summary(ranked),
        f"{apart(ranked)}{failed(ranked)}",
        "## Goals",
        "\n".join(goals(many, one)),
        "## Which data sets were used for choosing",
        halves(),
        "## Where it loses",
        f"{count(many)}:",
        measuring.markdown(
            ["data set", "rebelboost, %", "best single library", "its error, %", "gap"], lost
        ),
        "## All data sets",
        *results(many, list(many.order)),
        f"On one split, {one.names[one.ours]} and the slower libraries:",
        *results(
            one, [r for r, name in enumerate(one.names) if r == one.ours or name not in many.names]
        ),
    ]
    return "\n\n".join(parts)


def results(standing: Standing, places: list[int]) -> list[str]:
    """Errors and log-losses of some libraries, which are numbered: few columns fit on a page."""
    legend = ", ".join(f"{i} {standing.names[r]}" for i, r in enumerate(places, 1))
    header = ["data set", *(f"{i}" for i, _ in enumerate(places, 1))]
    return [
        f"Test error in %, the lowest in bold. Columns: {legend}.",
        measuring.markdown(header, _by_set(standing.sets, standing.table[:, places], ".1f")),
        "Log-loss, in the same columns:",
        measuring.markdown(header, _by_set(standing.sets, standing.loss_table[:, places], ".3f")),
    ]


def _by_set(sets: list[str], table: np.ndarray, digits: str) -> list[list[str]]:
    rows = []
    for name, row in zip(sets, table, strict=True):
        shown = ["–" if not np.isfinite(each) else f"{each:{digits}}" for each in row]
        best = np.nanmin(row)
        cells = [f"**{c}**" if e == best else c for c, e in zip(shown, row, strict=True)]
        rows.append([name, *cells])
    return rows


def halves() -> str:
    """Both lists of `halves.py`."""

    def listed(names: list[str]) -> str:
        return textwrap.fill(", ".join(f"`{name}`" for name in names), WIDTH)

    return (
        f"For choosing, {len(CHOOSING)} data sets (the candidates, blend and schedule of the default):\n\n"
        f"{listed(CHOOSING)}\n\n"
        f"For reporting, {len(REPORTING)} data sets (all comparisons with other libraries):\n\n"
        f"{listed(REPORTING)}\n\n"
        "Older settings, such as the exponent of the weights and the scales of the similarities, were chosen "
        "before the data sets were divided, on data sets of both halves."
    )


# ---- other pages


def timing(one: Standing) -> str:
    """The table in docs/when.md: mean seconds per fit, fastest first."""
    ranked = with_ebm(one)
    each = ranked.seconds_per_fit
    rows = [[ranked.names[r], f"{each[r]:.2g}"] for r in np.argsort(each, kind="stable")]
    table = measuring.markdown(["library", "CPU seconds per fit"], rows)
    return (
        f"{table}\n\nMeans over {len(ranked.sets)} public data sets of at most {ranked.rows:,} rows, one "
        "thread, every library at its defaults."
    )


def choosing(choice: Choice) -> str:
    """The table in docs/learners.md: the blend, and what else was tried."""
    weights = sorted(choice.weights.items(), key=lambda each: -each[1])
    listed = ", ".join(f"{name} {share:.0%}" for name, share in weights)
    splits = "one split" if choice.seeds == 1 else f"{choice.seeds} splits"
    return (
        f"{measuring.markdown(*choice.table())}\n\n"
        f"{len(choice.results)} data sets, {splits} each, at most {choice.rows:,} rows. Mean weights of the "
        f"candidates in the default: {listed}."
    )


def by_sample() -> str:
    from pricing import amounts

    return amounts.report(amounts.read())


class Block(NamedTuple):
    page: Path
    text: Callable[[], str]
    mark: str = ""


def _standings() -> tuple[Standing, Standing]:
    return Standing.read(ALL_SPLITS), Standing.read(ONE_SPLIT)


def _kept(figures: Path) -> dict[str, Any]:
    return json.loads(figures.read_text(encoding="utf-8"))


BLOCKS = [
    Block(ROOT / "README.md", lambda: short(*_standings())),
    Block(ROOT / "docs" / "libraries.md", lambda: full(*_standings())),
    Block(ROOT / "docs" / "when.md", lambda: timing(_standings()[1])),
    Block(ROOT / "docs" / "learners.md", lambda: choosing(Choice.read(CHOICE))),
    Block(ROOT / "docs" / "learners.md", lambda: few_samples(_kept(FEW_SAMPLES)), "few samples"),
    Block(ROOT / "docs" / "learners.md", lambda: differences(_kept(DIFFERENCES)), "differences"),
    Block(ROOT / "docs" / "costs.md", by_sample, "by sample"),
    Block(FOLDER / "README.md", halves),
]


def written(block: Block) -> str:
    """The page with this block regenerated."""
    return measuring.with_results(block.page, block.text(), block.mark)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="figures that replace the kept ones")
    for file in parser.parse_args().files:
        shutil.copy(file, FOLDER / file.name)
    for block in BLOCKS:
        block.page.write_text(written(block), encoding="utf-8")
        print(f"Written: {block.page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
