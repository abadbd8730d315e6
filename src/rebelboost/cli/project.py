"""`rebel project …` and `rebel watch`: rows, labels and models of a task that goes on, in one file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from rebelboost.base.findings import as_text
from rebelboost.base.names import printed
from rebelboost.base.text import counted
from rebelboost.base.writing import replaced
from rebelboost.cli.costs import open_costs, read_costs
from rebelboost.cli.model_files import check_writable
from rebelboost.cli.output import Output
from rebelboost.exceptions import CostError, ProjectError
from rebelboost.live import ExactFit, Followed, Project, Questions
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.columns import as_text as cells_as_text
from rebelboost.tables.files import Source, opened
from rebelboost.tables.spreadsheets import without_formulas

ROW, LABEL = "row", "label"
"""Columns of a list of questions."""


class NewProject(NamedTuple):
    """Options of a new project."""

    target: str
    identifier: str = ""
    task: str = ""
    costs: Path | None = None
    columns: ColumnOptions = ColumnOptions()
    learner: str = "auto"


def run_new(path: Path, data: Source, given: NewProject, *, output: Output) -> None:
    """Create a project from a table, and fit its first model if there are labels."""
    settings = {} if given.learner == "auto" else {"learner": given.learner}
    costs = None if given.costs is None else _priced(given.costs)
    with (
        output.waiting(f"reading {data}"),
        Project.create(
            path,
            data,
            given.target,
            costs=costs,
            identifier=given.identifier,
            task=given.task,
            options=given.columns,
            settings=settings,
        ) as project,
    ):
        _fit(project, output)
        output.finding("status", project.status)


def run_add(path: Path, data: Source, *, output: Output) -> None:
    """Add the rows of a table."""
    with Project.open(path) as project:
        with output.waiting(f"reading {data}"):
            added = project.add(data)
        output.record("added", {"ids": added.ids, "labelled": added.n_labelled})
        output.notes(added.notes)
        first = f"rows {added.ids[0]:,} to {added.ids[-1]:,}" if added.ids else "no rows"
        output.text(f"added {first}, {added.n_labelled:,} with a label")
        _fit(project, output)


def run_label(
    path: Path, answers: Sequence[str], listed: Path | None, *, corrects: bool, output: Output
) -> None:
    """Give rows their labels, or correct them, and fit the model anew."""
    pairs = [_pair(answer) for answer in answers]
    with Project.open(path) as project:
        pairs += [] if listed is None else _answers(listed)
        if not pairs:
            raise ProjectError("no labels: give some as ROW=LABEL, or a list with --from")
        ids, labels = [row for row, _ in pairs], [label for _, label in pairs]
        (project.correct if corrects else project.label)(ids, labels)
        what = "corrected" if corrects else "labelled"
        output.record("labels", {"rows": ids, "labels": labels})
        output.text(f"{counted(len(pairs), 'row')} {what}")
        _fit(project, output)


def run_ask(path: Path, n: int, to: Path | None, *, output: Output) -> None:
    """Choose rows whose labels are worth most, and write them as a list to be filled in."""
    if to is not None:
        check_writable(to, path)
    with Project.open(path) as project:
        with output.waiting("choosing questions"):
            questions = project.ask(n=n)
        output.finding("questions", questions)
        if to is None or not len(questions):
            return
        with replaced(to) as beside:
            without_formulas(_list_of(project, questions)).write_csv(beside)
        output.text(
            f"\nWrote {counted(len(questions), 'row')} to {to}. Fill in the column {LABEL}, then: "
            f"rebel project label {path} --from {to}"
        )


def run_forget(path: Path, rows: Sequence[str], to: Path | None, *, output: Output) -> None:
    """Erase rows, and print or write the receipt."""
    if to is not None:
        check_writable(to, path)
    with Project.open(path) as project:
        with output.waiting("forgetting"):
            receipt = project.forget(list(rows))
        output.finding("receipt", receipt)
        if to is not None:
            with replaced(to) as beside:
                beside.write_text(as_text(receipt.document()) + "\n", encoding="utf-8")


def run_status(path: Path, *, output: Output) -> None:
    """Print what the project holds."""
    with Project.open(path) as project:
        output.finding("status", project.status)


def run_save(path: Path, to: Path, *, rows: str, named: bool, output: Output) -> None:
    """Write the exact model to a file for `rebel predict` and all other commands."""
    check_writable(to, path)
    with Project.open(path) as project:
        hashed = project.save(to, rows=rows, names=named)
        output.record("saved", {"path": str(to), "hash": hashed})
        output.text(f"wrote {to}, hash {hashed}")


class Stream(NamedTuple):
    """Options of `rebel watch`."""

    half_life: float | None = None
    forget_after: int | None = None
    max_rows: int = 10_000
    idle: float | None = None
    """Seconds without new rows after which it ends; None: it goes on until it is interrupted."""


def run_watch(path: Path, source: Path, stream: Stream, *, output: Output) -> None:
    """Follow a folder or a file: predict rows, learn their labels, say when the stream changes."""
    shown: list[int] = []

    def tell(so_far: Followed) -> None:
        output.record("batch", {"rows": so_far.n_rows, "wrong": so_far.n_wrong})
        for at, was, now in so_far.changes[len(shown) :]:
            shown.append(at)
            output.text(
                f"the stream changed before label {at:,}: {now:.1%} of the predictions since then were wrong, "
                f"{was:.1%} were expected"
            )

    with Project.open(path) as project:
        found = Followed()
        try:
            found = project.follow(
                source,
                half_life=stream.half_life,
                forget_after=stream.forget_after,
                max_rows=stream.max_rows,
                patience=float("inf") if stream.idle is None else stream.idle,
                on_batch=tell,
            )
        except KeyboardInterrupt:
            output.finding("status", project.status)
            raise
        output.finding("followed", found)


# ---- parts


def _fit(project: Project, output: Output) -> ExactFit | None:
    """Fit a model if there are labels enough, and print its hash."""
    with output.waiting("fitting"), output.warnings_as_notes():
        fit = project.models.fit_if_enough()
    if fit is None:
        output.text("no model yet: it needs some more labels, of two classes at least")
        return None
    output.record("fit", {"hash": fit.hash, "rows": fit.n_rows, "seconds": fit.seconds})
    output.notes(fit.notes)
    output.text(f"model of {counted(fit.n_rows, 'row')}, hash {fit.hash}")
    return fit


def _priced(path: Path) -> dict[tuple[Any, Any], float]:
    """Costs of a file with the class names in the first row and column."""
    file = open_costs(path)
    first, *others = file.text.columns
    classes = list(dict.fromkeys([*map(printed, file.text[first]), *others]))
    table = read_costs(file, classes, {})
    if table.columns:
        name = next(iter(table.columns.values()))
        raise CostError(f"{path}: a project has costs by class only, but a cell names {name!r}")
    return {
        (true, decided): float(table.matrix[i, j])
        for i, true in enumerate(classes)
        for j, decided in enumerate(classes)
        if i != j
    }


def _pair(answer: str) -> tuple[str, str]:
    row, mark, label = answer.rpartition("=")
    if not mark or not row or not label:
        raise ProjectError(f"{answer!r} is no label: write ROW=LABEL, such as 12=yes")
    return row, label


def _answers(path: Path) -> list[tuple[str, str]]:
    """Rows and labels of a list; rows without a label are left out."""
    with opened(path, headed=True) as table:
        if not {ROW, LABEL} <= set(table.types):
            raise ProjectError(f"{path} needs the columns {ROW} and {LABEL}")
        cells = table.frame.select(cells_as_text(n, table.types[n]) for n in (ROW, LABEL)).collect()
    return [(row, label) for row, label in cells.iter_rows() if row and label]


def _list_of(project: Project, questions: Questions) -> pl.DataFrame:
    """Questions with the cells of their rows, and an empty column for the labels."""
    asked = {question.id: question for question in questions.asked}
    rows = {row.id: row for row in project.rows(questions.ids)}
    columns = [name for name in project.columns if name not in (ROW, LABEL)]
    places = [project.columns.index(name) for name in columns]
    told = [rows[number].cells for number in asked]
    return pl.DataFrame(
        {
            ROW: [each.name or str(each.id) for each in asked.values()],
            LABEL: [""] * len(asked),
            "worth": [round(each.worth, 6) for each in asked.values()],
            "reason": [each.reason for each in asked.values()],
            **{
                name: pl.Series(name, [c[i] if i < len(c) else None for c in told], dtype=pl.String)
                for name, i in zip(columns, places, strict=True)
                if name not in ("worth", "reason")
            },
        }
    )
