"""docs/results.md, from what was really run here: every line with the command that printed it."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from reproduce import harness

HEAD = """\
# Results: the papers' experiments, repeated

Written by `python -m benchmarks.reproduce --docs` from runs on this code; no number is typed by hand.
`python -m benchmarks.reproduce --all` repeats all of it in under three hours on two cores, `--quick`
a small part of it. A verdict is *reached* where ours is at least as good as the printed value at the
digits that are printed, *worse* where it is not, and *not reproducible here* where the data cannot be had.
Tables of all methods, and the figures, are then in `.benchmarks/reproduce`."""


def write_results(names: Iterable[str]) -> Path:
    file = harness.ROOT / "docs" / "results.md"
    file.write_text("\n\n".join([HEAD, *sections(names)]) + "\n", encoding="utf-8")
    return file


def sections(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        found = harness.read(name)
        small = harness.read(f"{name}_quick") if found is None else None
        shown = found or small
        if shown is None:
            yield f"## {name}\n\nNot run yet: `python -m benchmarks.reproduce {name}`."
            continue
        lines = [harness.Line(*line) for line in shown["lines"]]
        yield f"## {shown['title']}"
        only = ": the quick form; the full one is not run yet." if small else ""
        yield f"`{shown['command']}`{only}"
        yield harness.lines_table(lines)
        yield from shown["notes"]
