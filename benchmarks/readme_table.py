"""Write the comparison with other libraries into README.md, docs/libraries.md and docs/when.md.

python benchmarks/readme_table.py [.benchmarks/reproduce/auto.json]

The figures come from `benchmarks/auto.json`, which is committed. If a file is given, such as the one that
`auto.py` writes, it replaces `auto.json` first. The text between `<!-- results -->` and `<!-- /results -->`
is regenerated; a test checks that the pages agree with the figures.
"""

import argparse
from pathlib import Path

import measuring
from standing import SUMMARY, Standing

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "benchmarks" / "auto.json"
FEW = 4
"""How many of the lost data sets the README names."""


def short(standing: Standing) -> str:
    """README: the table, and where rebelboost loses."""
    lost = standing.losses()
    worst = "; ".join(
        f"`{name}` {own:.1f} % ({who}: {theirs:.1f} %)" for name, own, who, theirs in lost[:FEW]
    )
    parts = [
        summary(standing),
        f"{setting(standing)} {apart(standing)}{failed(standing)}",
        (
            f"**Where it loses.** {count(standing)}. The largest gaps: {worst}. It is also slow: "
            f"{times(standing)}."
        ),
    ]
    return "\n\n".join(parts)


def summary(standing: Standing) -> str:
    lines = standing.summary()
    place = list(standing.order).index(standing.ours)
    lines[place] = [f"**{cell}**" if cell else "" for cell in lines[place]]
    return measuring.markdown(SUMMARY, lines)


def count(standing: Standing) -> str:
    lost = len(standing.losses())
    return f"Another library has the lowest error on {lost} of {len(standing.sets)} data sets"


def times(standing: Standing) -> str:
    """Mean seconds per fit: rebelboost, and the fastest library."""
    each = per_fit(standing)
    fastest = min(range(len(each)), key=each.__getitem__)
    own, least = each[standing.ours], each[fastest]
    return f"{own:.2g} s per fit on average ({standing.names[fastest]}: {least:.2g} s)"


def per_fit(standing: Standing) -> list[float]:
    return [seconds / (len(standing.sets) * standing.seeds) for seconds in standing.seconds]


def timing(standing: Standing) -> str:
    """The table in docs/when.md: mean seconds per fit, fastest first."""
    each = per_fit(standing)
    rows = [
        [standing.names[r], f"{each[r]:.2g}"]
        for r in sorted(range(len(each)), key=each.__getitem__)
    ]
    table = measuring.markdown(["library", "CPU seconds per fit"], rows)
    return (
        f"{table}\n\nMeans over {len(standing.sets)} public data sets × {standing.seeds} splits of at most "
        f"{standing.rows:,} rows, one thread, every library at its defaults."
    )


def setting(standing: Standing) -> str:
    return (
        f"{len(standing.sets)} public data sets × {standing.seeds} train/test splits, at most "
        f"{standing.rows:,} rows each; every library at its defaults, one thread. Ranks are by test error "
        "(1 is best). Seconds are CPU time, summed over all fits."
    )


def apart(standing: Standing) -> str:
    lead, beyond = standing.lead, standing.critical_difference
    verdict = "is" if abs(lead) > beyond else "is not"
    return (
        f"rebelboost {'leads' if lead >= 0 else 'trails'} the best other library by {abs(lead):.2f} mean "
        f"ranks. This difference {verdict} statistically significant (Nemenyi critical difference at the "
        f"5 % level: {beyond:.2f})."
    )


def full(standing: Standing) -> str:
    """docs/libraries.md: also every data set on which rebelboost loses, and all errors."""
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
        measuring.markdown(
            ["data set", "rebelboost, %", "best library", "its error, %", "gap"], lost
        ),
        "## All data sets",
        f"Mean test error in %, the lowest in bold. Columns: {legend}.",
        measuring.markdown(["data set", *numbers], by_set),
    ]
    return "\n\n".join(parts)


def _bold(cells: list[str], errors: "list[float]") -> list[str]:
    best = min(errors)
    return [f"**{c}**" if e == best else c for c, e in zip(cells, errors, strict=True)]


def failed(standing: Standing) -> str:
    """Libraries that fail on a data set: `trial.py` counts every sample of it as wrong."""
    told = [
        f" {name} fails on `{standing.sets[s]}` and is counted there with an error of 100 %."
        for r, name in enumerate(standing.names)
        for s in range(len(standing.sets))
        if standing.table[s, r] == 100
    ]
    return "".join(told)


PAGES = {
    ROOT / "README.md": short,
    ROOT / "docs" / "libraries.md": full,
    ROOT / "docs" / "when.md": timing,
}


def written(page: Path, standing: Standing) -> str:
    """The page with its block regenerated."""
    return measuring.with_results(page, PAGES[page](standing))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "file", nargs="?", type=Path, help="figures that replace the committed ones"
    )
    given = parser.parse_args().file
    if given is not None:
        Standing.read(given).write(FIGURES)
    standing = Standing.read(FIGURES)
    for page in PAGES:
        page.write_text(written(page, standing), encoding="utf-8")
        print(f"Written: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
