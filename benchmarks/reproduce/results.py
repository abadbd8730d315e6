"""docs/results.md, from what was really run here: every line with the command that printed it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import measuring

from reproduce import harness

HEAD = """\
# Results: the papers' experiments, repeated

Written by `python -m benchmarks.reproduce --docs` from what was run; no number is typed by hand.
`python -m benchmarks.reproduce --all` repeats all of it in under an hour on two idle cores; `--quick` a
small part of it in about ten minutes. A verdict is *reached* where ours is at least as good as the
printed value at the digits that are printed, *worse* where it is not, and *not reproducible here* where
the data cannot be had. The figures are then in `.benchmarks/reproduce`."""


def write_results(names: Iterable[str]) -> Path:
    names = list(names)
    file = harness.ROOT / "docs" / "results.md"
    text = "\n\n".join([HEAD, overview(names), *sections(names)])
    file.write_text(text + "\n", encoding="utf-8")
    return file


def shown(name: str) -> dict[str, Any] | None:
    """What the full run kept, else the quick one."""
    return harness.read(name) or harness.read(f"{name}_quick")


def overview(names: Iterable[str]) -> str:
    """How many lines of each experiment are reached."""
    rows = []
    for name in names:
        found = shown(name)
        verdicts = [harness.Line(*line).verdict for line in found["lines"]] if found else []
        counts = [
            sum(verdict.startswith(word) for verdict in verdicts)
            for word in (harness.REACHED, harness.WORSE, harness.ABSENT)
        ]
        title = found["title"] if found else f"{name}: not run yet"
        rows.append([title, *(str(count) if found else "–" for count in counts)])
    header = ["", harness.REACHED, harness.WORSE, harness.ABSENT]
    return measuring.markdown(header, rows)


def sections(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        found = shown(name)
        if found is None:
            yield f"## {name}\n\nNot run yet: `python -m benchmarks.reproduce {name}`."
            continue
        yield f"## {found['title']}"
        at = f" at commit {found['commit']}" if found.get("commit") else ""
        yield f"`{found['command']}`{at}{remark(found['command'])}"
        yield harness.lines_table([harness.Line(*line) for line in found["lines"]])
        yield from found["notes"]
        for table in found.get("tables", []):
            title, header, rows = harness.Table(*table)
            yield f"**{title}**"
            yield measuring.markdown(header, rows)


def remark(command: str) -> str:
    if "--quick" in command:
        return ": the quick form; the full one is not run yet."
    return ": some of its sets; the others are not run yet." if "--sets" in command else ""
