"""Write docs/results.md from the results of actual runs, each with the command that printed it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import measuring
from reproduce import harness

HEAD = """\
# The papers' experiments

This page is written by `python -m benchmarks.reproduce --docs` from the results of actual runs; no number
is typed by hand. `python -m benchmarks.reproduce --all` repeats all experiments in under an hour on two idle
cores; `--quick` runs a small part of them in about ten minutes. Figures and tables are written to
`.benchmarks/reproduce`.

"Printed" is the value in the paper. The verdict is *reached* if our value is at least as good at the
precision that is printed, *worse* if it is not, and *not reproducible here* if the data are not available."""


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
    header = ["experiment", harness.REACHED, harness.WORSE, harness.ABSENT]
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
