"""`rebel doubt`: labels that a model doubts, as a list to be checked, and back into the table."""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from rebelboost.base.findings import as_text
from rebelboost.base.names import listed, printed
from rebelboost.base.text import counted
from rebelboost.base.writing import replaced
from rebelboost.cli.model_files import check_writable
from rebelboost.cli.options import TrainingOptions
from rebelboost.cli.output import Output
from rebelboost.cli.train import Job, learn, read_training
from rebelboost.evaluation.doubt import Doubts, doubts_of
from rebelboost.evaluation.result import Evaluation
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.columns import as_text as cells_as_text
from rebelboost.tables.files import Source, opened, opened_source
from rebelboost.tables.schema import row_names
from rebelboost.tables.spreadsheets import without_formulas

KEEP, DROP = "keep", "drop"
"""Verdicts beside the names of classes; an empty one keeps the label."""
COLUMNS = ("row", "label", "suggested", "probability_wrong", "expected_cost", "verdict")


class Checked(NamedTuple):
    """A list that people have gone through."""

    path: Path
    """The list, with verdicts."""
    target: str


def run_doubt(
    data: Source,
    target: str | None,
    costs: Path | None,
    to: Path | None,
    *,
    columns: ColumnOptions,
    settings: TrainingOptions,
    output: Output,
) -> None:
    """Train with cross-validation, and write the rows whose label is doubted."""
    if to is not None:
        check_writable(to, *data.files, costs)
    with tempfile.TemporaryDirectory(prefix="rebelboost-") as scratch:
        read = read_training(data, target, costs, columns, settings, output, Path(scratch))
    samples = read.samples
    if read.schema.predicts_numbers:
        raise TableError(f"{read.schema.target!r} consists of numbers: only labels can be doubted")
    if samples is None:
        raise TableError(f"{data} is larger than memory: doubt the labels of a part of it")
    with output.warnings_as_notes():
        trained = learn(Job(samples, read.costs, settings, numbers=False), output)
    found = trained.evaluation
    if not isinstance(found, Evaluation) or not found.is_left_out:
        raise TableError(
            "labels are doubted by cross-validation, which these rows or this learner do not allow: use more "
            "rows, or --learner auto"
        )
    doubts = doubts_of(found)
    numbers = samples.rows.tolist()
    names = numbers if samples.ids is None else row_names(*samples.ids, numbers)
    output.record("doubts", {**doubts.to_dict(), "rows": [numbers[row] for row in doubts.rows]})
    output.text(as_text(doubts.document(names)))
    if to is not None:
        frame = _listed(doubts, numbers, samples.ids, data, read.schema.target)
        with replaced(to) as beside:
            without_formulas(frame).write_csv(beside)
        output.text(
            f"\nWrote {counted(len(frame), 'row')} to {to}. Fill in the column verdict (a class, {KEEP} or "
            f"{DROP}), then: rebel doubt {data} --target {read.schema.target} --corrected {to} -o corrected.csv"
        )


def _listed(
    doubts: Doubts, numbers: list[int], ids: Any, data: Source, target: str
) -> pl.DataFrame:
    """The list, with labels as they are written in the table."""
    rows = [numbers[row] for row in doubts.rows]
    with opened_source(data) as table:
        cells = table.frame.select(cells_as_text(target, table.types[target])).collect()[target]
    named = {} if ids is None else {str(ids[0]): [printed(ids[1][row]) for row in doubts.rows]}
    return pl.DataFrame(
        {
            "row": rows,
            **{name: values for name, values in named.items() if name not in COLUMNS},
            "label": [cells[row - 1] for row in rows],
            "suggested": [printed(doubts.classes[k]) for k in doubts.suggested],
            "probability_wrong": doubts.wrong.round(4),
            "expected_cost": doubts.doubt.round(6),
            "verdict": [""] * len(rows),
        }
    )


# ---- back into the table


def run_correction(data: Source, checked: Checked, to: Path | None, *, output: Output) -> None:
    """Write the table with the labels of the list's verdicts, without the rows that are dropped."""
    if to is None:
        raise TableError("--corrected needs a file for the corrected table: add -o corrected.csv")
    check_writable(to, *data.files, checked.path)
    with opened_source(data) as table:
        if checked.target not in table.types:
            raise TableError(f"{data} has no column {checked.target!r}: give --target")
        kind = table.types[checked.target]
        frame = table.frame.collect()
        cells = frame.select(cells_as_text(checked.target, kind))[checked.target]
    verdicts = _verdicts(checked.path, cells)
    labels = cells.to_list()
    for row, verdict in verdicts.items():
        labels[row - 1] = verdict
    column = pl.Series(checked.target, labels, dtype=pl.String)
    dropped = {row for row, verdict in verdicts.items() if verdict is None}
    kept = pl.Series([row not in dropped for row in range(1, len(frame) + 1)])
    frame = frame.with_columns(column).filter(kept)
    with replaced(to) as beside:
        without_formulas(frame).write_csv(beside)
    n_changed = len(verdicts) - len(dropped)
    output.record("corrected", {"path": str(to), "changed": n_changed, "dropped": len(dropped)})
    output.text(
        f"Wrote {to}: {counted(n_changed, 'label')} changed, {counted(len(dropped), 'row')} dropped, "
        f"{counted(len(frame), 'row')} in all"
    )


def _verdicts(path: Path, cells: pl.Series) -> dict[int, str | None]:
    """Row → its new label; None drops it. Rows that stay are left out."""
    with opened(path, headed=True) as table:
        lacking = [name for name in ("row", "label", "verdict") if name not in table.types]
        if lacking:
            raise TableError(
                f"{path} has no column {listed(lacking)}: it is not a list of `rebel doubt`"
            )
        names = ("row", "label", "verdict")
        told = table.frame.select(
            cells_as_text(name, table.types[name]).fill_null("") for name in names
        ).collect()
    known = {printed(cell).strip() for cell in cells.unique().to_list() if cell is not None}
    found: dict[int, str | None] = {}
    for line, (row, label, verdict) in enumerate(told.iter_rows(), 1):
        place = int(row) if row.strip().isdecimal() else 0
        if not 1 <= place <= len(cells) or (cells[place - 1] or "").strip() != label.strip():
            raise TableError(
                f"line {line} of {path} is of row {row} with the label {label!r}, which the table does not "
                "have: give the table that the list was made of"
            )
        answer = verdict.strip()
        if answer in known:
            if answer != label.strip():
                found[place] = answer
        elif answer == DROP:
            found[place] = None
        elif answer not in {"", KEEP}:
            raise TableError(
                f"line {line} of {path} has the verdict {answer!r}: write a class ({listed(sorted(known))}), "
                f"{KEEP}, {DROP} or nothing"
            )
    return found
