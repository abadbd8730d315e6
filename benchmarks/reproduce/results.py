"""Write docs/results.md from the results of actual runs, each with the command that printed it.

Experiments that were not run here keep their section of the page. A run of some sets or methods only
replaces its own lines and rows there, and the section says so.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import measuring
from reproduce import harness
from reproduce.harness import Line, Table

PAGE = harness.ROOT / "docs" / "results.md"
HEAD = """\
# The papers' experiments

This page is written by `python -m benchmarks.reproduce --docs` from the results of actual runs; no number
is typed by hand. `python -m benchmarks.reproduce --all` repeats all experiments, and `--quick` runs a small
part of each. Figures and tables are written to `.benchmarks/reproduce`.

Each line of a first table rests on words of a paper, quoted with the place where they stand;
`python -m benchmarks.reproduce.quotes` finds all of them in the papers' texts. Numbers that are only drawn in
a figure are in no text, so that nothing here is compared with them. The verdict is about the paper's
algorithm, run to the letter: the statement *holds* here or *does not hold*, or it is *not to be checked*
because the data are not available. "Ours" is what our own learner gives in the same experiment; it has no
verdict. Where a single draw would decide, the mean and the standard deviation of several draws are given.

Seconds are the processor's, except those that are called "wall" and speeds per second, which depend on what
else the machine did: newer sections state its load at the start."""


@dataclass(frozen=True)
class Section:
    """What the page shows of one experiment."""

    title: str
    ran: tuple[str, ...]
    """The commands, each with its commit."""
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    tables: tuple[Table, ...] = field(default=())

    def text(self) -> str:
        parts = [f"## {self.title}", *self.ran, harness.lines_table(self.lines), *self.notes]
        for title, header, rows in self.tables:
            parts += [f"**{title}**", measuring.markdown(header, rows)]
        return "\n\n".join(parts)


PARTLY = ": a part of the experiment; the rest is not run yet."


def write_results(modules: Mapping[str, str]) -> Path:
    """Write the page; `modules` are the titles of the experiments, by name."""
    sections = list(shown_sections(modules))
    missing = [
        f"## {title}\n\nNot run yet: `python -m benchmarks.reproduce {name}`."
        for name, title in modules.items()
        if title not in {section.title for section in sections}
    ]
    text = [
        HEAD,
        overview(sections),
        *(section.text() for section in sections),
        *missing,
    ]
    PAGE.write_text("\n\n".join(text) + "\n", encoding="utf-8")
    return PAGE


def shown_sections(modules: Mapping[str, str]) -> Iterator[Section]:
    """Of each experiment: the full run, else the page's own section, else the quick run; then parts of it."""
    kept = read_page(PAGE.read_text(encoding="utf-8")) if PAGE.is_file() else {}
    for name, title in modules.items():
        section = _stored(name) or kept.get(title) or _stored(f"{name}_quick")
        part = _stored(f"{name}_part")
        if part is not None and (section is None or _is_of(section, part)):
            section = replace(
                part,
                ran=tuple(f"{ran}{PARTLY}" for ran in part.ran),
                lines=tuple(map(_without_all_sets, part.lines)),
            )
        elif part is not None:
            section = updated(section, part)
        if section is not None:
            yield section


def _is_of(section: Section, part: Section) -> bool:
    """Whether the section shows nothing but an earlier run of the part."""
    command = part.ran[0].split("`")[1]
    return all(ran.startswith(f"`{command}`") and ran.endswith(PARTLY) for ran in section.ran)


def _without_all_sets(line: Line) -> Line:
    """A statement about the number of sets, or about all of them, has no verdict after a part."""
    if not line.what.startswith(("sets ", "all sets ")):
        return line
    return line._replace(verdict=f"{harness.ABSENT}: only some of the sets were run")


def _stored(name: str) -> Section | None:
    found = harness.read(name)
    if found is None:
        return None
    at = f" at commit {found['commit']}" if found.get("commit") else ""
    return Section(
        found["title"],
        (f"`{found['command']}`{at} ({found['machine']}){remark(found['command'])}",),
        tuple(Line(*line) for line in found["lines"]),
        tuple(found["notes"]),
        tuple(Table(*table) for table in found.get("tables", [])),
    )


def remark(command: str) -> str:
    return ": the quick form; the full one is not run yet." if "--quick" in command else ""


# ---- runs of a part


def updated(section: Section, part: Section) -> Section:
    """The section with the lines, rows and notes that a part of the experiment has measured anew."""
    tables = [_with_rows(table, part.tables) for table in section.tables]
    tables += [t for t in part.tables if t.title not in {table.title for table in section.tables}]
    again = (f"Some of it again: {ran}" for ran in part.ran)
    return replace(
        section,
        ran=tuple(dict.fromkeys([*section.ran, *again])),
        lines=_with_lines(section.lines, part.lines),
        notes=tuple(dict.fromkeys([*section.notes, *part.notes])),
        tables=tuple(tables),
    )


def _with_lines(lines: Iterable[Line], anew: Iterable[Line]) -> tuple[Line, ...]:
    by_name = {line.what: line for line in lines}
    return tuple((by_name | {line.what: line for line in anew}).values())


def _with_rows(table: Table, anew: Iterable[Table]) -> Table:
    """Rows of the same name replaced, column by column; a part may have fewer columns, and others."""
    for title, header, rows in anew:
        if title != table.title:
            continue
        known = {row[0]: dict(zip(table.header[1:], row[1:], strict=True)) for row in table.rows}
        for row in rows:
            known.setdefault(row[0], {}).update(zip(header[1:], row[1:], strict=True))
        columns = list(dict.fromkeys([*table.header[1:], *header[1:]]))
        cells = [
            [name, *(row.get(column, "–") for column in columns)] for name, row in known.items()
        ]
        return Table(title, [table.header[0], *columns], cells)
    return table


# ---- the page


def read_page(text: str) -> dict[str, Section]:
    """The sections of the page, by title."""
    _, *parts = ("\n" + text).split("\n## ")
    sections = [_read_section(part.strip()) for part in parts]
    return {section.title: section for section in sections if section.lines}


def _read_section(text: str) -> Section:
    title, *blocks = text.split("\n\n")
    ran = tuple(block for block in blocks if block.startswith(("`python", "Some of it again")))
    lines: tuple[Line, ...] = ()
    notes, tables, heading = [], [], ""
    for block in blocks:
        if block.startswith("|"):
            header, rows = _read_table(block)
            if header == harness.LINES_HEADER:
                lines = tuple(Line(*row) for row in rows)
            else:
                tables.append(Table(heading, header, rows))
        elif block.startswith("**"):
            heading = block.strip("*")
        elif block not in ran:
            notes.append(block)
    return Section(title, ran, lines, tuple(notes), tuple(tables))


def _read_table(block: str) -> tuple[list[str], list[list[str]]]:
    rows = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in block.splitlines()]
    return rows[0], rows[2:]


def overview(sections: Iterable[Section]) -> str:
    """How many statements of each experiment hold."""
    words = (harness.HOLDS, harness.FAILS, harness.ABSENT)
    rows = []
    for section in sections:
        verdicts = [line.verdict for line in section.lines]
        counts = [sum(verdict.startswith(word) for verdict in verdicts) for word in words]
        rows.append([section.title, *map(str, counts)])
    return measuring.markdown(["experiment", *words], rows)
