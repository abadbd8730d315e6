"""Writes how rebelboost stands beside other libraries into README.md and docs/libraries.md.

python benchmarks/readme_table.py [.benchmarks/reproduce/auto.json]

The figures are those of `benchmarks/auto.json`, which is committed; a file that is given, such as
`auto.py` leaves behind, takes its place first. What is between the marks `<!-- results -->` and
`<!-- /results -->` is written anew; a test holds that the pages and the figures agree.
"""

import argparse
from pathlib import Path

import measuring
from standing import SUMMARY, Standing

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "benchmarks" / "auto.json"
FEW = 4
"""Lost sets that README names."""


def short(standing: Standing) -> str:
    """README's: the table, and where ours loses."""
    lost = standing.losses()
    worst = "; ".join(
        f"{name} {own:.1f} % ({who}: {theirs:.1f} %)" for name, own, who, theirs in lost[:FEW]
    )
    parts = [
        summary(standing),
        f"{setting(standing)} {apart(standing)}{failed(standing)}",
        f"**Where it loses.** {count(standing)}, by most on {worst}. And it takes its time: {times(standing)}.",
    ]
    return "\n\n".join(parts)


def summary(standing: Standing) -> str:
    lines = standing.summary()
    place = list(standing.order).index(standing.ours)
    lines[place] = [f"**{cell}**" if cell else "" for cell in lines[place]]
    return measuring.markdown(SUMMARY, lines)


def count(standing: Standing) -> str:
    lost = len(standing.losses())
    return f"Another library is best on {lost} of {len(standing.sets)} tables"


def times(standing: Standing) -> str:
    """Seconds of a fit, ours and the quickest."""
    a_fit = [seconds / (len(standing.sets) * standing.seeds) for seconds in standing.seconds]
    quickest = min(range(len(a_fit)), key=a_fit.__getitem__)
    own, least = a_fit[standing.ours], a_fit[quickest]
    return f"{own:.2g} s a fit on average ({standing.names[quickest]}: {least:.2g} s)"


def setting(standing: Standing) -> str:
    return (
        f"{len(standing.sets)} public tables × {standing.seeds} splits, at most {standing.rows:,} rows "
        "each, every library at its defaults, one thread; ranks of the test error, 1 is best; "
        "seconds of processor time over all fits."
    )


def apart(standing: Standing) -> str:
    lead, beyond = standing.lead, standing.critical_difference
    verdict = "beyond chance" if lead > beyond else "which may be chance"
    return (
        f"Ours {'leads' if lead >= 0 else 'is behind'} the next by {abs(lead):.2f} mean ranks, "
        f"{verdict} (Nemenyi's critical difference at 5 %: {beyond:.2f})."
    )


def full(standing: Standing) -> str:
    """The docs': also every set on which ours loses, and the errors of all."""
    lost = [
        [name, f"{own:.2f}", who, f"{theirs:.2f}", f"{own - theirs:.2f}"]
        for name, own, who, theirs in standing.losses()
    ]
    # Few columns fit on a page: libraries are numbered, best first.
    numbers = [f"{place}" for place, _ in enumerate(standing.order, 1)]
    legend = ", ".join(
        f"{place} {standing.names[r]}" for place, r in zip(numbers, standing.order, strict=True)
    )
    by_set = [
        [name, *_bold([f"{errors[r]:.1f}" for r in standing.order], errors[standing.order])]
        for name, errors in zip(standing.sets, standing.table, strict=True)
    ]
    parts = [
        summary(standing),
        f"{setting(standing)} {apart(standing)}{failed(standing)}",
        "## Where it loses",
        f"{count(standing)}:",
        measuring.markdown(["table", "ours, %", "best", "its error, %", "gap"], lost),
        "## Every table",
        f"Mean test error in %, the lowest in bold. {legend}.",
        measuring.markdown(["table", *numbers], by_set),
    ]
    return "\n\n".join(parts)


def _bold(cells: list[str], errors: "list[float]") -> list[str]:
    best = min(errors)
    return [f"**{c}**" if e == best else c for c, e in zip(cells, errors, strict=True)]


def failed(standing: Standing) -> str:
    """Who cannot do which set: `trial.py` counts every sample of it as wrong."""
    told = [
        f" {name} cannot do {standing.sets[s]}, and has the last rank and an error of 100 % there."
        for r, name in enumerate(standing.names)
        for s in range(len(standing.sets))
        if standing.table[s, r] == 100
    ]
    return "".join(told)


PAGES = {ROOT / "README.md": short, ROOT / "docs" / "libraries.md": full}


def written(page: Path, standing: Standing) -> str:
    """The page with its block written anew."""
    return measuring.with_results(page, PAGES[page](standing))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path, help="figures that replace the kept ones")
    given = parser.parse_args().file
    if given is not None:
        Standing.read(given).write(FIGURES)
    standing = Standing.read(FIGURES)
    for page in PAGES:
        page.write_text(written(page, standing), encoding="utf-8")
        print(f"Written: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
