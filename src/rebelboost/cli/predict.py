"""`rebel predict`: decide each row of a table, in batches."""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
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
from rebelboost.cli.costs import check_amounts
from rebelboost.cli.fitted_model import FittedModel
from rebelboost.cli.model_files import check_writable, load_fitted, load_model
from rebelboost.cli.output import Output
from rebelboost.costs.decision import costs_of_decisions
from rebelboost.exceptions import TableError
from rebelboost.model.intervals import COVERAGE
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
    fitted, cascade, notes = _loaded(model, options)
    with opened_source(data) as table:
        schema = schema_of(fitted, table)
        found = dict.fromkeys([schema.naming, schema.group])
        kept = column_list(keep, table.names) or [name for name in found if name in table.types]
        match = Match(table, schema, kept)
        decided = _decided(fitted, cascade, match, batch)
        if to is not None:
            with output.waiting(f"predicting {data}"), replaced(to) as beside:
                _write(decided, beside, to)
        elif output.as_json:
            for frame in decided:
                for row in frame.iter_rows(named=True):
                    output.record("decision", row)
        else:
            _write_csv(decided, sys.stdout)
    output.notes([*match.tally.notes(), *notes])
    if to is not None:
        output.record("decisions", {"path": str(to), "rows": match.tally.n_rows})
        what = "prediction" if fitted.predicts_numbers else "decision"
        output.text(f"Wrote {counted(match.tally.n_rows, what)} to {to}")


class Loaded(NamedTuple):
    """A model as it is to decide."""

    fitted: FittedModel
    cascade: Any = None
    """If rows are decided early."""
    notes: tuple[str, ...] = ()


def _loaded(path: Path, options: PredictionOptions) -> Loaded:
    if options.costs is None and options.agreement is None and options.budget is None:
        return Loaded(load_fitted(path))
    # These need scikit-learn, which is slow to import.
    from rebelboost.cli.inputs import cascade_of, with_budget, with_costs

    clf = with_budget(with_costs(load_model(path), options.costs), options.budget)
    cascade = None if options.agreement is None else cascade_of(clf, options.agreement)
    told = () if options.budget is None else (f"rows that training left out: {clf.abstentions()}",)
    return Loaded(FittedModel(clf.model_, clf.metadata_, clf.n_jobs), cascade, told)


def _decided(model: FittedModel, cascade: Any, match: Match, batch: int) -> Iterator[pl.DataFrame]:
    for frame, aside in match.batches(batch):
        before = match.tally.n_rows - len(frame)
        values = model.values(frame)
        if model.predicts_numbers:
            yield _numbers(model, values, aside)
            continue
        costs = _costs(model, frame, values, partial(_place, match.table, before))
        if cascade is None:
            yield _decisions(model, values, aside, costs)
        else:
            given = frame if hasattr(model, "feature_names_in_") else values
            yield _early_decisions(cascade, given, aside, costs)
    if match.tally.n_rows == 0:
        raise TableError(f"{match.table.path} has a header but no rows: add the rows to predict")


def _costs(
    model: FittedModel,
    frame: pl.DataFrame,
    values: Floats,
    place: Callable[[int], tuple[int, Path]],
) -> Floats:
    """Costs of decisions on rows: (K, K), or (N, K, K) if they differ; see `check_amounts` for `place`."""
    paid = model.model_.columns
    if paid is not None:
        names = [model.model_.shown_names[cell.feature] for cell in paid.cells]
        check_amounts(frame, list(dict.fromkeys(names)), place)
    costs: Floats = model.model_.costs_of(values, n_threads=model.n_threads)
    return costs


def _place(table: Table, before: int, row: int) -> tuple[int, Path]:
    """Number of a row within its file, and the file; `row` counts those after the first `before`, from 0."""
    return table.place(before + row + 1)


def _decisions(
    fitted: FittedModel, values: Floats, aside: pl.DataFrame, costs: Floats
) -> pl.DataFrame:
    model = fitted.model_
    scores = model.scores(values, fitted.n_threads)
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
    columns["decision"] = _written(model, labels)
    names = [f"probability_{printed(name)}" for name in model.classes]
    columns |= dict(zip(names, posterior.T, strict=True))
    columns["expected_cost"] = costs_of_decisions(posterior, costs, codes)
    return columns


def _written(model: Any, labels: NDArray[Any]) -> list[Any]:
    """Decisions as a column: classes of numbers beside the label of abstentions are text."""
    possible = {type(name) for name in model.class_names}
    if model.rule.reject_cost is not None:
        possible.add(type(plain(model.rule.reject_label)))
    show = plain if len(possible) == 1 else printed
    return [show(label) for label in labels]


def _numbers(fitted: FittedModel, values: Floats, aside: pl.DataFrame) -> pl.DataFrame:
    """Predictions and, after a cross-fit, intervals that contain 90 % of the true numbers."""
    model, n_threads = fitted.model_, fitted.n_threads
    columns: dict[str, Any] = {name: aside[name] for name in aside.columns}
    columns["prediction"] = model.predict(values, n_threads)
    if model.intervals is not None:
        low, high = model.predict_interval(values, COVERAGE, n_threads).T
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
