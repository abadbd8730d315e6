"""What the experiments share: lines with a verdict, kept results, tables, figures.

An experiment is a module with `TITLE` and `run(quick) -> Report`. What takes long is measured in
units, a function and its arguments, two at a time with one thread each, and kept in
`.benchmarks/reproduce/units` until the code that it depends on changes: a run that was stopped goes on.
"""

import csv
import hashlib
import json
import multiprocessing
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import measuring
from pricing.methods import our_code
from rebelboost.plots import PALETTE
from reproduce.quotes import Quote

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".benchmarks" / "reproduce"
N_PROCESSES = 2
HOLDS, FAILS, ABSENT = "holds", "does not hold", "not to be checked"
NO_VALUE = "–"


class Line(NamedTuple):
    """A statement of a paper, and what its algorithm does here. Made by `judged` and `absent` alone."""

    what: str
    stated: str
    papers: str
    """What the paper's algorithm gives, run to the letter: the verdict rests on this."""
    verdict: str
    ours: str = NO_VALUE
    """What our altered learner gives, which has no verdict."""


class Table(NamedTuple):
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass
class Report:
    """What an experiment found. `notes` are sentences for the reader."""

    lines: list[Line] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


# ---- verdicts


def judged(what: str, quote: Quote, papers: str, *, good: bool, ours: str = NO_VALUE) -> Line:
    """A line whose verdict rests on what the quote says and on the paper's algorithm."""
    return Line(what, str(quote), papers, HOLDS if good else FAILS, ours)


def absent(what: str, quote: Quote, why: str) -> Line:
    return Line(what, str(quote), NO_VALUE, f"{ABSENT}: {why}")


def several(values: Sequence[float], digits: int = 1) -> str:
    """The mean of several draws, with their standard deviation."""
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {np.std(values):.{digits}f}"


# ---- units


def measure_all(
    function: Callable[..., Any],
    units: Iterable[tuple[Any, ...]],
    made_by: str | None = None,
    n_processes: int | None = None,
) -> dict[tuple[Any, ...], Any]:
    """The function's result for each tuple of arguments; JSON can hold results and arguments.

    `made_by` tells what results depend on, beside the function's own file and, for experiments, `papers.py`:
    our code by default.
    Without processes (0), nothing is measured: what was kept is returned. By default there are `N_PROCESSES`.
    """
    n_processes = N_PROCESSES if n_processes is None else n_processes
    made_by = our_code() if made_by is None else made_by
    files = {unit: _unit_file(function, unit, made_by) for unit in units}
    found = {u: json.loads(f.read_text()) for u, f in files.items() if f.is_file()}
    missing = [unit for unit in files if unit not in found]
    if missing and n_processes:
        measuring.limit_threads(1)
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(n_processes, mp_context=spawn) as pool:
            running = {pool.submit(function, *unit): unit for unit in missing}
            for i, future in enumerate(as_completed(running), 1):
                unit = running[future]
                found[unit] = future.result()
                files[unit].parent.mkdir(parents=True, exist_ok=True)
                files[unit].write_text(json.dumps(found[unit]))
                log(f"  {i} of {len(missing)}: {', '.join(map(str, unit))}")
    return {unit: found[unit] for unit in files if unit in found}


def _unit_file(function: Callable[..., Any], unit: tuple[Any, ...], made_by: str) -> Path:
    source = Path(sys.modules[function.__module__].__file__ or "").read_bytes()
    if function.__module__.startswith("reproduce."):
        source += (ROOT / "benchmarks" / "reproduce" / "papers.py").read_bytes()
    key = repr((function.__qualname__, unit, made_by)).encode() + source
    name = "-".join([function.__name__, *map(str, unit)]).replace("/", "_").replace(" ", "_")
    return FOLDER / "units" / f"{name[:80]}-{hashlib.sha256(key).hexdigest()[:16]}.json"


def code_of(*folders: str) -> str:
    """A digest of folders of the benchmarks, for `made_by`."""
    paths = [p for name in folders for p in sorted((ROOT / "benchmarks" / name).glob("*.py"))]
    return hashlib.sha256(b"".join(p.read_bytes() for p in paths)).hexdigest()[:16]


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ---- figures


def new_figure(n_rows: int, n_columns: int) -> "tuple[Figure, Any]":
    """A figure in the style of all, and its axes, (n_rows, n_columns)."""
    import matplotlib as mpl
    from cycler import cycler
    from matplotlib.figure import Figure

    style = {
        "font.size": 9,
        "axes.prop_cycle": cycler(color=PALETTE),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
    }
    mpl.rcParams.update(style)
    figure = Figure(figsize=(4.4 * n_columns, 3.4 * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def save(figure: "Figure", name: str) -> str:
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / name, dpi=110)
    return name


# ---- writing

LINES_HEADER = ["", "the text states", "the paper's algorithm, here", "verdict", "ours"]


def lines_table(lines: Iterable[Line]) -> str:
    text = measuring.markdown(LINES_HEADER, lines)
    return text.replace("--:", "---")  # sentences are read from the left


def markdown(report: Report) -> str:
    parts = [lines_table(report.lines), *report.notes]
    for table in report.tables:
        parts += [f"**{table.title}**", measuring.markdown(table.header, table.rows)]
    parts += [f"![{name}]({name})" for name in report.figures]
    return "\n\n".join(parts)


def write(name: str, title: str, report: Report, about: dict[str, str]) -> None:
    """The report as Markdown, its lines as CSV, and all of it as JSON for the summary."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    head = f"# {title}\n\n`{about['command']}`; {about['machine']}\n\n"
    (FOLDER / f"{name}.md").write_text(head + markdown(report) + "\n", encoding="utf-8")
    with (FOLDER / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([Line._fields, *report.lines])
    kept = {
        "title": title,
        "lines": report.lines,
        "notes": report.notes,
        "tables": report.tables,
        **about,
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")


def read(name: str) -> dict[str, Any] | None:
    file = FOLDER / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
