"""`rebel predict`: decide each row of a table, in batches."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Labels
from rebelboost.base.names import plain, printed
from rebelboost.base.text import counted
from rebelboost.base.writing import replaced
from rebelboost.cli.inputs import (
    cascade_of,
    costs_of_rows,
    model_input,
    predicts_numbers,
    with_budget,
    with_costs,
)
from rebelboost.cli.model_files import check_writable, load_model
from rebelboost.cli.output import Output
from rebelboost.costs.decision import costs_of_decisions
from rebelboost.estimators.base import table_scores
from rebelboost.evaluation.regression import COVERAGE
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import column_list
from rebelboost.tables.files import EXCEL, PARQUET, UNREAD, Source, Table, opened_source
from rebelboost.tables.schema import Match, schema_of
from rebelboost.tables.spreadsheets import without_formulas

DIGITS = 6
"""Digits after the decimal point of probabilities and costs in CSV files."""


class PredictionOptions(NamedTuple):
    """How rows are decided."""

    costs: Path | None
    """Table of costs; None: those of the model."""
    agreement: float | None
    """Share of decisions that stay the same if rows are decided early; None: all terms are used."""
    budget: float | None = None
    """Share of the rows on which the model may abstain; None: as trained."""


def run_prediction(
    model: Path,
    data: Source,
    to: Path | None,
    *,
    options: PredictionOptions,
    keep: Sequence[str],
    batch: int,
    output: Output,
) -> None:
    """Write one line per row of `data`, in the same order."""
    if to is not None:
        check_writable(to, model, *data.files, options.costs)
        _check_form(to)
    elif sys.stdout is None:
        raise TableError("standard output is closed: give a file with -o")
    classifier = with_budget(with_costs(load_model(model), options.costs), options.budget)
    cascade = None if options.agreement is None else cascade_of(classifier, options.agreement)
    with opened_source(data) as table:
        schema = schema_of(classifier, table)
        found = dict.fromkeys([schema.naming, schema.group])
        kept = column_list(keep, table.names) or [name for name in found if name in table.types]
        match = Match(table, schema, kept)
        decided = _decided(classifier, cascade, match, batch)
        if to is not None:
            with output.waiting(f"predicting {data}"), replaced(to) as beside:
                _write(decided, beside, to)
        elif output.as_json:
            for frame in decided:
                for row in frame.iter_rows(named=True):
                    output.record("decision", row)
        else:
            _write_csv(decided, sys.stdout)
    output.notes(match.tally.notes())
    if options.budget is not None:
        output.notes([f"rows that training left out: {classifier.abstentions()}"])
    if to is not None:
        output.record("decisions", {"path": str(to), "rows": match.tally.n_rows})
        what = "prediction" if predicts_numbers(classifier) else "decision"
        output.text(f"Wrote {counted(match.tally.n_rows, what)} to {to}")


def _decided(model: Any, cascade: Any, match: Match, batch: int) -> Iterator[pl.DataFrame]:
    for frame, aside in match.batches(batch):
        before = match.tally.n_rows - len(frame)
        if predicts_numbers(model):
            yield _numbers(model, frame, aside)
            continue
        costs = costs_of_rows(model, frame, partial(_place, match.table, before))
        if cascade is None:
            yield _decisions(model, frame, aside, costs)
        else:
            yield _early_decisions(cascade, model_input(model, frame), aside, costs)
    if match.tally.n_rows == 0:
        raise TableError(f"{match.table.path} has a header but no rows: add the rows to predict")


def _place(table: Table, before: int, row: int) -> tuple[int, Path]:
    """Number of a row within its file, and the file; `row` counts those after the first `before`, from 0."""
    return table.place(before + row + 1)


def _decisions(
    classifier: Any, frame: pl.DataFrame, aside: pl.DataFrame, costs: Floats
) -> pl.DataFrame:
    scores = table_scores(classifier, model_input(classifier, frame))
    model = classifier.model_
    posterior = model.posterior(scores)
    labels, codes = model.labels(scores, costs), model.decide(scores, costs)
    return pl.DataFrame(_columns(model, aside, labels, posterior, codes, costs))


def _early_decisions(
    cascade: Any, samples: Any, aside: pl.DataFrame, costs: Floats
) -> pl.DataFrame:
    early, model = cascade.decide(samples), cascade.model_
    columns = _columns(model, aside, early.labels, early.probabilities, early.codes, costs)
    return pl.DataFrame({**columns, "terms_used": early.terms_used})


def _columns(
    model: Any,
    aside: pl.DataFrame,
    labels: NDArray[Any],
    posterior: Floats,
    codes: Labels,
    costs: Floats,
) -> dict[str, Any]:
    columns: dict[str, Any] = {name: aside[name] for name in aside.columns}
    columns["decision"] = [plain(label) for label in labels]
    names = [f"probability_{printed(name)}" for name in model.classes]
    columns |= dict(zip(names, posterior.T, strict=True))
    columns["expected_cost"] = costs_of_decisions(posterior, costs, codes)
    return columns


def _numbers(regressor: Any, frame: pl.DataFrame, aside: pl.DataFrame) -> pl.DataFrame:
    """Predictions and, after a cross-fit, intervals that contain 90 % of the true numbers."""
    given = model_input(regressor, frame)
    columns: dict[str, Any] = {name: aside[name] for name in aside.columns}
    columns["prediction"] = regressor.predict(given)
    if getattr(regressor.model_, "intervals", None) is not None:
        low, high = regressor.predict_interval(given, COVERAGE).T
        columns |= {"low_90": low, "high_90": high}
    return pl.DataFrame(columns)


def _check_form(to: Path) -> None:
    """Raise an error for a name that promises another format than is written."""
    if to.suffix.lower() in EXCEL | UNREAD:
        raise TableError(
            f"{to} would not be what its name says: predictions are written as CSV, TSV or Parquet; "
            f"choose another name with -o, such as {to.with_suffix('.csv')}"
        )


def _write(decided: Iterator[pl.DataFrame], beside: Path, to: Path) -> None:
    if to.suffix.lower() in PARQUET:
        with tempfile.TemporaryDirectory(prefix="rebelboost-") as folder:
            # Batch by batch: tables may be larger than memory.
            for i, frame in enumerate(decided):
                with _writing(to):
                    frame.write_parquet(Path(folder) / f"{i:09}.parquet")
            with _writing(to):
                pl.scan_parquet(folder).sink_parquet(beside)
        return
    with beside.open("w", encoding="utf-8", newline="") as file:
        _write_csv(decided, file, "\t" if to.suffix.lower() == ".tsv" else ",")


@contextmanager
def _writing(to: Path) -> Iterator[None]:
    """Say that a file cannot be written, where polars would be understood to speak of the one that is read."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = " ".join(str(error).split())
        raise TableError(f"cannot write {to}: {reason}; choose another place with -o") from error


def _write_csv(decided: Iterator[pl.DataFrame], file: Any, separator: str = ",") -> None:
    for i, frame in enumerate(decided):
        text = without_formulas(frame).write_csv(
            include_header=i == 0, separator=separator, float_precision=DIGITS
        )
        file.write(text)
